// Above the list: how many requests are pending, search and filter, and what they hide.

import { fill, freshId, h } from '../dom.js';
import { icon } from '../icons.js';
import { t } from '../i18n.js';
import { isMine, store } from '../store.js';

export class ListTools {
  filter = { text: '', risk: '' };
  #onFilter;
  #count = h('p.list-count', { 'aria-live': 'off' });
  #hidden = h('p.list-hidden', { role: 'status', 'data-hidden': true, hidden: true });
  #search;
  #risk;

  /** @param {() => void} onFilter the list has to be drawn anew */
  constructor(onFilter) {
    this.#onFilter = onFilter;
    const id = freshId('search');
    this.#search = h('input', {
      id,
      type: 'search',
      placeholder: t('inbox.search'),
      'aria-label': t('inbox.search'),
      oninput: () => this.#narrow({ text: this.#search.value }),
    });
    this.#risk = h(
      'select.compact',
      { 'aria-label': t('inbox.risk'), onchange: () => this.#narrow({ risk: this.#risk.value }) },
      h('option', { value: '' }, t('inbox.anyRisk')),
      ['HIGH', 'MEDIUM', 'LOW'].map((value) => h('option', { value }, t(`risk.${value}`))),
    );
    this.element = h(
      'div.list-tools',
      {},
      h(
        'div.list-title',
        {},
        h('h1', {}, t('nav.inbox')),
        this.#count,
        h('a.history-link', { href: '/history' }, t('history.title')),
      ),
      h('div.search-row', {}, h('label.search', { for: id }, icon('search'), this.#search), this.#risk),
      this.#hidden,
    );
  }

  focus() {
    this.#search.focus();
  }

  #narrow(change) {
    this.filter = { ...this.filter, ...change };
    this.#onFilter();
  }

  #clear() {
    this.#search.value = '';
    this.#risk.value = '';
    this.#narrow({ text: '', risk: '' });
    this.focus();
  }

  /** The same numbers as everywhere; what a filter hides is said beside them. */
  draw(shown) {
    const others = store.todo.filter((question) => !isMine(question)).length;
    const mine = t('inbox.count', { n: store.hasMore ? `${store.waiting}+` : store.waiting });
    const counts = [mine, others > 0 && t('inbox.forOthers', { n: others })];
    this.#count.textContent = store.loaded ? counts.filter(Boolean).join(' · ') : '';
    const hidden = store.todo.length - shown;
    this.#hidden.hidden = hidden === 0;
    fill(
      this.#hidden,
      hidden > 0 && [
        h('span', {}, t('inbox.hidden', { n: hidden })),
        ' ',
        h(
          'button.quiet-button',
          { type: 'button', 'data-clear': true, onclick: () => this.#clear() },
          t('inbox.clear'),
        ),
      ],
    );
  }
}
