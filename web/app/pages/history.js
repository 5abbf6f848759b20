// Closed requests: one line each, with what, who, how, when and how long it took. The server searches and filters.

import { outcome } from '../answering.js';
import { api } from '../api.js';
import { fill, freshId, h } from '../dom.js';
import { icon } from '../icons.js';
import { names, t } from '../i18n.js';
import { headingOf } from '../parts/document.js';
import { afterTyping, page, pagedList } from '../parts/page.js';
import { riskBadge, riskClass } from '../parts/risk.js';
import { exportButton } from '../parts/save.js';
import { raw, sentence } from '../parts/text.js';
import { questionPath } from '../router.js';
import { store } from '../store.js';
import { dateWithZone, shortLength } from '../time.js';

/** How a request can end, in the server's words. */
export const OUTCOMES = [
  'approved',
  'rejected',
  'retry',
  'info',
  'skipped',
  'terminated',
  'answered',
  'expired',
  'cancelled',
  'superseded',
];
const ICONS = { good: 'check', bad: 'cross', warn: 'clock', note: 'info' };
const PAGE = 50;

/**
 * The beginning of a day on this clock, as the server reads moments.
 * @param {string} day as a date field has it
 * @param {number} [later] how many days after it
 */
export function startOfDay(day, later = 0) {
  const [year, month, date] = day.split('-').map(Number);
  const start = new Date(year, month - 1, date + later);
  return day && !Number.isNaN(start.getTime()) ? start.toISOString() : undefined;
}

/** @returns {import('../main.js').Page} */
export function historyPage(route = {}) {
  const stop = new AbortController();
  const fields = makeFields(route);
  const list = pagedList(
    async (after) => {
      const got = await api.history({ ...filterOf(fields), after, limit: PAGE });
      suggest(fields, got.items);
      return got;
    },
    line,
    { empty: t('history.empty'), list: h('ul.history-list') },
  );
  const { text, tool, rule, person, outcome: ending, risk, edited, from, to } = fields;
  for (const field of [text, tool, rule, person])
    field.addEventListener(
      'input',
      afterTyping(() => list.reload()),
    );
  for (const field of [ending, risk, edited, from, to]) field.addEventListener('change', () => list.reload());
  store.on('pending', () => list.reload(), stop.signal);
  list.reload();
  const saved = (format) =>
    exportButton(format, 'placet-history', () => api.historyExport({ ...filterOf(fields), format }));
  return {
    title: t('history.title'),
    element: page(
      t('history.title'),
      t('history.lead'),
      h(
        'div.filters',
        {},
        h('a.button', { href: '/' }, icon('back'), t('nav.inbox')),
        store.me?.role === 'admin' && h('a.button', { href: '/insights' }, icon('insights'), t('insights.title')),
        h('label.search', {}, icon('search'), text),
        [person, tool, rule].map((field) => [field, field.suggestions]),
        ending,
        risk,
        from,
        to,
        h('label.check', {}, edited, t('history.edited')),
      ),
      list.element,
      h('div.buttons', {}, saved('csv'), saved('jsonl')),
    ),
    destroy: () => stop.abort(),
  };
}

function makeFields(route) {
  const select = (name, label, options) =>
    h(
      'select.compact',
      { 'aria-label': label },
      options.map(([value, words]) => h('option', { value, selected: value === (route[name] ?? '') }, words)),
    );
  const named = (name, label) => {
    const id = freshId(name);
    const field = h('input', {
      type: 'text',
      list: id,
      placeholder: label,
      'aria-label': label,
      value: route[name] ?? '',
    });
    field.suggestions = h('datalist', { id });
    field.known = new Set();
    return field;
  };
  const day = (name) =>
    h('input', {
      type: 'date',
      'aria-label': t(name === 'from' ? 'audit.from' : 'audit.to'),
      value: route[name] ?? '',
    });
  return {
    text: h('input', {
      type: 'search',
      placeholder: t('history.search'),
      'aria-label': t('history.search'),
      value: route.q ?? '',
    }),
    person: named('person', t('history.person')),
    tool: named('tool', t('history.tool')),
    rule: named('rule', t('history.rule')),
    outcome: select('outcome', t('history.state'), [
      ['', t('history.all')],
      ...OUTCOMES.map((name) => [name, t(`history.${name}`)]),
    ]),
    risk: select('risk', t('inbox.risk'), [
      ['', t('inbox.anyRisk')],
      ...['HIGH', 'MEDIUM', 'LOW'].map((value) => [value, t(`risk.${value}`)]),
    ]),
    edited: h('input', { type: 'checkbox', 'data-edited-only': true, checked: route.edited === 'true' }),
    from: day('from'),
    to: day('to'),
  };
}

/** What the fields say, as the server reads it. */
function filterOf({ text, person, tool, rule, outcome: ending, risk, edited, from, to }) {
  return {
    q: text.value.trim(),
    person: person.value.trim(),
    tool: tool.value.trim(),
    rule: rule.value.trim(),
    outcome: ending.value,
    risk: risk.value,
    edited: edited.checked ? 'true' : undefined,
    from: startOfDay(from.value),
    to: startOfDay(to.value, 1),
  };
}

/** Offers the names in these requests for the fields that take one. */
function suggest({ person, tool, rule }, questions) {
  for (const { resolution, call, verdict } of questions) {
    for (const name of resolution?.by ?? []) person.known.add(name);
    if (call) tool.known.add(call.tool);
    if (verdict?.rule) rule.known.add(verdict.rule);
  }
  for (const field of [person, tool, rule])
    fill(
      field.suggestions,
      [...field.known].sort().map((value) => h('option', { value })),
    );
}

function line(question) {
  const { tone, what } = outcome(question);
  const { resolution = {} } = question;
  const took = Date.parse(resolution.at) - Date.parse(question.createdAt);
  return h(
    'li',
    {},
    h(
      'a.history-line',
      {
        href: questionPath(question.requestId),
        class: riskClass(question.risk),
        'data-settled-question': question.requestId,
      },
      h('span.history-icon', { class: `outcome-${tone}` }, icon(ICONS[tone])),
      h('span.history-gist', {}, sentence(headingOf(question.document) || question.title)),
      h(
        'span.history-outcome',
        {},
        what,
        resolution.by?.length > 0 && [' · ', raw(names(resolution.by))],
        resolution.edited && h('span.badge', { 'data-edited': true }, t('history.edited')),
      ),
      h('span.history-risk', {}, (question.call || question.risk !== 'LOW') && riskBadge(question.risk)),
      h('span.history-took', { title: t('history.took') }, Number.isNaN(took) ? '' : shortLength(took)),
      h('time.history-at', { datetime: resolution.at ?? question.createdAt }, dateWithZone(resolution.at)),
    ),
  );
}
