// Sending answers, and what their fate is in words. No drawing here.

import { api } from './api.js';
import { names, t } from './i18n.js';
import { escapeHidden } from './parts/text.js';
import { moment } from './time.js';

/**
 * The options with the words of the document, in which everything hidden is visible; those of the request itself may be an
 * agent's, as it wrote them.
 */
export function optionsOf(question) {
  const shown = new Map(
    (question.document?.foot ?? [])
      .flatMap((block) => (block.block === 'options' ? block.options : []))
      .map((line) => [line.optionId, line]),
  );
  return (question.options ?? []).map((option) => {
    const line = shown.get(option.optionId);
    return {
      ...option,
      label: line?.label ?? escapeHidden(option.label ?? ''),
      description: line?.description ?? escapeHidden(option.description ?? ''),
      inputPrompt: line?.prompt ?? escapeHidden(option.inputPrompt ?? ''),
    };
  });
}

/** What choosing an option would let happen. */
export const approves = (option) => option.action === 'APPROVE_AND_EXECUTE';

/** Options that take a text, even where one is not required: a reason helps the agent. */
export const takesText = (option) =>
  option.requiresInput || ['REJECT_WITH_REASON', 'RETRY_WITH_FEEDBACK', 'PROVIDE_INFO'].includes(option.action);

/** Whether choosing it takes a second step: letting something HIGH run, or what the asker calls dangerous. */
export const needsConfirming = (question, option) =>
  (question.risk === 'HIGH' && approves(option)) || option.isDangerous === true;

/**
 * @typedef {{ kind: 'decided' | 'voted' | 'askedAgain' | 'lost' | 'refused' | 'unsure', text: string, requestId?: string, pointer?: string }} Fate
 */

/**
 * Sends one answer.
 * @param {object} question
 * @param {object} answer the body, without the question's id
 * @returns {Promise<Fate>}
 */
export async function send(question, answer) {
  const option = optionsOf(question).find(({ optionId }) => optionId === answer.selectedOptionId);
  try {
    const result = await api.answer(question.requestId, { ...answer, ...shown(question) });
    return accepted(result, option);
  } catch (problem) {
    return refused(problem, question);
  }
}

/** What the person saw: its digest, and the language it was in. */
export function shown(question) {
  return { shownDigest: question.shownDigest, shownLocale: question.document?.locale };
}

function accepted(result, option) {
  switch (result.status) {
    case 'voted':
      return { kind: 'voted', text: t('fate.voted', { n: result.needed ?? 1 }) };
    case 'askedAgain':
      return { kind: 'askedAgain', text: t('fate.askedAgain'), requestId: result.question ?? result.requestId };
    default:
      return { kind: 'decided', text: t('fate.decided', { option: option?.label ?? '' }) };
  }
}

/** Why an answer did not count, in words. */
export function refused(problem, question) {
  const { code, more = {} } = problem;
  switch (code) {
    case 'already-decided':
      return { kind: 'lost', text: decidedBy(more, question) };
    case 'expired':
      return { kind: 'lost', text: t('fate.expired') };
    case 'no-such-question':
      return { kind: 'lost', text: t('fate.gone') };
    case 'shown-changed':
      return { kind: 'refused', text: t('fate.shownChanged') };
    case 'not-yours':
      return { kind: 'refused', text: t('fate.notYours') };
    case 'own-request':
      return { kind: 'refused', text: t('fate.ownRequest') };
    case 'edited-args-refused':
      return {
        kind: 'refused',
        text: t('fate.edit', {
          where: more.pointer || t('fate.editSomewhere'),
          why: more.message ?? more.detail ?? '',
        }),
        pointer: more.pointer ?? '',
      };
    case 'input-required':
      return { kind: 'refused', text: t('fate.input') };
    case 'unreachable':
      return { kind: 'unsure', text: t('fate.unreachable') };
    default:
      return { kind: 'refused', text: t('fate.refused', { why: problem.message }) };
  }
}

/** Who decided, what and when. */
export function decidedBy({ decidedBy: by = [], decidedAt, option }, question) {
  const label = optionsOf(question ?? {}).find(({ optionId }) => optionId === option)?.label ?? option ?? '';
  return by.length
    ? t('fate.alreadyBy', { names: names(by), option: label, at: moment(decidedAt) })
    : t('fate.already', { option: label, at: moment(decidedAt) });
}

/** What became of a question that is not pending any more. */
export function outcome(question) {
  const { resolution = {}, status } = question;
  const how = String(resolution.how ?? status ?? '').toLowerCase();
  const at = moment(resolution.at);
  if (how.startsWith('expired')) return { tone: 'warn', text: t('outcome.expired', { at }) };
  if (how.startsWith('cancelled')) return { tone: 'note', text: t('outcome.cancelled', { at }) };
  if (how.startsWith('superseded')) return { tone: 'note', text: t('outcome.superseded', { at }) };
  const option = optionsOf(question).find(({ optionId }) => optionId === resolution.option);
  const text = resolution.by?.length
    ? t('outcome.by', { names: names(resolution.by), option: option?.label ?? resolution.option ?? '', at })
    : t('outcome.decided', { option: option?.label ?? resolution.option ?? '', at });
  return {
    tone: option && approves(option) ? 'good' : 'bad',
    text,
    feedback: resolution.feedback && escapeHidden(resolution.feedback),
  };
}
