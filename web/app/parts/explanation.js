// A verdict explained: the answer, the reason, what was found in the call, and where in the thirteen steps it was decided.

import { h } from '../dom.js';
import { t } from '../i18n.js';
import { blocks } from './document.js';
import { riskBadge } from './risk.js';
import { safe, sentence } from './text.js';

const STEPS = 13;

/** @param {{ decision: any, step: number, rule?: string, reason: string, risk: string, category: string }} verdict */
export function explanation(verdict) {
  const decision = decisionOf(verdict.decision);
  const found = [];
  if (verdict.commands?.length) found.push({ block: 'commands', commands: verdict.commands });
  for (const statement of verdict.statements ?? []) found.push({ block: 'statement', ...statement });
  for (const host of [verdict.host ?? verdict.hosts ?? []].flat()) {
    found.push(typeof host === 'string' ? { block: 'host', label: t('check.host'), host } : { block: 'host', label: t('check.host'), ...host });
  }
  return h(
    'div.explanation',
    { 'data-decision': decision },
    h('div.verdict', { class: `effect-${decision}` }, h('span.verdict-word', {}, t(`effect.${decision}`)), riskBadge(verdict.risk, { long: true }), h('span.badge', {}, t(`category.${verdict.category}`))),
    h('p.verdict-reason', {}, sentence(verdict.reason)),
    verdict.rule && h('p.card-note', {}, t('check.rule', { name: '' }), h('strong', {}, safe(verdict.rule))),
    h('div.blocks', {}, blocks(found, { foldable: true })),
    steps(Number(verdict.step), decision),
  );
}

function decisionOf(decision) {
  return String(decision?.kind ?? decision ?? '').toLowerCase();
}

/** The decision order, with the step that answered. */
function steps(decided, decision) {
  const step = (number) =>
    h('li.step', { class: number === decided ? `step-decided effect-${decision}` : number < decided ? 'step-passed' : 'step-unreached', 'aria-current': number === decided ? 'step' : null }, t(`step.${number}`));
  return h('details.steps', { open: true }, h('summary', {}, t('check.steps')), h('ol.step-list', {}, Array.from({ length: STEPS }, (_, at) => step(at + 1))));
}
