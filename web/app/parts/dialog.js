// A dialog over the page, and its head: title, a note, and the button that closes it.

import { h } from '../dom.js';
import { icon } from '../icons.js';
import { t } from '../i18n.js';

/** A dialog without content yet. */
export function dialog(label) {
  const element = h('dialog.sheet', { 'aria-label': label });
  // A click on what is behind the sheet closes it.
  element.addEventListener('click', (event) => event.target === element && element.close());
  return element;
}

/** @param {HTMLDialogElement} over the dialog that the button closes */
export function dialogHead(title, over, note) {
  return h(
    'div.sheet-head',
    {},
    h('div', {}, h('h2', {}, title), note && h('p.hint', {}, note)),
    h('button.icon-button', { type: 'button', 'aria-label': t('close'), onclick: () => over.close() }, icon('cross')),
  );
}
