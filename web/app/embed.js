// For pages of other authors on this origin: after `import '/app/embed.js'` their `fetch` and `EventSource` carry the proof
// of the signed-in browser, which a plain `EventSource` cannot send.

import { signedFetch } from './browser-key.js';
import { backoff } from './live.js';
import { readEvents } from './sse.js';

const plainFetch = globalThis.fetch.bind(globalThis);

/** Whether an address is one of this server's endpoints. */
function isOurs(address) {
  const { origin, pathname } = new URL(address, location.href);
  return origin === location.origin && /^\/(v1|api)\//.test(pathname);
}

/** The calls of the standard's `EventSource`, over `signedFetch`. */
class SignedEventSource extends EventTarget {
  static CONNECTING = 0;
  static OPEN = 1;
  static CLOSED = 2;
  readyState = SignedEventSource.CONNECTING;
  onopen = null;
  onmessage = null;
  onerror = null;
  #stop = new AbortController();
  #lastId = '';
  #attempt = 0;

  constructor(address) {
    super();
    this.url = new URL(address, location.href).href;
    for (const name of ['open', 'message', 'error']) this.addEventListener(name, (event) => this[`on${name}`]?.(event));
    this.#connect();
  }

  close() {
    this.readyState = SignedEventSource.CLOSED;
    this.#stop.abort();
  }

  async #connect() {
    const headers = { accept: 'text/event-stream', ...(this.#lastId && { 'last-event-id': this.#lastId }) };
    const response = await signedFetch(this.url, { signal: this.#stop.signal, headers }).catch(() => null);
    // As the standard says, a refusal is final. One that is just stopping is as good as gone.
    if (response && !response.ok && response.status !== 503) this.close();
    else if (response?.ok) await this.#follow(response).catch(() => {});
    if (this.readyState !== SignedEventSource.CLOSED) {
      this.readyState = SignedEventSource.CONNECTING;
      setTimeout(() => this.#stop.signal.aborted || this.#connect(), backoff(this.#attempt++));
    }
    this.dispatchEvent(new Event('error'));
  }

  async #follow(response) {
    this.readyState = SignedEventSource.OPEN;
    this.#attempt = 0;
    this.dispatchEvent(new Event('open'));
    await readEvents(
      response,
      ({ event, data, id }) =>
        this.dispatchEvent(new MessageEvent(event, { data, lastEventId: id, origin: location.origin })),
      (id) => (this.#lastId = id || this.#lastId),
    );
  }
}

globalThis.fetch = (resource, init) =>
  typeof resource === 'string' && isOurs(resource)
    ? signedFetch(new URL(resource, location.href).href, init)
    : plainFetch(resource, init);
globalThis.EventSource = SignedEventSource;
