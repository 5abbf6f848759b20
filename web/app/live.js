// The live line to the server: the journal's events as they happen, through lost connections and restarts.
//
// The last event's id is kept, so nothing is lost or repeated when the line comes back. A server whose journal is shorter
// than that (a new data folder) refuses the id; then the page starts over from now and loads everything again.

import { query } from './api.js';
import { signedFetch } from './browser-key.js';
import { readEvents } from './sse.js';

/** The first wait before trying again, and the longest, in milliseconds. */
const WAIT_FIRST = 500;
const WAIT_MAX = 15_000;
/** Silence longer than this means the line is dead, whatever the browser thinks: keep-alive comments come more often. */
const SILENCE_MAX = 45_000;

/** @typedef {{ state: 'connecting' | 'on' | 'lost', retryAt?: number }} LineState */

/** How long to wait before the `attempt`-th try (from 0): doubling, with some spread so that a room does not knock at once. */
export function backoff(attempt, random = Math.random()) {
  const wait = Math.min(WAIT_MAX, WAIT_FIRST * 2 ** attempt);
  return Math.round(wait * (0.75 + random / 2));
}

/** One line; `start` once, `stop` for good. */
export class Line {
  #path;
  #on;
  #after;
  #attempt = 0;
  #abort = null;
  #timer = 0;
  #stopped = false;

  /**
   * @param {string} path without `after`
   * @param {{ event: (event: object) => void, state: (state: LineState) => void, fresh: () => void, at?: (id: string) => void, refused?: (status: number) => void }} on
   *   `fresh` is called when the line is up and what happened before it must be loaded; `at` with the id to go on from.
   * @param {string} [after] the last event that is known
   */
  constructor(path, on, after = 'head') {
    this.#path = path;
    this.#on = on;
    this.#after = after;
  }

  start() {
    this.#on.state({ state: 'connecting' });
    this.#connect();
  }

  stop() {
    this.#stopped = true;
    clearTimeout(this.#timer);
    this.#abort?.abort();
  }

  /** Tries at once instead of waiting. */
  retryNow() {
    if (this.#stopped || this.#abort) return;
    clearTimeout(this.#timer);
    this.#connect();
  }

  async #connect() {
    const abort = new AbortController();
    this.#abort = abort;
    let silence = setTimeout(() => abort.abort(), SILENCE_MAX);
    const alive = (id) => {
      if (id && id !== this.#after) {
        this.#after = id;
        this.#on.at?.(id);
      }
      clearTimeout(silence);
      silence = setTimeout(() => abort.abort(), SILENCE_MAX);
    };
    try {
      const [path, parameters] = this.#path.split('?');
      const response = await signedFetch(
        query(path, { ...Object.fromEntries(new URLSearchParams(parameters)), after: this.#after }),
        { signal: abort.signal, headers: { accept: 'text/event-stream' } },
      );
      if (!response.ok) {
        this.#refused(response.status);
        return;
      }
      this.#attempt = 0;
      this.#on.state({ state: 'on' });
      this.#on.fresh();
      await readEvents(response, (event) => this.#deliver(event), alive);
    } catch {
      // Lost, or cut by `stop` or by silence: `finally` goes on from there.
    } finally {
      clearTimeout(silence);
      this.#abort = null;
      if (!this.#stopped) this.#wait();
    }
  }

  #refused(status) {
    // An id the server never gave out: its journal is another one now.
    if (status === 400) this.#after = 'head';
    if (status === 401 || status === 403) {
      this.#stopped = true;
      this.#on.refused?.(status);
    }
  }

  #deliver({ id, event, data }) {
    let body;
    try {
      body = JSON.parse(data);
    } catch {
      return;
    }
    this.#on.event({ ...body.event, ...body, name: event, id });
  }

  #wait() {
    const wait = backoff(this.#attempt);
    this.#attempt += 1;
    this.#on.state({ state: 'lost', retryAt: Date.now() + wait });
    this.#timer = setTimeout(() => this.#connect(), wait);
  }
}
