// Pending requests, kept up to date: the list behind the inbox, the badge and the notifications.

import { api } from './api.js';

/** Events after which the list may look different. */
const CONCERNS_QUESTIONS = new Set(['asked', 'joined', 'escalated', 'voted', 'resolved', 'processed', 'sessionEnded']);
/** Events come in bursts; one request answers a burst. */
const GATHER_MS = 40;
const PAGE = 100;
/** The most requests that are loaded, oldest first. */
const PENDING_MAX = 500;
const DEADLINE_JITTER_MS = 2000;

/** Whether a question is this person's to decide; administrators also see questions assigned to others. */
export const isMine = (question) => question.mayAnswer !== false;

/** Puts the most urgent first: mine before others', then least time left, highest risk, oldest. */
export function byUrgency(a, b) {
  const risk = { HIGH: 0, MEDIUM: 1, LOW: 2 };
  return (
    isMine(b) - isMine(a) ||
    (a.deadline ?? Infinity) - (b.deadline ?? Infinity) ||
    (risk[a.risk] ?? 3) - (risk[b.risk] ?? 3) ||
    String(a.createdAt).localeCompare(String(b.createdAt)) ||
    String(a.requestId).localeCompare(String(b.requestId))
  );
}

/**
 * Adds the moment on this machine's own clock at which time runs out, so that a wrong clock here does no harm.
 * @param {object} question as the server sent it
 * @param {{ now?: number, sentAt?: string }} [when] this machine's clock; the server's, when it sent a list of which each
 *   question was made at a moment of its own
 */
export function withDeadline(question, { now = performance.now(), sentAt } = {}) {
  if (question.status !== 'pending' || typeof question.remainingMs !== 'number') return question;
  const left = Date.parse(question.expiresAt) - Date.parse(sentAt);
  return { ...question, deadline: now + (Number.isNaN(left) ? question.remainingMs : left) };
}

/** Network delay shifts a deadline a little with every load; a small shift is not a change. */
function steady(question, before) {
  const near = Math.abs((question.deadline ?? NaN) - (before?.deadline ?? NaN)) < DEADLINE_JITTER_MS;
  return near ? { ...question, deadline: before.deadline } : question;
}

/**
 * Gathers questions of one turn, in the order of the most urgent of each.
 * @returns {{ group: string | null, questions: object[] }[]}
 */
export function byTurn(questions) {
  const turns = [];
  const known = new Map();
  for (const question of questions) {
    const turn = question.group && known.get(question.group);
    if (turn) {
      turn.questions.push(question);
    } else {
      const fresh = { group: question.group ?? null, questions: [question] };
      turns.push(fresh);
      if (question.group) known.set(question.group, fresh);
    }
  }
  return turns;
}

class Store extends EventTarget {
  /** @type {object[]} what is pending, most urgent first */
  pending = [];
  /** @type {{ person: string, name: string, role: string } | null} */
  me = null;
  /** @type {import('./live.js').LineState} */
  line = { state: 'connecting' };
  /** Whether the list has been loaded at all. */
  loaded = false;
  /** Whether more wait than were loaded. */
  hasMore = false;
  #timer = 0;
  #running = null;
  #again = false;

  /** Says of a request whether it was decided here a moment ago; see `held.js`. */
  leavesOut = () => false;

  /** What is still to be decided, most urgent first: what the list shows, and what every count counts. */
  get todo() {
    return this.pending.filter(({ requestId }) => !this.leavesOut(requestId));
  }

  /** How many of them are this person's. */
  get waiting() {
    return this.todo.filter(isMine).length;
  }

  /** Tells all views of the list that it may have changed. */
  tellPending(fresh = []) {
    this.dispatchEvent(new CustomEvent('pending', { detail: { fresh } }));
  }

  /** Takes note of an event of the live line. */
  note(event) {
    this.dispatchEvent(new CustomEvent('journal', { detail: event }));
    if (CONCERNS_QUESTIONS.has(event.name)) this.reloadSoon();
  }

  setLine(line) {
    this.line = line;
    this.dispatchEvent(new Event('line'));
  }

  reloadSoon() {
    this.#timer ||= setTimeout(() => {
      this.#timer = 0;
      this.reload();
    }, GATHER_MS);
  }

  /** Loads the list anew. Calls that come while one is under way become one more after it. */
  async reload() {
    if (this.#running) {
      this.#again = true;
      return this.#running;
    }
    this.#running = this.#load().finally(() => {
      this.#running = null;
      if (this.#again) {
        this.#again = false;
        this.reload();
      }
    });
    return this.#running;
  }

  async #load() {
    const items = [];
    let after;
    try {
      do {
        const page = await api.questions({ status: 'pending', limit: PAGE, after });
        items.push(...page.items.map((question) => withDeadline(question, { sentAt: page.now })));
        after = page.next;
      } while (after && items.length < PENDING_MAX);
    } catch {
      // The live line says so when the server is away, and loads again when it is back.
      return;
    }
    const before = new Map(this.pending.map((question) => [question.requestId, question]));
    const fresh = this.loaded ? items.filter(({ requestId }) => !before.has(requestId)) : [];
    this.pending = items.map((question) => steady(question, before.get(question.requestId))).sort(byUrgency);
    this.loaded = true;
    this.hasMore = Boolean(after);
    this.tellPending(fresh);
  }

  /** Listens until `signal` is aborted. */
  on(name, listener, signal) {
    this.addEventListener(name, listener, { signal });
  }
}

/** The page's own store. */
export const store = new Store();
