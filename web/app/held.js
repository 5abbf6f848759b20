// Decisions held back for a moment, so that they can be undone. Until the moment is over nothing is sent; leaving the page
// drops the decision, and the request stays pending. No drawing here.

import { send } from './answering.js';
import { t } from './i18n.js';
import { announce, toast } from './parts/toast.js';
import { store } from './store.js';

/** How long a decision can be undone, in milliseconds. */
export const HOLD_MS = 5000;
/** A request with less time than this left is answered at once. */
const TIME_NEEDED_MS = HOLD_MS + 5000;
const KEY = 'placet.undo';
const TONES = { decided: 'good', voted: 'good', askedAgain: 'note' };

/** Whether this browser holds decisions back. */
export const holds = () => localStorage.getItem(KEY) !== 'off';

/** Switches it. */
export const setHolds = (on) => (on ? localStorage.removeItem(KEY) : localStorage.setItem(KEY, 'off'));

/** @typedef {{ question: object, answer: object, words: string, until: number, timer: number }} HeldDecision */

/** Tells of `change` whenever a decision is held, sent or undone. */
class Held extends EventTarget {
  /** @type {Map<string, HeldDecision>} */
  #decisions = new Map();
  #sending = new Set();

  constructor() {
    super();
    if (typeof window === 'undefined') return;
    addEventListener('beforeunload', (event) => this.#decisions.size > 0 && event.preventDefault());
    addEventListener('pagehide', () => this.drop());
  }

  /** @returns {HeldDecision[]} */
  get all() {
    return [...this.#decisions.values()];
  }

  get(requestId) {
    return this.#decisions.get(requestId);
  }

  /** Whether there is time enough to hold an answer to this request back. */
  canHold(question) {
    const left = (question.deadline ?? Infinity) - performance.now();
    return holds() && left > TIME_NEEDED_MS;
  }

  hold(question, answer, words) {
    const { requestId } = question;
    const timer = setTimeout(() => this.sendNow(requestId), HOLD_MS);
    this.#decisions.set(requestId, { question, answer, words, until: performance.now() + HOLD_MS, timer });
    this.#changed();
  }

  /** Takes a decision back: nothing was sent. */
  undo(requestId) {
    if (!this.#take(requestId)) return;
    announce(t('held.undone'));
    this.#changed();
  }

  async sendNow(requestId) {
    const held = this.#take(requestId);
    if (!held) return;
    this.#sending.add(requestId);
    this.#changed();
    const fate = await send(held.question, held.answer);
    toast(fate.text, TONES[fate.kind] ?? 'warn');
    await store.reload();
    this.#sending.delete(requestId);
    this.#changed();
  }

  /** Forgets everything that is held: the page is left, or the person signs out. */
  drop() {
    for (const { timer } of this.#decisions.values()) clearTimeout(timer);
    this.#decisions.clear();
    this.#changed();
  }

  /** What is decided here and not yet known as decided: it is not in the list of what is to be done. */
  has(requestId) {
    return this.#decisions.has(requestId) || this.#sending.has(requestId);
  }

  #take(requestId) {
    const held = this.#decisions.get(requestId);
    if (!held) return undefined;
    clearTimeout(held.timer);
    this.#decisions.delete(requestId);
    return held;
  }

  #changed() {
    this.dispatchEvent(new Event('change'));
  }
}

/** The page's own. */
export const held = new Held();

store.leavesOut = (requestId) => held.has(requestId);
held.addEventListener('change', () => store.tellPending());
