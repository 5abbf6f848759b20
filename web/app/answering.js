// Sending answers, and what their fate is in words. No drawing here.

import { api } from './api.js';
import { t } from './i18n.js';
import { escapeHidden } from './parts/text.js';
import { store } from './store.js';
import { when } from './time.js';

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

/** Options that cannot be chosen without a text. */
export const needsText = (option) => option.requiresInput === true && option.inputOptional !== true;

/** Options that take a text, even where one is not required: a reason helps the agent. */
export const takesText = (option) =>
  option.requiresInput || ['REJECT_WITH_REASON', 'RETRY_WITH_FEEDBACK', 'PROVIDE_INFO'].includes(option.action);

/** Whether choosing it takes a second step: letting something HIGH run, or what the asker calls dangerous. */
export const needsConfirming = (question, option) =>
  (question.risk === 'HIGH' && approves(option)) || option.isDangerous === true;

/** What choosing an option came to, in words: `Approved`, `“Redis” chosen`. An agent's own options keep their own words. */
export function decision(question, option) {
  const ours = question.type === undefined || question.type === 'TOOL_APPROVAL';
  const known = ['APPROVE_AND_EXECUTE', 'REJECT_WITH_REASON', 'RETRY_WITH_FEEDBACK', 'SKIP', 'TERMINATE'];
  return ours && known.includes(option?.action)
    ? t(`decided.${option.action}`)
    : t('chosen', { option: option?.label ?? '' });
}

/** Who may still approve, in brackets; empty where any approver may. */
export function stillMissing(question, also = []) {
  const done = new Set([...(question.votes?.by ?? []), ...also]);
  const left = (question.askedOf ?? []).filter((name) => !done.has(name));
  return left.length ? t('question.who', { names: left }) : '';
}

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
    return accepted(result, question, option);
  } catch (problem) {
    return refused(problem, question);
  }
}

/** What the person saw: its digest, and the language it was in. */
export function shown(question) {
  return { shownDigest: question.shownDigest, shownLocale: question.document?.locale };
}

function accepted(result, question, option) {
  switch (result.status) {
    case 'voted':
      return {
        kind: 'voted',
        text: t('fate.voted', { n: result.needed ?? 1, who: stillMissing(question, [store.me?.person]) }),
      };
    case 'askedAgain':
      return { kind: 'askedAgain', text: t('fate.askedAgain'), requestId: result.question ?? result.requestId };
    default:
      return { kind: 'decided', text: decision(question, option) };
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
        text: t('fate.edit', { why: [more.pointer, more.message ?? more.detail].filter(Boolean).join(' ') }),
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
  const at = when(decidedAt);
  return by.length ? t('fate.alreadyBy', { names: by, option: label, at }) : t('fate.already', { option: label, at });
}

/**
 * What became of a question that is not pending any more: in a word, and in a sentence.
 * @returns {{ tone: string, what: string, text: string, feedback?: string }}
 */
export function outcome(question) {
  const { resolution = {}, status } = question;
  const how = String(resolution.how ?? status ?? '').toLowerCase();
  const at = when(resolution.at);
  const option = optionsOf(question).find(({ optionId }) => optionId === resolution.option);
  if (how === 'expired') return { tone: 'warn', what: t('history.expired'), text: expired(question, option, at) };
  if (how === 'cancelled' || how === 'superseded')
    return {
      tone: 'note',
      what: t(`history.${how}`),
      text: t(how === 'cancelled' ? 'outcome.cancelled' : 'outcome.superseded', { at }),
    };
  const what = decision(question, option ?? { label: resolution.option });
  const whole = withChanges(question, what);
  const by = resolution.by ?? [];
  return {
    tone: option && approves(option) ? 'good' : 'bad',
    what,
    text: by.length ? t('outcome.by', { what: whole, names: by, at }) : t('outcome.decided', { what: whole, at }),
    feedback: resolution.feedback && escapeHidden(resolution.feedback),
  };
}

const withChanges = ({ resolution }, what) => (resolution?.edited ? t('outcome.withChanges', { what }) : what);

/** What silence came to: the default of an agent's question is taken, a call is not run. */
function expired(question, option, at) {
  if (option) return t('outcome.expiredDefault', { at, option: option.label });
  return t(question.call ? 'outcome.expired' : 'outcome.expiredQuestion', { at });
}
