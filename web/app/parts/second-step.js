// The second step of a decision, in place of the buttons: a reason, a confirmation, the changes that would run.

import { h } from '../dom.js';
import { t } from '../i18n.js';
import { diffTable } from './diff.js';
import { optionIcon } from './option-button.js';
import { safe } from './text.js';

/**
 * @param {object} option
 * @param {{ danger: boolean, onSend: () => void, onBack: () => void }} how
 */
export function secondStep(option, { danger, onSend, onBack }, ...content) {
  const go = h(
    'button.button',
    { type: 'button', class: danger ? 'button-high' : 'button-primary', 'data-send': true, onclick: onSend },
    optionIcon(option),
    safe(option.label),
  );
  const back = h('button.button', { type: 'button', 'data-back': true, onclick: onBack }, t('prompt.back'));
  const panel = h('div.panel', {}, content, h('div.buttons', {}, go, back));
  panel.addEventListener('keydown', (event) => {
    if (event.key !== 'Escape') return;
    event.preventDefault();
    onBack();
  });
  return panel;
}

/** What an edit changes, before and after. */
export function changes(hunks) {
  return h('div.panel-changes', { 'data-changes': true, tabindex: '0' }, diffTable(hunks));
}

/** What the second step asks. */
export function confirmWords(option, high, changed) {
  if (high) return t(changed ? 'confirm.highChanged' : 'confirm.high');
  if (changed) return t('confirm.changed');
  return option.action === 'TERMINATE' ? t('confirm.terminate') : t('confirm.dangerous', { option: option.label });
}
