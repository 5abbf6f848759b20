// Standing approvals: lists and revokes them.

import { api } from '../api.js';
import { fill, h } from '../dom.js';
import { t } from '../i18n.js';
import { loading, page } from '../parts/page.js';
import { raw, sentence } from '../parts/text.js';
import { toast } from '../parts/toast.js';
import { store } from '../store.js';
import { moment } from '../time.js';

const CONCERNS_GRANTS = new Set(['standingGiven', 'standingUsed', 'standingRevoked']);

/** @returns {import('../main.js').Page} */
export function grantsPage() {
  const stop = new AbortController();
  const list = h('ul.cards');
  const load = async () => {
    const got = await loading(list, () => api.grants());
    if (got)
      fill(list, got.items.length ? got.items.map((grant) => card(grant, load)) : h('li.quiet', {}, t('grants.empty')));
  };
  store.on('journal', ({ detail }) => CONCERNS_GRANTS.has(detail.name) && load(), stop.signal);
  store.on('fresh', load, stop.signal);
  load();
  return {
    title: t('nav.grants'),
    element: page(t('nav.grants'), t('grants.lead'), list),
    destroy: () => stop.abort(),
  };
}

function card(grant, reload) {
  const active = grant.state === 'inForce';
  const uses = grant.usesMax
    ? t('grants.usesOf', { uses: grant.uses ?? 0, max: grant.usesMax })
    : t('grants.uses', { n: grant.uses ?? 0 });
  return h(
    'li',
    {},
    h(
      'div.card.grant-card',
      { 'data-grant': grant.id, class: active ? '' : 'is-over' },
      h('p.card-title', {}, sentence(grant.text)),
      grant.toml && h('pre.toml', { tabindex: '0' }, raw(grant.toml)),
      h(
        'p.card-note',
        {},
        t(`reach.${grant.reach}`),
        ' · ',
        t('grants.by', { name: grant.by, at: moment(grant.givenAt) }),
        ' · ',
        t('grants.until', { at: moment(grant.expiresAt) }),
        ' · ',
        uses,
      ),
      h(
        'div.card-side',
        {},
        active ? revokeButton(grant, reload) : h('span.badge', {}, t(`grants.state.${grant.state}`)),
      ),
    ),
  );
}

function revokeButton(grant, reload) {
  return h(
    'button.button',
    {
      type: 'button',
      'data-revoke': true,
      onclick: async () => {
        try {
          await api.revoke(grant.id);
          toast(t('grants.revoked'), 'good');
          reload();
        } catch (problem) {
          toast(t('fate.refused', { why: problem.message }), 'bad');
        }
      },
    },
    t('grants.revoke'),
  );
}
