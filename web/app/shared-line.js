// One live line for all tabs of a browser. Over HTTP/1.1 a browser opens six connections to a server: with a line each, the
// seventh tab would wait forever.
//
// The tab that holds the lock keeps the line and tells the others what it hears. When it is closed, the next one takes the line
// up after the last event it was told of, so nothing is lost or repeated. Browsers without locks get a line for each tab.

import { Line } from './live.js';

/** The same calls as a `Line`'s. */
export class SharedLine {
  #path;
  #on;
  #name;
  /** The line, in the tab that keeps it. */
  #line = null;
  #channel = null;
  #stop = new AbortController();
  #after = 'head';
  #state = { state: 'connecting' };

  /**
   * @param {string} name tabs with the same name share
   * @param {string} path without `after`
   * @param {ConstructorParameters<typeof Line>[1]} on
   */
  constructor(name, path, on) {
    this.#name = name;
    this.#path = path;
    this.#on = on;
  }

  start() {
    this.#on.state(this.#state);
    if (!navigator.locks) {
      this.#keep();
      return;
    }
    this.#channel = new BroadcastChannel(this.#name);
    this.#channel.addEventListener('message', ({ data }) => this.#told(data));
    this.#tell({ hello: true });
    navigator.locks
      .request(this.#name, { signal: this.#stop.signal }, () => {
        this.#keep();
        return new Promise((release) => this.#stop.signal.addEventListener('abort', release));
      })
      .catch(() => {
        // Stopped before it was this tab's turn.
      });
  }

  stop() {
    this.#line?.stop();
    this.#stop.abort();
    this.#channel?.close();
  }

  /** Tries at once instead of waiting. */
  retryNow() {
    if (this.#line) this.#line.retryNow();
    else this.#tell({ retry: true });
  }

  #tell(message) {
    this.#channel?.postMessage(message);
  }

  /** This tab keeps the line from now on. */
  #keep() {
    if (this.#stop.signal.aborted) return;
    const pass = (kind, act) => (said) => {
      this.#tell({ [kind]: said });
      act(said);
    };
    this.#line = new Line(
      this.#path,
      {
        event: pass('event', (event) => this.#on.event(event)),
        at: pass('at', (id) => (this.#after = id)),
        refused: pass('refused', (status) => this.#on.refused?.(status)),
        state: pass('state', (state) => {
          this.#state = state;
          this.#on.state(state);
        }),
        fresh: () => this.#on.fresh(),
      },
      this.#after,
    );
    this.#line.start();
  }

  /** What another tab said. */
  #told({ hello, retry, event, at, state, refused }) {
    if (this.#line) {
      if (hello) {
        this.#tell({ at: this.#after });
        this.#tell({ state: this.#state });
      }
      if (retry) this.#line.retryNow();
      return;
    }
    if (at) this.#after = at;
    if (event) this.#on.event(event);
    if (refused) this.#on.refused?.(refused);
    if (state) {
      const back = state.state === 'on' && this.#state.state !== 'on';
      this.#state = state;
      this.#on.state(state);
      if (back) this.#on.fresh();
    }
  }
}
