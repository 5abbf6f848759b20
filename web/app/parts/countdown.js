// Time running out: the figure, a thin bar, and a colour when it gets close.

import { h } from '../dom.js';
import { t } from '../i18n.js';
import { announce } from './toast.js';
import { clock, everySecond, lengthInWords } from '../time.js';

/** Below this it is urgent, in milliseconds. */
const URGENT_MS = 15_000;
/** At this a screen reader says so, where one question is the subject. */
const SAID_MS = 30_000;
/** Below this it is soon. */
const SOON_MS = 60_000;

/**
 * @param {object} question with `deadline` (store.js) while it is pending
 * @param {{ bar?: boolean, onOver?: () => void }} [how] `onOver` is called once when time has run out
 */
export function countdown(question, { bar = false, onOver } = {}) {
  const figure = h('span.countdown-figure', { 'aria-hidden': 'true' });
  const words = h('span.visually-hidden');
  const track = bar ? h('span.countdown-track', { 'aria-hidden': 'true' }, h('span.countdown-fill')) : null;
  const element = h('span.countdown', { class: bar ? 'countdown-with-bar' : '' }, figure, words, track);
  const total = Math.max((question.timeoutSeconds ?? 0) * 1000, question.remainingMs ?? 0, 1);
  let over = false;
  let said = -1;
  let before = Infinity;
  everySecond(element, () => {
    const left = Math.max(0, question.deadline - performance.now());
    figure.textContent = clock(left);
    // Read out by the minute: a number that changes every second is noise in the ear.
    const minutes = Math.ceil(left / 60_000);
    if (minutes !== said) words.textContent = t('time.left', { time: lengthInWords(minutes * 60_000) });
    said = minutes;
    element.dataset.near = left <= URGENT_MS ? 'urgent' : left <= SOON_MS ? 'soon' : 'far';
    if (track) track.firstChild.style.setProperty('--left', String(Math.min(1, left / total)));
    if (bar && before !== Infinity && before > SAID_MS && left <= SAID_MS)
      announce(t('time.left', { time: lengthInWords(left) }), { urgent: true });
    before = left;
    if (left === 0 && !over) {
      over = true;
      onOver?.();
    }
  });
  return element;
}
