// What was put to me and is settled: who chose what, and when.

import { outcome } from '../answering.js';
import { api } from '../api.js';
import { h } from '../dom.js';
import { icon } from '../icons.js';
import { t } from '../i18n.js';
import { page, pagedList } from '../parts/page.js';
import { riskBadge, riskClass } from '../parts/risk.js';
import { raw, safe, sentence } from '../parts/text.js';
import { headingOf } from '../parts/document.js';
import { questionPath } from '../router.js';
import { store } from '../store.js';
import { moment } from '../time.js';

const STATES = ['all', 'answered', 'expired', 'cancelled', 'superseded'];
const ICONS = { good: 'check', bad: 'cross', warn: 'clock', note: 'info' };

/** @returns {import('../main.js').Page} */
export function historyPage() {
  const stop = new AbortController();
  const state = h(
    'select.compact',
    { 'aria-label': t('history.state') },
    STATES.map((name) => h('option', { value: name }, t(`history.${name}`))),
  );
  const list = pagedList(
    async (after) => {
      const got = await api.questions({ status: state.value, after, limit: 50 });
      return { items: got.items.filter(({ status }) => status !== 'pending'), next: got.next };
    },
    card,
    { empty: t('history.empty'), list: h('ul.cards') },
  );
  state.addEventListener('change', () => list.reload());
  store.on('pending', () => list.reload(), stop.signal);
  list.reload();
  return {
    title: t('history.title'),
    element: page(
      t('history.title'),
      t('history.lead'),
      h('div.filters', {}, h('a.button', { href: '/' }, icon('back'), t('nav.inbox')), state),
      list.element,
    ),
    destroy: () => stop.abort(),
  };
}

function card(question) {
  const { tone, text } = outcome(question);
  return h(
    'li',
    {},
    h(
      'a.card.history-card',
      {
        href: questionPath(question.requestId),
        class: riskClass(question.risk),
        'data-settled-question': question.requestId,
      },
      h(
        'span.card-title',
        {},
        h('span.history-icon', { class: `outcome-${tone}` }, icon(ICONS[tone])),
        question.call ? [h('code', {}, raw(question.call.tool)), ' '] : '',
        text,
      ),
      h(
        'span.card-note',
        {},
        sentence(headingOf(question.document)),
        ' · ',
        raw(question.agent ?? ''),
        ' · ',
        raw(question.sessionId),
        ' · ',
        safe(moment(question.createdAt)),
      ),
      h('span.card-side', {}, riskBadge(question.risk)),
    ),
  );
}
