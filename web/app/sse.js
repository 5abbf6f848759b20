// Server-sent events over `fetch`: unlike `EventSource` it tells a refusal from a lost connection, and it can POST.

/** @typedef {{ id: string, event: string, data: string }} ServerEvent */

/** Turns text as it arrives into events, by the rules of the HTML standard. */
export class EventParser {
  #rest = '';
  #event = '';
  #data = [];
  #id = '';

  /** The last id that was sent, with an event or without: where to resume. */
  get id() {
    return this.#id;
  }

  /**
   * @param {string} text the next piece, cut anywhere
   * @returns {ServerEvent[]} what is complete now
   */
  push(text) {
    this.#rest += text;
    const events = [];
    for (;;) {
      const end = this.#rest.search(/\r\n|\n|\r/);
      // A lone CR at the end may be the first half of CRLF.
      if (end < 0 || (this.#rest[end] === '\r' && end === this.#rest.length - 1)) return events;
      const line = this.#rest.slice(0, end);
      this.#rest = this.#rest.slice(end + (this.#rest.startsWith('\r\n', end) ? 2 : 1));
      if (line === '') {
        if (this.#data.length)
          events.push({ id: this.#id, event: this.#event || 'message', data: this.#data.join('\n') });
        this.#event = '';
        this.#data = [];
      } else {
        this.#field(line);
      }
    }
  }

  #field(line) {
    const colon = line.indexOf(':');
    if (colon === 0) return;
    const name = colon < 0 ? line : line.slice(0, colon);
    const value = colon < 0 ? '' : line.slice(colon + 1).replace(/^ /, '');
    if (name === 'event') this.#event = value;
    else if (name === 'data') this.#data.push(value);
    else if (name === 'id' && !value.includes('\0')) this.#id = value;
  }
}

/**
 * Reads a response to its end, event by event. `onAlive` is called after every piece, keep-alive comments included, with the
 * last id that was sent.
 * @param {Response} response
 * @param {(event: ServerEvent) => void} onEvent
 * @param {(id: string) => void} [onAlive]
 */
export async function readEvents(response, onEvent, onAlive = () => {}) {
  const parser = new EventParser();
  const decoder = new TextDecoder();
  const reader = response.body.getReader();
  for (;;) {
    const { done, value } = await reader.read();
    if (done) return;
    for (const event of parser.push(decoder.decode(value, { stream: true }))) onEvent(event);
    onAlive(parser.id);
  }
}
