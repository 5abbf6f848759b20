// Closed requests: one line each, with what, who, how, when and how long it took; searched and filtered.

import { outcome } from '../answering.js';
import { api } from '../api.js';
import { fill, h } from '../dom.js';
import { icon } from '../icons.js';
import { names, t } from '../i18n.js';
import { headingOf } from '../parts/document.js';
import { afterTyping, page, pagedList } from '../parts/page.js';
import { riskBadge, riskClass } from '../parts/risk.js';
import { raw, sentence } from '../parts/text.js';
import { questionPath } from '../router.js';
import { store } from '../store.js';
import { dateWithZone, shortLength } from '../time.js';

const STATES = ['all', 'answered', 'expired', 'cancelled', 'superseded'];
const ICONS = { good: 'check', bad: 'cross', warn: 'clock', note: 'info' };
const PAGE = 100;

/** @typedef {{ text: string, risk: string, person: string, edited: boolean, from: string, to: string }} HistoryFilter */

/** The day something happened here, as a date field has it. */
function dayOf(at) {
  const date = new Date(at);
  const two = (number) => String(number).padStart(2, '0');
  return `${date.getFullYear()}-${two(date.getMonth() + 1)}-${two(date.getDate())}`;
}

/**
 * Whether a closed request is wanted. Every word of the search must be found somewhere in it.
 * @param {object} question
 * @param {HistoryFilter} filter
 */
export function isWanted(question, { text, risk, person, edited, from, to }) {
  const { resolution = {} } = question;
  const day = dayOf(resolution.at ?? question.createdAt);
  if (risk && question.risk !== risk) return false;
  if (person && !resolution.by?.includes(person)) return false;
  if (edited && !resolution.edited) return false;
  if ((from && day < from) || (to && day > to)) return false;
  const hay = [
    headingOf(question.document),
    question.title,
    question.agent,
    question.sessionId,
    question.call?.tool,
    question.verdict?.rule,
    resolution.feedback,
    ...(resolution.by ?? []),
  ]
    .filter(Boolean)
    .join('\n')
    .toLowerCase();
  return text
    .toLowerCase()
    .split(/\s+/)
    .every((word) => hay.includes(word));
}

/** @returns {import('../main.js').Page} */
export function historyPage() {
  const stop = new AbortController();
  const people = new Set();
  const select = (label, options) =>
    h(
      'select.compact',
      { 'aria-label': label },
      options.map(([value, words]) => h('option', { value }, words)),
    );
  const search = h('input', { type: 'search', placeholder: t('history.search'), 'aria-label': t('history.search') });
  const state = select(
    t('history.state'),
    STATES.map((name) => [name, t(`history.${name}`)]),
  );
  const risk = select(t('inbox.risk'), [
    ['', t('inbox.anyRisk')],
    ...['HIGH', 'MEDIUM', 'LOW'].map((value) => [value, t(`risk.${value}`)]),
  ]);
  const person = select(t('history.person'), [['', t('history.anyone')]]);
  const edited = h('input', { type: 'checkbox', 'data-edited-only': true });
  const [from, to] = ['from', 'to'].map((name) => h('input', { type: 'date', 'aria-label': t(`audit.${name}`) }));
  const filter = () => ({
    text: search.value.trim(),
    risk: risk.value,
    person: person.value,
    edited: edited.checked,
    from: from.value,
    to: to.value,
  });
  const list = pagedList(
    async (after) => {
      const got = await api.questions({ status: state.value, after, limit: PAGE });
      const closed = got.items.filter(({ status }) => status !== 'pending');
      offerPeople(person, people, closed);
      return { items: closed.filter((question) => isWanted(question, filter())), next: got.next };
    },
    line,
    { empty: t('history.empty'), list: h('ul.history-list') },
  );
  search.addEventListener(
    'input',
    afterTyping(() => list.reload()),
  );
  for (const field of [state, risk, person, edited, from, to]) field.addEventListener('change', () => list.reload());
  store.on('pending', () => list.reload(), stop.signal);
  list.reload();
  return {
    title: t('history.title'),
    element: page(
      t('history.title'),
      t('history.lead'),
      h(
        'div.filters',
        {},
        h('a.button', { href: '/' }, icon('back'), t('nav.inbox')),
        h('label.search', {}, icon('search'), search),
        state,
        risk,
        person,
        from,
        to,
        h('label.check', {}, edited, t('history.edited')),
      ),
      list.element,
    ),
    destroy: () => stop.abort(),
  };
}

/** Offers all people who decided one of these requests as a filter. */
function offerPeople(select, known, questions) {
  const before = known.size;
  for (const { resolution } of questions) for (const name of resolution?.by ?? []) known.add(name);
  if (known.size === before) return;
  const chosen = select.value;
  fill(
    select,
    h('option', { value: '' }, t('history.anyone')),
    [...known].sort().map((name) => h('option', { value: name }, name)),
  );
  select.value = chosen;
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
