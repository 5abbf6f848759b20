// One way to answer, as a button: the weight says how much it matters, the words what it does.

import { approves, optionsOf } from '../answering.js';
import { h } from '../dom.js';
import { icon } from '../icons.js';
import { t } from '../i18n.js';
import { safe } from './text.js';

const ICONS = {
  APPROVE_AND_EXECUTE: 'check',
  REJECT_WITH_REASON: 'cross',
  RETRY_WITH_FEEDBACK: 'retry',
  PROVIDE_INFO: 'info',
  SKIP: 'skip',
  TERMINATE: 'stop',
  CUSTOM: 'play',
};

const KEYS = { APPROVE_AND_EXECUTE: 'a', REJECT_WITH_REASON: 'r' };

/** The drawing of what an option does. */
export const optionIcon = (option) => icon(ICONS[option.action] ?? 'play');

function weightOf(question, option, listed) {
  const primary = approves(option) && !option.isDangerous;
  if (primary && question.risk === 'HIGH') return 'button-high';
  if (primary && !listed) return 'button-primary';
  const quiet = listed || option.action === 'REJECT_WITH_REASON' ? '' : 'button-quiet';
  return option.isDangerous ? `button-danger ${quiet}` : quiet;
}

/**
 * @param {object} question
 * @param {object} option
 * @param {{ listed: boolean, edited: boolean, onChoose: () => void }} how `listed` options have their description beside them
 */
export function optionButton(question, option, { listed, edited, onChoose }) {
  const label = edited && approves(option) && !option.isDangerous ? t('edit.approve') : option.label;
  const key = !listed && KEYS[option.action];
  return h(
    'button.button',
    {
      type: 'button',
      class: weightOf(question, option, listed),
      'data-option': option.optionId,
      title: listed ? null : option.description,
      onclick: onChoose,
    },
    optionIcon(option),
    h(
      'span.button-words',
      {},
      h('span', {}, safe(label)),
      listed && option.description && h('span.button-description', {}, safe(option.description)),
    ),
    key && h('kbd', {}, key),
  );
}

/** What happens if the time runs out. */
export function silence(question) {
  const { defaultOptionId, deadline, call } = question;
  const option = optionsOf(question).find(({ optionId }) => optionId === defaultOptionId);
  if (deadline === undefined || (!option && !call)) return null;
  const words = t('answer.silence', { option: option?.label ?? t('answer.notRun') });
  return h('p.silence', { 'data-silence': defaultOptionId ?? '' }, safe(words));
}

/** Opens the editor, or closes it again. */
export function editButton(open, onclick) {
  return h(
    'button.button.button-quiet',
    { type: 'button', 'data-edit': true, 'aria-expanded': String(open), onclick },
    icon('pencil'),
    t(open ? 'edit.stop' : 'edit.start'),
    !open && h('kbd', {}, 'e'),
  );
}
