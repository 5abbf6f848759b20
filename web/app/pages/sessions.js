// Sessions: every conversation or job of an agent, newest first.

import { api } from '../api.js';
import { h } from '../dom.js';
import { icon } from '../icons.js';
import { t } from '../i18n.js';
import { afterTyping, page, pagedList } from '../parts/page.js';
import { raw } from '../parts/text.js';
import { sessionPath } from '../router.js';
import { store } from '../store.js';
import { ago, everySecond, moment } from '../time.js';

/** @returns {import('../main.js').Page} */
export function sessionsPage() {
  const stop = new AbortController();
  const search = h('input', { type: 'search', placeholder: t('sessions.search'), 'aria-label': t('sessions.search') });
  const list = pagedList((after) => api.sessions({ after, limit: 50, q: search.value.trim() }), card, {
    empty: t('sessions.empty'),
    list: h('ul.cards'),
  });
  const soon = afterTyping(() => list.reload());
  search.addEventListener('input', soon);
  store.on('journal', soon, stop.signal);
  store.on('fresh', () => list.reload(), stop.signal);
  list.reload();
  return {
    title: t('nav.sessions'),
    element: page(
      t('nav.sessions'),
      t('sessions.lead'),
      h('div.filters', {}, h('label.search', {}, icon('search'), search)),
      list.element,
    ),
    destroy: () => stop.abort(),
  };
}

function card(session) {
  const when = h('time', { datetime: session.lastAt, title: moment(session.lastAt) });
  everySecond(when, () => (when.textContent = ago(session.lastAt)));
  return h(
    'li',
    {},
    h(
      'a.card.session-card',
      { href: sessionPath(session.sessionId), 'data-session': session.sessionId },
      h('span.card-title', {}, raw(session.sessionId)),
      h('span.card-note', {}, raw(session.agent ?? ''), ' · ', t('calls', { n: session.calls ?? 0 }), ' · ', when),
      h(
        'span.card-side',
        {},
        session.open > 0 && h('span.badge.risk-medium', {}, t('inbox.count', { n: session.open })),
        session.state === 'ended' && h('span.badge', {}, t('sessions.ended')),
        session.mode && session.mode !== 'default' && h('span.badge', {}, t(`mode.${session.mode}`)),
      ),
    ),
  );
}
