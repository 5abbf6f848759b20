// The head of a dialog: its title, a note, and the button that closes it.

import { h } from '../dom.js';
import { icon } from '../icons.js';
import { t } from '../i18n.js';

/** @param {HTMLDialogElement} dialog what the button closes */
export function dialogHead(title, dialog, note) {
  return h(
    'div.sheet-head',
    {},
    h('div', {}, h('h2', {}, title), note && h('p.hint', {}, note)),
    h('button.icon-button', { type: 'button', 'aria-label': t('close'), onclick: () => dialog.close() }, icon('cross')),
  );
}
