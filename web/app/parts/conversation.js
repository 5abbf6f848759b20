// A conversation with the agent as it is drawn: what was said, thought, done and seen, and requests where they came up. What
// is still to be decided is docked below the log, so the buttons never scroll away.

import { fill, h } from '../dom.js';
import { t } from '../i18n.js';
import { headingOf } from './document.js';
import { QuestionView } from './question-view.js';
import { riskBadge } from './risk.js';
import { raw, sentence } from './text.js';

/** New events scroll the log only for a reader who is near its end. */
const NEAR_END_PX = 160;

export class Conversation {
  #questions = new Map();
  #actions = new Map();
  /** The turn that is being written, piece by piece. */
  #writing = null;
  #onWaiting;
  /** The request whose buttons are in the dock. */
  #docked = null;
  dock = h('section.chat-dock', { 'aria-label': t('answer.title'), 'data-dock': true, hidden: true });
  element = h('div.chat-log', { role: 'log', 'aria-label': t('chat.log'), tabindex: '0' });

  /** @param {(waiting: boolean) => void} onWaiting whether the agent waits for an answer */
  constructor(onWaiting) {
    this.#onWaiting = onWaiting;
    this.clear();
  }

  clear() {
    for (const view of this.#questions.values()) view.destroy();
    this.#questions.clear();
    this.#docked = null;
    this.#undock();
    this.#actions.clear();
    this.#writing = null;
    fill(this.element, h('p.chat-hello.quiet', {}, t('chat.hello')));
  }

  /** What this person can still decide here, in the order it was asked. */
  get open() {
    return [...this.#questions.values()].filter(({ bar, question }) => bar && question.status === 'pending');
  }

  /** Takes in one event of the stream. */
  take(type, data) {
    HANDLERS[type]?.(this, data);
  }

  #add(node) {
    this.element.querySelector('.chat-hello')?.remove();
    this.#change(() => this.element.append(node));
  }

  /** Changes the log and keeps its end in sight for a reader who was there. */
  #change(change) {
    const log = this.element;
    const nearEnd = log.scrollHeight - log.scrollTop - log.clientHeight < NEAR_END_PX;
    change();
    if (nearEnd) log.scrollTop = log.scrollHeight;
  }

  said({ message = '' }) {
    this.#add(h('div.bubble.bubble-me', {}, h('p.prose', {}, raw(message))));
  }

  /** The model speaks: pieces first, then the whole, which takes their place. */
  thought({ iteration, text, thinking, delta, thinkingDelta, again }) {
    const turn = this.#turn(iteration);
    if (again) Object.assign(turn, { text: '', thinking: '' });
    turn.text = text ?? turn.text + (delta ?? '');
    turn.thinking = thinking ?? turn.thinking + (thinkingDelta ?? '');
    const thoughts =
      turn.thinking &&
      h('details.chat-thought', {}, h('summary', {}, t('chat.thinking')), h('p.prose', {}, raw(turn.thinking)));
    const words = turn.text && h('div.bubble.bubble-agent', {}, h('p.prose', {}, raw(turn.text)));
    this.#change(() => fill(turn.element, thoughts, words));
    if (text !== undefined) this.#writing = null;
    this.#lastText = turn.text;
  }

  #lastText = '';

  #turn(iteration) {
    if (this.#writing?.iteration !== iteration) {
      this.#writing = { iteration, text: '', thinking: '', element: h('div.chat-turn') };
      this.#add(this.#writing.element);
    }
    return this.#writing;
  }

  acted({ callId, tool = '', args = {} }) {
    const result = h('div.chat-result');
    this.#actions.set(callId, result);
    this.#add(
      h(
        'div.chat-step',
        { 'data-step': 'action' },
        h('span.chat-step-name', {}, t('policy.tool'), ' ', h('code', {}, raw(tool))),
        h('pre.code', { tabindex: '0' }, raw(wordsOf(args))),
        result,
      ),
    );
  }

  observed({ callId, ok, output }) {
    const text = wordsOf(output);
    const details = h(
      'details',
      { class: ok ? '' : 'is-bad', open: text.length < 400 },
      h('summary', {}, t(ok ? 'chat.observation' : 'chat.notDone')),
      h('pre.code', { tabindex: '0' }, raw(text)),
    );
    const place = this.#actions.get(callId);
    if (place) this.#change(() => fill(place, details));
    else this.#add(h('div.chat-step', { 'data-step': 'observation' }, details));
  }

  asked(question) {
    const known = this.#questions.get(question.requestId);
    if (known) {
      known.show(question);
    } else {
      const view = new QuestionView(question, { inline: true, onChange: () => this.#arrangeDock() });
      this.#questions.set(question.requestId, view);
      this.#add(view.element);
      this.#arrangeDock();
      this.#show(view);
    }
    this.#onWaiting(this.open.length > 0);
  }

  /** Scrolls the log, and nothing but the log, to where a request begins: what would happen comes first. */
  #show({ element }) {
    const log = this.element;
    log.scrollTop += element.getBoundingClientRect().top - log.getBoundingClientRect().top;
  }

  /** Puts the buttons of the oldest open request into the dock; those of a closed one go back to their request. */
  #arrangeDock() {
    const views = [...this.#questions.values()];
    const pending = views.filter(({ question }) => question.status === 'pending');
    const next = pending[0] ?? null;
    if (this.#docked && this.#docked !== next) this.#docked.element.append(this.#docked.foot);
    if (next === this.#docked && next) return;
    this.#docked = next;
    if (next) {
      const { question } = next;
      const title = h(
        'button.dock-title',
        { type: 'button', onclick: () => this.#show(next) },
        h('span.dock-gist', {}, sentence(headingOf(question.document) || question.title)),
        question.call && riskBadge(question.risk),
        pending.length > 1 && h('span.hint', {}, t('chat.oneOf', { n: pending.length })),
      );
      fill(this.dock, title, next.foot);
      this.dock.hidden = false;
    } else {
      this.#undock();
    }
  }

  #undock() {
    fill(this.dock);
    this.dock.hidden = true;
  }

  resolved({ requestId }) {
    this.#questions.get(requestId)?.reload();
    this.#onWaiting(this.open.some(({ question }) => question.requestId !== requestId));
  }

  /** The end: the last words are there already, as the last turn. */
  completed({ text = '', message = '', how }) {
    if (text && text !== this.#lastText) this.#add(h('div.bubble.bubble-agent', {}, h('p.prose', {}, raw(text))));
    if (how && how !== 'completed') this.#add(h('p.chat-end.quiet', {}, raw(message)));
  }

  failed({ message = '' }) {
    this.#add(h('p.fault', { role: 'alert' }, raw(message)));
  }
}

const HANDLERS = {
  STARTED: (log, data) => log.said(data),
  THINKING: (log, data) => log.thought(data),
  ACTION: (log, data) => log.acted(data),
  OBSERVATION: (log, data) => log.observed(data),
  INTERACTION: (log, data) => log.asked(data),
  INTERACTION_RESOLVED: (log, data) => log.resolved(data),
  COMPLETED: (log, data) => log.completed(data),
  ERROR: (log, data) => log.failed(data),
};

/** A value as a person reads it: a text as it is, a single text argument without its braces, the rest as JSON. */
export function wordsOf(value) {
  if (typeof value === 'string') return value;
  const values = Object.values(value ?? {});
  if (values.length === 1 && typeof values[0] === 'string') return values[0];
  return JSON.stringify(value, null, 2) ?? '';
}
