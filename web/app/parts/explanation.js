// A verdict explained: the answer, the reason, what was found in the call, and where in the thirteen steps it was decided.

import { h } from '../dom.js';
import { icon } from '../icons.js';
import { t } from '../i18n.js';
import { commandLine } from './document.js';
import { riskBadge } from './risk.js';
import { escapeHidden, raw, safe, sentence } from './text.js';

const STEPS = 13;
/** What can be found in a call, each with its drawing. */
const FOUND = [
  ['commands', 'terminal'],
  ['statements', 'table'],
  ['paths', 'file'],
  ['hosts', 'globe'],
  ['unreadable', 'warning'],
];

/** @param {{ decision: string, step: number, rule?: string, reason: string, risk: string, category: string, ask?: object }} verdict */
export function explanation(verdict) {
  const { decision, ask } = verdict;
  const asked = ask && termsInWords(ask);
  return h(
    'div.explanation',
    { 'data-decision': decision },
    h(
      'div.verdict',
      { class: `effect-${decision}` },
      h('span.verdict-word', {}, t(`effect.${decision}`)),
      riskBadge(verdict.risk, { long: true }),
      h('span.badge', {}, t(`category.${verdict.category}`)),
    ),
    h('p.verdict-reason', {}, sentence(escapeHidden(verdict.banned ?? verdict.reason))),
    verdict.rule && h('p.card-note', {}, t('check.rule'), ' ', h('strong', {}, raw(verdict.rule))),
    ['wants', 'confined'].map(
      (kind) => verdict[kind] && h('p.card-note', {}, t(`check.${kind}`), ' ', safe(verdict[kind])),
    ),
    asked && h('p.card-note', {}, raw(asked)),
    FOUND.filter(([kind]) => verdict[kind]?.length).map(([kind, name]) =>
      h(
        'div.block',
        {},
        h('h3.block-label', {}, icon(name), t(`check.${kind}`)),
        h(
          'ol.commands',
          {},
          verdict[kind].map((found) => commandLine(found)),
        ),
      ),
    ),
    steps(verdict.step, decision),
  );
}

/** Who is asked, how many must agree, and by when. */
export function termsInWords({ approvers, quorum, notRequester, timeoutMs, escalateAfterMs, escalateTo }) {
  return [
    approvers?.length && t('policy.approvers', { names: approvers }),
    quorum > 1 && t('policy.quorum', { n: quorum }),
    notRequester && t('policy.notRequester'),
    timeoutMs && t('policy.ruleTimeout', { time: timeoutMs }),
    escalateTo?.length > 0 && t('policy.escalate', { time: escalateAfterMs ?? 0, names: escalateTo }),
  ]
    .filter(Boolean)
    .join(' · ');
}

/** The decision order, with the step that answered. */
function steps(decided, decision) {
  const step = (number) =>
    h(
      'li.step',
      {
        class:
          number === decided ? `step-decided effect-${decision}` : number < decided ? 'step-passed' : 'step-unreached',
        'aria-current': number === decided ? 'step' : null,
      },
      t(`step.${number}`),
    );
  return h(
    'details.steps',
    { open: true },
    h('summary', {}, t('check.steps')),
    h(
      'ol.step-list',
      {},
      Array.from({ length: STEPS }, (_, at) => step(at + 1)),
    ),
  );
}
