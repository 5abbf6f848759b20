// What was decided and is not sent yet: what, how long there still is, and the way back.

import { fill, h } from '../dom.js';
import { held } from '../held.js';
import { icon } from '../icons.js';
import { t } from '../i18n.js';
import { go, questionPath } from '../router.js';
import { everySecond } from '../time.js';
import { headingOf } from './document.js';
import { safe, sentence } from './text.js';

/** Takes a decision back and shows its request again. */
function undo(requestId) {
  held.undo(requestId);
  go(questionPath(requestId));
}

/** Takes the newest held decision back. */
export const undoLast = () => undo(held.all.at(-1).question.requestId);

/** One held decision, with its countdown and its buttons. */
export function heldDecision({ question, words, until }) {
  const { requestId } = question;
  const left = h('span.held-left');
  const element = h(
    'div.held-decision',
    { 'data-held': requestId },
    icon('clock'),
    h(
      'p',
      {},
      h('strong', {}, safe(words)),
      ' · ',
      sentence(headingOf(question.document) || question.title),
      ' · ',
      left,
    ),
    h(
      'button.button',
      {
        type: 'button',
        'data-undo': requestId,
        onclick: () => undo(requestId),
      },
      t('held.undo'),
      h('kbd', {}, 'u'),
    ),
    h(
      'button.button.button-quiet',
      { type: 'button', 'data-send-now': requestId, onclick: () => held.sendNow(requestId) },
      t('held.now'),
    ),
  );
  everySecond(left, () => {
    left.textContent = t('held.in', { n: Math.max(0, Math.ceil((until - performance.now()) / 1000)) });
  });
  return element;
}

/** The bar of the shell with every held decision; hidden while it is empty. */
export function heldBar(signal) {
  const bar = h('div.held-bar', { role: 'status', hidden: true });
  const draw = () => {
    bar.hidden = held.all.length === 0;
    fill(bar, held.all.map(heldDecision));
  };
  held.addEventListener('change', draw, { signal });
  draw();
  return bar;
}
