// What just happened, said once: on the screen for a while, and to screen readers.

import { fill, h } from '../dom.js';
import { icon } from '../icons.js';
import { t } from '../i18n.js';

const SHOWN_MS = 6000;
const stack = h('div.toasts', {});
const polite = h('div.visually-hidden', { 'aria-live': 'polite', role: 'status' });
const assertive = h('div.visually-hidden', { 'aria-live': 'assertive', role: 'alert' });

/** The places toasts and announcements live in; part of the shell. */
export function announcers() {
  return [stack, polite, assertive];
}

/** Says something to screen readers only. */
export function announce(text, { urgent = false } = {}) {
  const region = urgent ? assertive : polite;
  // The same words twice must be two changes, or the second is not read.
  fill(region, h('p', {}, text));
}

const ICONS = { good: 'check', bad: 'cross', note: 'info', warn: 'warning' };

/**
 * @param {string} text
 * @param {'good' | 'bad' | 'note' | 'warn'} [tone]
 */
export function toast(text, tone = 'note') {
  announce(text, { urgent: tone === 'bad' || tone === 'warn' });
  const close = h('button.icon-button', { type: 'button', 'aria-label': t('close') }, icon('cross'));
  const element = h('div.toast', { class: `toast-${tone}`, 'data-toast': tone }, icon(ICONS[tone]), h('p', {}, text), close);
  const remove = () => element.remove();
  close.addEventListener('click', remove);
  const timer = { id: setTimeout(remove, SHOWN_MS) };
  // Whoever is reading it is not hurried.
  element.addEventListener('pointerenter', () => clearTimeout(timer.id));
  element.addEventListener('pointerleave', () => (timer.id = setTimeout(remove, SHOWN_MS)));
  stack.append(element);
  while (stack.children.length > 4) stack.firstChild.remove();
}
