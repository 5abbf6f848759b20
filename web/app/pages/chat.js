// Talking to the built-in agent: its steps as they come, its questions answered where they stand.

import { fill, freshId, h } from '../dom.js';
import { icon } from '../icons.js';
import { t } from '../i18n.js';
import { Conversation } from '../parts/conversation.js';
import { readEvents } from '../sse.js';

const PATH = '/api/agent/chat/react/stream';
const KEY = 'placet.chat';

class Chat {
  #running = null;
  #lastId = '';
  #session;
  #log = new Conversation((waiting) => this.#say(waiting ? t('chat.waiting') : working()));
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
    this.#running?.abort();
    this.#log.clear();
  }

  focus() {
    this.#input.focus();
  }

  #say(...words) {
    fill(this.#state, words);
  }

  #startOver() {
    this.#running?.abort();
    this.#running = null;
    this.#session = undefined;
    this.#lastId = '';
    sessionStorage.removeItem(KEY);
    this.#log.clear();
    this.#say();
    this.#input.focus();
  }

  /** A run that was going on when the page was left is taken up where it was seen last. */
  #attach() {
    this.#stream(`${PATH}?${new URLSearchParams({ sessionId: this.#session })}`, {
      method: 'GET',
      headers: this.#lastId ? { 'last-event-id': this.#lastId } : {},
    });
  }

  async #send() {
    const message = this.#input.value.trim();
    if (!message) return;
    this.#input.value = '';
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
    this.#running?.abort();
    const run = new AbortController();
    this.#running = run;
    this.#say(working());
    let taken = false;
    try {
      const response = await fetch(path, {
        ...request,
        signal: run.signal,
        credentials: 'same-origin',
        cache: 'no-store',
        headers: { ...request.headers, accept: 'text/event-stream' },
      });
      if (!response.ok) {
        await this.#refused(response, request.method);
        return false;
      }
      taken = true;
      await readEvents(
        response,
        (event) => this.#event(event),
        (id) => (this.#lastId = id || this.#lastId),
      );
      if (this.#running === run) this.#say();
    } catch {
      if (!run.signal.aborted)
        this.#say(
          h('span.fault', {}, t('chat.cut')),
          ' ',
          h('button.quiet-button', { type: 'button', onclick: () => this.#attach() }, t('line.retry')),
        );
    }
    return taken;
  }

  async #refused(response, method) {
    const problem = await response.json().catch(() => ({}));
    // There is nothing to take up: the conversation of before is gone, which is no fault.
    if (method === 'GET' && response.status === 404) {
      this.#startOver();
    } else {
      const none = [404, 405, 501, 503].includes(response.status);
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
    this.#log.take(body.type ?? event, body.data ?? {});
  }
}

const working = () => h('span.working', {}, t('chat.working'));

/** @returns {import('../main.js').Page} */
export const chatPage = (route) => new Chat(route);
