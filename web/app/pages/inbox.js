// The inbox: what waits for me, most urgent first, and beside it the question that is chosen.

import { api } from '../api.js';
import { arrange, fill, freshId, h } from '../dom.js';
import { guard } from '../guard.js';
import { icon } from '../icons.js';
import { t } from '../i18n.js';
import { addKeys } from '../keys.js';
import { setTitle } from '../notify.js';
import { headingOf } from '../parts/document.js';
import { emptyInbox } from '../parts/empty-inbox.js';
import { matches, row, turn } from '../parts/inbox-list.js';
import { QuestionView } from '../parts/question-view.js';
import { togetherView } from '../parts/together.js';
import { go, questionPath } from '../router.js';
import { byTurn, store } from '../store.js';

/** After a decision the outcome stays this long before the next question takes its place. */
const LINGER_MS = 1200;

class Inbox {
  #stop = new AbortController();
  #route;
  #view = null;
  #rows = new Map();
  #filter = { text: '', risk: '' };
  #list = h('div.list', { role: 'list' });
  #count = h('p.list-count', { 'aria-live': 'off' });
  #pane = h('section.pane', { 'aria-label': t('inbox.pane') });
  #search;
  #bar = h('div.pane-bar');
  #linger = 0;
  title = t('nav.inbox');

