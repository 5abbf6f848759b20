// Talking to the built-in agent: its steps as they come, its questions answered where they stand.

import { query } from '../api.js';
import { signedFetch } from '../browser-key.js';
import { fill, freshId, h } from '../dom.js';
import { icon } from '../icons.js';
import { t } from '../i18n.js';
import { backoff } from '../live.js';
import { Conversation } from '../parts/conversation.js';
import { readEvents } from '../sse.js';

const PATH = '/api/agent/chat/react/stream';
const KEY = 'placet.chat';

class Chat {
  #running = null;
  #lastId = '';
  #session;
  /** Whether the run has ended, as far as was heard. */
  #over = true;
  /** Whether the agent waits for an answer. */
  #waiting = false;
  /** How often the stream was taken up again without hearing anything. */
  #attempt = 0;
  #timer = 0;
  #log = new Conversation((waiting) => {
    this.#waiting = waiting;
    this.#sayBusy();
  });
  #state = h('p.chat-state', { role: 'status' });
  #input;
  title = t('nav.chat');

  constructor({ sessionId }) {
    this.#session = sessionId ?? sessionStorage.getItem(KEY) ?? undefined;
    const id = freshId('message');
    this.#input = h('textarea', { id, rows: 1, placeholder: t('chat.placeholder'), 'data-message': true });
    const send = h('button.button.button-primary', { type: 'submit', 'aria-label': t('chat.send') }, icon('send'));
    const form = h(
      'form.composer',
      {},
      h('label.visually-hidden', { for: id }, t('chat.placeholder')),
      this.#input,
      send,
    );
    form.addEventListener('submit', (event) => {
      event.preventDefault();
      this.#send();
    });
    this.#input.addEventListener('keydown', (event) => {
      if (event.key !== 'Enter' || event.shiftKey || event.isComposing) return;
      event.preventDefault();
      form.requestSubmit();
    });
    const fresh = h('button.quiet-button', { type: 'button', onclick: () => this.#startOver() }, t('chat.new'));
    this.element = h(
      'div.chat',
      {},
      h('header.chat-head', {}, h('h1', {}, t('nav.chat')), fresh),
      this.#log.element,
      this.#state,
      form,
    );
    if (this.#session) this.#attach();
  }

  destroy() {
    this.#leave();
    this.#log.clear();
  }

  focus() {
    this.#input.focus();
  }

  #say(...words) {
    fill(this.#state, words);
  }

  #sayBusy() {
    this.#say(this.#waiting ? t('chat.waiting') : h('span.working', {}, t('chat.working')));
  }

  /** Stops following whatever is followed. */
  #leave() {
    clearTimeout(this.#timer);
    this.#running?.abort();
    this.#running = null;
  }

  #startOver() {
    this.#leave();
    this.#waiting = false;
    this.#session = undefined;
    this.#lastId = '';
    sessionStorage.removeItem(KEY);
    this.#log.clear();
    this.#say();
    this.#input.focus();
  }

  /** A run that was going on when the page was left, or the stream was cut, is taken up where it was seen last. */
  #attach() {
    this.#stream(query(PATH, { sessionId: this.#session }), {
      method: 'GET',
      headers: this.#lastId ? { 'last-event-id': this.#lastId } : {},
    });
  }

  async #send() {
    const message = this.#input.value.trim();
    if (!message) return;
    this.#input.value = '';
    this.#waiting = false;
    const taken = await this.#stream(PATH, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ message, sessionId: this.#session }),
    });
    // What was not taken is given back.
    if (!taken && !this.#input.value) this.#input.value = message;
  }

  /** Follows one stream to its end; says whether the server took the request. */
  async #stream(path, request) {
    this.#leave();
    const run = new AbortController();
    this.#running = run;
    this.#over = false;
    this.#sayBusy();
    let taken = false;
    try {
      const response = await signedFetch(path, {
        ...request,
        signal: run.signal,
        headers: { ...request.headers, accept: 'text/event-stream' },
      });
      // One that is just stopping is as good as gone.
      if (!response.ok && response.status !== 503) {
        await this.#refused(response, request.method);
        return false;
      }
      taken = response.ok;
      if (taken)
        await readEvents(
          response,
          (event) => this.#event(event),
          (id) => (this.#lastId = id || this.#lastId),
        );
    } catch {
      // Lost, or left on purpose.
    }
    if (this.#running === run) this.#ended(taken || request.method === 'GET');
    return taken;
  }

  /** A stream that ends before its run does was cut, by a restart of the server or on the way: it is taken up again. */
  #ended(known) {
    if (this.#over) {
      this.#say();
    } else if (known && (this.#session || this.#lastId)) {
      this.#timer = setTimeout(() => this.#attach(), backoff(this.#attempt));
      this.#attempt += 1;
      this.#say(
        h('span.fault', {}, t('chat.cut')),
        ' ',
        h('button.quiet-button', { type: 'button', onclick: () => this.#attach() }, t('line.retry')),
      );
    } else {
      this.#say(h('span.fault', {}, t('chat.cut')));
    }
  }

  async #refused(response, method) {
    const problem = await response.json().catch(() => ({}));
    // There is nothing to take up: the conversation of before is gone, which is no fault.
    if (method === 'GET' && response.status === 404) {
      this.#startOver();
    } else {
      const none = [404, 405, 501].includes(response.status);
      this.#say(
        h('span.fault', {}, none ? t('chat.none') : t('fate.refused', { why: problem.detail ?? response.status })),
      );
    }
  }

  #event({ event, data }) {
    let body;
    try {
      body = JSON.parse(data);
    } catch {
      return;
    }
    if (body.sessionId) {
      this.#session = body.sessionId;
      sessionStorage.setItem(KEY, body.sessionId);
    }
    const type = body.type ?? event;
    this.#over = type === 'COMPLETED' || type === 'ERROR';
    this.#attempt = 0;
    this.#log.take(type, body.data ?? {});
  }
}

/** @returns {import('../main.js').Page} */
export const chatPage = (route) => new Chat(route);
