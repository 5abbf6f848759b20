// The inbox: pending requests, most urgent first, and beside them the one that is chosen.

import { alikeIn, alikeOf, turnOf } from '../alike.js';
import { api } from '../api.js';
import { arrange, fill, h } from '../dom.js';
import { guard } from '../guard.js';
import { icon } from '../icons.js';
import { t } from '../i18n.js';
import { addKeys } from '../keys.js';
import { setTitle } from '../notify.js';
import { headingOf } from '../parts/document.js';
import { emptyInbox } from '../parts/empty-inbox.js';
import { alikeNote, matches, row, turn } from '../parts/inbox-list.js';
import { ListTools } from '../parts/inbox-tools.js';
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
  #list = h('div.list', { role: 'list' });
  #tools = new ListTools(() => this.#refresh());
  #pane = h('section.pane', { 'aria-label': t('inbox.pane') });
  #bar = h('div.pane-bar');
  #linger = 0;
  /** Where the chosen request stands, or stood, in the list: from there it goes on when it is gone. */
  #at = 0;
  title = t('nav.inbox');

  constructor(route) {
    this.#route = route;
    this.element = h(
      'div.inbox',
      {},
      h('section.list-pane', { 'aria-label': t('nav.inbox') }, this.#tools.element, this.#list),
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
        label: 'option.approve',
        run: () => bar().takeAction('APPROVE_AND_EXECUTE'),
        when: () => Boolean(bar()),
      },
      {
        key: 'r',
        label: 'key.reject_reason',
        run: () => bar().takeAction('REJECT_WITH_REASON'),
        when: () => Boolean(bar()),
      },
      { key: 'e', label: 'edit.title', run: () => bar().toggleEdit(), when: () => Boolean(bar()?.canEdit) },
      { key: '/', label: 'keys.search', run: () => this.#tools.focus() },
      { key: 'Escape', label: 'keys.back', run: () => go('/'), when: () => Boolean(this.#route.requestId) },
    ];
  }

  /** What the list shows, in its order. */
  get #shown() {
    return store.todo.filter((question) => matches(question, this.#tools.filter));
  }

  /** The ids of what is shown, in its order. */
  get #ids() {
    return byTurn(this.#shown).flatMap(({ questions }) => questions.map(({ requestId }) => requestId));
  }

  #refresh() {
    const shown = this.#shown;
    const turns = byTurn(shown);
    const known = new Map();
    const kinds = alikeIn(shown);
    const nodes = turns.map(({ group, questions }) => {
      const note = questions.map((question) => this.#noteOf(question, kinds, known));
      const rows = questions.map((question) => {
        const node = this.#rowOf(question);
        known.set(question.requestId, node);
        return node.element;
      });
      return group && (questions.length > 1 || questions[0].groupSize > 1)
        ? [this.#turnOf(group, questions, rows, known), note]
        : [rows, note];
    });
    this.#rows = known;
    arrange(this.#list, nodes.flat(2).filter(Boolean));
    this.#tools.draw(shown.length);
    this.element.classList.toggle('is-empty', store.loaded && store.todo.length === 0);
    if (store.loaded && shown.length === 0 && store.todo.length > 0)
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

  /** Below the first request of a kind: how many more of it there are. */
  #noteOf(question, kinds, known) {
    const alike = kinds.get(question.requestId);
    if (!alike) return null;
    const key = `alike:${question.requestId}`;
    const print = String(alike);
    const old = this.#rows.get(key);
    const node = old?.print === print ? old : { print, element: alikeNote(question, alike) };
    known.set(key, node);
    return node.element;
  }

  #mark() {
    for (const [requestId, { element }] of this.#rows) {
      element.querySelector?.('a.row')?.toggleAttribute('aria-current', requestId === this.#route.requestId);
    }
    const at = this.#ids.indexOf(this.#route.requestId);
    if (at >= 0) this.#at = at;
    this.element.dataset.chosen = this.#route.requestId ? 'yes' : 'no';
  }

  #move(by) {
    const ids = this.#ids;
    if (ids.length === 0) return;
    const next = nextIndex(ids, this.#route.requestId, this.#at, by);
    go(questionPath(ids[next]));
    this.#rows.get(ids[next])?.element.scrollIntoView({ block: 'nearest' });
    this.#view?.focus();
  }

  /** Shows the chosen question, or what there is to say when none is. */
  async #open() {
    const { requestId } = this.#route;
    const of = this.#of;
    if (this.#view && this.#view.question.requestId === requestId && !of && !this.#view.isTogether) return;
    this.#view?.destroy();
    this.#view = null;
    if (!requestId) {
      fill(
        this.#pane,
        store.loaded && (store.todo.length === 0 ? emptyInbox() : h('p.pane-note.quiet', {}, t('inbox.choose'))),
      );
      // The focused element may just have been removed.
      if (document.activeElement === document.body) document.getElementById('main')?.focus({ preventScroll: true });
      return;
    }
    try {
      // All of a turn or of a kind are known only with the list.
      if (of && !store.loaded) await store.reload();
      const known = store.pending.find((question) => question.requestId === requestId);
      const question = known ?? (await api.question(requestId));
      if (this.#route.requestId === requestId) this.#show(question, of);
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

  /** What the address wants on one page with the chosen request: its turn, its kind, or nothing. */
  get #of() {
    return ['turn', 'alike'].find((of) => this.#route[of === 'turn' ? 'together' : of] !== undefined);
  }

  #show(question, of) {
    const several = of === 'turn' ? turnOf(question, store.todo) : of === 'alike' ? alikeOf(question, store.todo) : [];
    guard.left(question.requestId);
    if (several.length > 1) {
      this.#view = togetherView(several, of);
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
    const turn = turnOf(question, store.todo);
    const alike = alikeOf(question, store.todo).filter(({ group }) => !group || group !== question.group);
    const path = questionPath(question.requestId);
    fill(
      this.#bar,
      h('a.back-link', { href: '/' }, icon('back'), t('nav.inbox')),
      isTogether
        ? h('a.turn-link', { href: path }, t('turn.oneByOne'))
        : [
            turn.length > 1 && h('a.turn-link', { href: `${path}?together=` }, t('turn.together', { n: turn.length })),
            alike.some(({ requestId }) => requestId !== question.requestId) &&
              h(
                'a.turn-link',
                { href: `${path}?alike=`, 'data-alike': true },
                t('alike.together', { n: alikeOf(question, store.todo).length }),
              ),
          ],
    );
  }

  /** Once decided, the most urgent of the rest comes up, unless the person goes elsewhere first. */
  #decided(fate, question) {
    if (fate.kind === 'askedAgain' && fate.requestId) return go(questionPath(fate.requestId), { replace: true });
    clearTimeout(this.#linger);
    // What is held back has its own place on the screen; what is sent is seen for a moment.
    if (fate.kind === 'held') this.#goOn(question);
    if (fate.kind === 'decided') this.#linger = setTimeout(() => this.#goOn(question), LINGER_MS);
    return undefined;
  }

  #goOn({ requestId }) {
    if (this.#route.requestId !== requestId) return;
    const left = this.#ids.filter((id) => id !== requestId);
    const next = left[Math.min(this.#at, left.length - 1)];
    go(next ? questionPath(next) : '/', { replace: true });
  }
}

/**
 * Where `j` and `k` lead: to the neighbour of the chosen request, also when that one has left the list meanwhile.
 * @param {string[]} ids the list
 * @param {string | undefined} chosen
 * @param {number} at where the chosen one stands or stood
 * @param {1 | -1} by
 */
export function nextIndex(ids, chosen, at, by) {
  if (!chosen) return by > 0 ? 0 : ids.length - 1;
  const here = ids.indexOf(chosen);
  const next = here >= 0 ? here + by : by > 0 ? at : at - 1;
  return Math.min(ids.length - 1, Math.max(0, next));
}

/** @returns {import('../main.js').Page} */
export const inboxPage = (route) => new Inbox(route);
