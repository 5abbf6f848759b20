// The rows of the inbox: one question each, and a frame around those of one turn.

import { arrange, fill, h } from '../dom.js';
import { icon } from '../icons.js';
import { t } from '../i18n.js';
import { stillMissing } from '../answering.js';
import { questionPath } from '../router.js';
import { countdown } from './countdown.js';
import { gist, headingOf, textsOf } from './document.js';
import { riskBadge, riskClass } from './risk.js';
import { raw, safe, sentence } from './text.js';

/** Lines of a gist in a row; all of them are in the question itself. */
const LINES_IN_ROW = 3;

/**
 * Whether a question is wanted by search and filter. Every word must be found somewhere in what a person would see.
 * @param {object} question
 * @param {{ text: string, risk: string }} filter
 */
export function matches(question, { text, risk }) {
  if (risk && question.risk !== risk) return false;
  const words = text.toLowerCase().split(/\s+/).filter(Boolean);
  if (words.length === 0) return true;
  const hay = [
    headingOf(question.document),
    gist(question).text,
    textsOf(question.document),
    question.title,
    question.agent,
    question.sessionId,
    question.user,
    question.channel,
    question.code,
    question.call?.tool,
  ]
    .filter(Boolean)
    .join('\n')
    .toLowerCase();
  return words.every((word) => hay.includes(word));
}

/** One question in the list: a link, nothing to press by accident. */
export function row(question) {
  const { mono, text } = gist(question);
  const lines = text.split('\n');
  const more = lines.length - LINES_IN_ROW;
  return h(
    'div.row-item',
    { role: 'listitem' },
    h(
      'a.row',
      { href: questionPath(question.requestId), class: riskClass(question.risk), 'data-row': question.requestId },
      h(
        'span.row-top',
        {},
        h('span.row-tool', {}, question.call ? raw(question.call.tool) : safe(question.title)),
        (question.call || question.risk !== 'LOW') && riskBadge(question.risk),
        question.deadline !== undefined && countdown(question),
      ),
      h(
        'span.row-gist',
        { class: mono ? 'mono' : '' },
        lines.slice(0, LINES_IN_ROW).map((line) => h('span.row-line', {}, mono ? safe(line) : sentence(line))),
        more > 0 && h('span.row-more', {}, t('inbox.moreLines', { n: more })),
      ),
      h(
        'span.row-foot',
        {},
        h(
          'span',
          {},
          raw([question.agent, ...(question.agentPath ?? [])].filter(Boolean).join(' › ') || question.sessionId),
        ),
        question.votes?.needed > 1 &&
          h(
            'span.votes',
            {},
            icon('people'),
            `${question.votes.have}/${question.votes.needed}`,
            stillMissing(question),
          ),
        question.mayAnswer === false && h('span.row-note', {}, t('inbox.othersDecide')),
      ),
    ),
  );
}

/** Below the first of several requests of one kind: a way to decide them on one page. */
export const alikeNote = (question, count) =>
  h(
    'div.alike-note',
    { role: 'listitem' },
    h(
      'a',
      { href: `${questionPath(question.requestId)}?alike=`, 'data-alike-row': question.requestId },
      t('alike.together', { n: count }),
    ),
  );

/** The frame around the questions of one turn. */
export function turn(group) {
  const head = h('div.turn-head');
  const rows = h('div', { role: 'list' });
  const element = h('div.turn', { role: 'listitem', 'data-turn': group }, head, rows);
  element.show = (questions, nodes) => {
    fill(
      head,
      h('span', {}, questions.length === 1 ? t('turn.part') : t('turn.heading', { n: questions.length })),
      questions.length > 1 &&
        h(
          'a',
          { href: `${questionPath(questions[0].requestId)}?together=`, 'data-together': group },
          t('turn.decideTogether'),
        ),
    );
    arrange(rows, nodes);
  };
  return element;
}