  constructor(route) {
    this.#route = route;
    this.element = h(
      'div.inbox',
      {},
      h('section.list-pane', { 'aria-label': t('nav.inbox') }, this.#tools(), this.#list),
      this.#pane,
    );
    store.on('pending', () => this.#refresh(), this.#stop.signal);
    this.#removeKeys = addKeys(this.#keys());
    this.#refresh();
    this.#open();
  }

  #removeKeys;

  destroy() {
    this.#stop.abort();
    clearTimeout(this.#linger);
    this.#removeKeys();
    this.#view?.destroy();
  }

  /** Another question is chosen, the list stays. */
  take(route) {
    clearTimeout(this.#linger);
    this.#route = route;
    this.title = t('nav.inbox');
    this.#open();
    this.#mark();
    return true;
  }

  focus() {
    if (this.#route.requestId) this.#view?.focus();
    else document.getElementById('main')?.focus({ preventScroll: true });
  }

  #keys() {
    const bar = () => this.#view?.bar;
    return [
      { key: 'j', label: 'keys.next', run: () => this.#move(1) },
      { key: 'k', label: 'keys.previous', run: () => this.#move(-1) },
      {
        key: 'a',
        label: 'keys.approve',
        run: () => bar().takeAction('APPROVE_AND_EXECUTE'),
        when: () => Boolean(bar()),
      },
      { key: 'r', label: 'keys.reject', run: () => bar().takeAction('REJECT_WITH_REASON'), when: () => Boolean(bar()) },
      { key: 'e', label: 'keys.edit', run: () => bar().toggleEdit(), when: () => Boolean(bar()?.canEdit) },
      { key: '/', label: 'keys.search', run: () => this.#search.focus() },
      { key: 'Escape', label: 'keys.back', run: () => go('/'), when: () => Boolean(this.#route.requestId) },
    ];
  }

  #tools() {
    const id = freshId('search');
    this.#search = h('input', {
      id,
      type: 'search',
      placeholder: t('inbox.search'),
      'aria-label': t('inbox.search'),
      oninput: () => this.#narrow({ text: this.#search.value }),
    });
    const risk = h(
      'select.compact',
      { 'aria-label': t('inbox.risk'), onchange: () => this.#narrow({ risk: risk.value }) },
      h('option', { value: '' }, t('inbox.anyRisk')),
      ['HIGH', 'MEDIUM', 'LOW'].map((value) => h('option', { value }, t(`risk.${value}`))),
    );
    return h(
      'div.list-tools',
      {},
      h(
        'div.list-title',
        {},
        h('h1', {}, t('nav.inbox')),
        this.#count,
        h('a.history-link', { href: '/history' }, t('history.title')),
      ),
      h('div.search-row', {}, h('label.search', { for: id }, icon('search'), this.#search), risk),
    );
  }

  #narrow(change) {
    this.#filter = { ...this.#filter, ...change };
    this.#refresh();
  }

  /** What the list shows, in its order. */
  get #shown() {
    return store.pending.filter((question) => matches(question, this.#filter));
  }

  #refresh() {
    const shown = this.#shown;
    const turns = byTurn(shown);
    const known = new Map();
    const nodes = turns.map(({ group, questions }) => {
      const rows = questions.map((question) => {
        const node = this.#rowOf(question);
        known.set(question.requestId, node);
        return node.element;
      });
      return group && (questions.length > 1 || questions[0].groupSize > 1)
        ? this.#turnOf(group, questions, rows, known)
        : rows;
    });
    this.#rows = known;
    arrange(this.#list, nodes.flat());
    this.#count.textContent = store.loaded
      ? t('inbox.count', { n: store.hasMore ? `${shown.length}+` : shown.length })
      : '';
    this.element.classList.toggle('is-empty', store.loaded && store.pending.length === 0);
    if (store.loaded && shown.length === 0 && store.pending.length > 0)
      fill(this.#list, h('div.quiet.list-note', { role: 'listitem' }, t('inbox.nothingMatches')));
    if (!this.#view && !this.#route.requestId) this.#open();
    else if (this.#view) this.#drawBar();
    this.#mark();
  }

  /** A row is made once; it is made again only if something in it changed, so the focus stays where it is. */
  #rowOf(question) {
    const old = this.#rows.get(question.requestId);
    const print = JSON.stringify([
      question.shownDigest,
      question.votes,
      question.risk,
      question.mayAnswer,
      question.deadline,
    ]);
    return old?.print === print ? old : { print, element: row(question) };
  }

  #turnOf(group, questions, rows, known) {
    const key = `turn:${group}`;
    const node = this.#rows.get(key)?.element ?? turn(group);
    known.set(key, { element: node });
    node.show(questions, rows);
    return node;
  }

  #mark() {
    for (const [requestId, { element }] of this.#rows) {
      element.querySelector?.('a.row')?.toggleAttribute('aria-current', requestId === this.#route.requestId);
    }
    this.element.dataset.chosen = this.#route.requestId ? 'yes' : 'no';
  }

  #move(by) {
    const ids = byTurn(this.#shown).flatMap(({ questions }) => questions.map(({ requestId }) => requestId));
    if (ids.length === 0) return;
    const at = ids.indexOf(this.#route.requestId);
    const next = at < 0 ? (by > 0 ? 0 : ids.length - 1) : Math.min(ids.length - 1, Math.max(0, at + by));
    go(questionPath(ids[next]));
    this.#rows.get(ids[next])?.element.scrollIntoView({ block: 'nearest' });
    this.#view?.focus();
  }

  /** Shows the chosen question, or what there is to say when none is. */
  async #open() {
    const { requestId, together } = this.#route;
    if (this.#view && this.#view.question.requestId === requestId && together === undefined && !this.#view.isTogether)
      return;
    this.#view?.destroy();
    this.#view = null;
    if (!requestId) {
      fill(
        this.#pane,
        store.loaded && (store.pending.length === 0 ? emptyInbox() : h('p.pane-note.quiet', {}, t('inbox.choose'))),
      );
      // Whoever had the focus in what is gone now would be nowhere.
      if (document.activeElement === document.body) document.getElementById('main')?.focus({ preventScroll: true });
      return;
    }
    try {
      // All of a turn are known only with the list.
      if (together !== undefined && !store.loaded) await store.reload();
      const known = store.pending.find((question) => question.requestId === requestId);
      const question = known ?? (await api.question(requestId));
      if (this.#route.requestId === requestId) this.#show(question, together !== undefined);
    } catch (problem) {
      fill(
        this.#pane,
        h(
          'p.pane-note',
          { role: 'alert' },
          problem.status === 404 ? t('fate.gone') : t('fate.refused', { why: problem.message }),
        ),
      );
    }
  }

  #show(question, together) {
    const turn = turnOf(question);
    guard.left(question.requestId);
    if (together && turn.length > 1) {
      this.#view = togetherView(turn);
    } else {
      this.#view = new QuestionView(question, { onFate: (fate) => this.#decided(fate, question) });
    }
    this.title = headingOf(question.document) || question.title || this.title;
    setTitle(this.title);
    this.#drawBar();
    fill(this.#pane, this.#bar, this.#view.element);
    this.#pane.scrollTop = 0;
    this.#view.focus();
  }

  /** The way back, and from one call of a turn to all of them. */
  #drawBar() {
    const { question, isTogether } = this.#view;
    const turn = turnOf(question);
    const path = questionPath(question.requestId);
    fill(
      this.#bar,
      h('a.back-link', { href: '/' }, icon('back'), t('nav.inbox')),
      isTogether
        ? h('a.turn-link', { href: path }, t('turn.oneByOne'))
        : turn.length > 1 && h('a.turn-link', { href: `${path}?together=` }, t('turn.together', { n: turn.length })),
    );
  }

  /** Once decided, the most urgent of the rest comes up, unless the person goes elsewhere first. */
  #decided(fate, question) {
    if (fate.kind === 'askedAgain' && fate.requestId) return go(questionPath(fate.requestId), { replace: true });
    if (fate.kind !== 'decided') return undefined;
    const ids = byTurn(this.#shown).flatMap(({ questions }) => questions.map(({ requestId }) => requestId));
    const at = ids.indexOf(question.requestId);
    clearTimeout(this.#linger);
    this.#linger = setTimeout(() => {
      if (this.#route.requestId !== question.requestId) return;
      const left = ids.filter(
        (id) => id !== question.requestId && store.pending.some(({ requestId }) => requestId === id),
      );
      const next = left[Math.min(Math.max(at, 0), left.length - 1)];
      go(next ? questionPath(next) : '/', { replace: true });
    }, LINGER_MS);
    return undefined;
  }
}

/** What is pending of a question's turn. */
const turnOf = ({ group }) => (group ? store.pending.filter((other) => other.group === group) : []);

/** @returns {import('../main.js').Page} */
export const inboxPage = (route) => new Inbox(route);
