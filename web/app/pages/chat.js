// Talking to the built-in agent: its steps as they come, its requests decided beside the message box, and the list of chats.

import { api, query } from '../api.js';
import { signedFetch } from '../browser-key.js';
import { forgetChat, lastChat, noteChat } from '../chats.js';
import { drafted, keepDraft } from '../drafts.js';
import { fill, freshId, h } from '../dom.js';
import { icon } from '../icons.js';
import { t } from '../i18n.js';
import { backoff } from '../live.js';
import { drawChats } from '../parts/chat-list.js';
import { Conversation } from '../parts/conversation.js';
import { RunPanel } from '../parts/run-panel.js';
import { chatPath, go, rename } from '../router.js';
import { readEvents } from '../sse.js';
import { store } from '../store.js';

const PATH = '/api/agent/chat/react/stream';
const DRAFT = 'chat';
/** After these the run stands elsewhere. */
const CHANGES_RUN = new Set(['STARTED', 'INTERACTION', 'INTERACTION_RESOLVED', 'COMPLETED', 'ERROR']);

class Chat {
  #stop = new AbortController();
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
  #run = new RunPanel();
  #list = h('ul.chat-list');
  #input;
  title = t('nav.chat');

  constructor(route) {
    // Without a name it is the chat that was used last, in whichever tab: "yes" belongs to what was asked there.
    this.#session = route.sessionId ?? (route.new === undefined ? lastChat() : undefined);
    this.element = h(
      'div.chat-page',
      { 'data-list': 'closed' },
      h(
        'nav.chats',
        { 'aria-label': t('chat.list') },
        h('a.button', { href: '/chat?new=' }, icon('chat'), t('chat.new')),
        h('a.runs-link', { href: '/runs' }, t('runs.link')),
        this.#list,
      ),
      h(
        'div.chat',
        {},
        this.#head(),
        this.#run.element,
        this.#log.element,
        this.#log.dock,
        this.#state,
        this.#composer(),
      ),
    );
    store.on('pending', () => this.#drawList(), this.#stop.signal);
    addEventListener('storage', () => this.#drawList(), { signal: this.#stop.signal });
    this.#drawList();
    if (this.#session) this.#attach();
  }

  destroy() {
    this.#stop.abort();
    this.#leave();
    this.#log.clear();
  }

  focus() {
    this.#input.focus({ preventScroll: true });
  }

  #head() {
    const toggle = h(
      'button.icon-button.chats-toggle',
      {
        type: 'button',
        'aria-label': t('chat.list'),
        'aria-expanded': 'false',
        onclick: () => {
          const open = this.element.dataset.list !== 'open';
          this.element.dataset.list = open ? 'open' : 'closed';
          toggle.setAttribute('aria-expanded', String(open));
        },
      },
      icon('sessions'),
    );
    return h(
      'header.chat-head',
      {},
      toggle,
      h('h1', {}, t('nav.chat')),
      h('a.chat-new', { href: '/chat?new=' }, t('chat.new')),
    );
  }

  #composer() {
    const id = freshId('message');
    this.#input = h('textarea', { id, rows: 1, placeholder: t('chat.placeholder'), 'data-message': true });
    drafted(this.#input, DRAFT);
    const send = h('button.button.button-primary', { type: 'submit', 'aria-label': t('prompt.send') }, icon('send'));
    const label = h('label.visually-hidden', { for: id }, t('chat.placeholder'));
    const form = h('form.composer', {}, label, this.#input, send);
    form.addEventListener('submit', (event) => {
      event.preventDefault();
      this.#send();
    });
    this.#input.addEventListener('keydown', (event) => {
      if (event.key !== 'Enter' || event.shiftKey || event.isComposing) return;
      event.preventDefault();
      form.requestSubmit();
    });
    return form;
  }

  #drawList() {
    drawChats(this.#list, this.#session);
  }

  #say(...words) {
    fill(this.#state, words);
  }

  #sayBusy() {
    if (this.#over && !this.#waiting) this.#say();
    else this.#say(this.#waiting ? t('chat.waiting') : h('span.working', {}, t('chat.working')));
  }

  /** Stops following whatever is followed. */
  #leave() {
    clearTimeout(this.#timer);
    this.#running?.abort();
    this.#running = null;
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
    if (!message || (await this.#answered(message))) return;
    this.#takeText();
    this.#waiting = false;
    const taken = await this.#stream(
      PATH,
      {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify({ message, sessionId: this.#session }),
      },
      message,
    );
    // What was not taken is given back.
    if (!taken && !this.#input.value) {
      this.#input.value = message;
      keepDraft(DRAFT, message);
    }
  }

  #takeText() {
    this.#input.value = '';
    keepDraft(DRAFT, '');
  }

  /** A typed reply to a request of this chat goes the way of its buttons; says whether it was one. */
  async #answered(message) {
    const open = this.#log.open;
    if (open.length === 0) return false;
    let read;
    try {
      read = await api.reading(
        message,
        open.map(({ question }) => question.requestId),
      );
    } catch (problem) {
      this.#say(h('span.fault', {}, t('fate.refused', { why: problem.message })));
      return true;
    }
    if (read.reading === 'other') return false;
    if (read.reading !== 'answer' || read.choices.length === 0) {
      const codes = open.map(({ question }) => question.code);
      this.#say(h('span.fault', {}, t(read.reading === 'unknownCode' ? 'chat.unknownCode' : 'chat.which', { codes })));
      return true;
    }
    const views = new Map(open.map((view) => [view.question.requestId, view]));
    const taken = read.choices.map(({ requestId, optionId, feedback }) =>
      views.get(requestId)?.bar?.takeTyped(optionId, feedback),
    );
    if (taken.some(Boolean)) this.#takeText();
    return true;
  }

  /** Follows one stream to its end; says whether the server took the request. */
  async #stream(path, request, said) {
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
          (event) => this.#event(event, said),
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
    this.#over = true;
    const problem = await response.json().catch(() => ({}));
    // The server does not know this chat (any more): begin a new one.
    if (method === 'GET' && response.status === 404) {
      if (this.#session) forgetChat(this.#session);
      go('/chat?new=', { replace: true });
    } else {
      const none = [404, 405, 501].includes(response.status);
      this.#say(
        h('span.fault', {}, none ? t('chat.none') : t('fate.refused', { why: problem.detail ?? response.status })),
      );
    }
  }

  #event({ event, data }, said) {
    let body;
    try {
      body = JSON.parse(data);
    } catch {
      return;
    }
    const type = body.type ?? event;
    if (body.sessionId && (body.sessionId !== this.#session || type === 'STARTED')) {
      this.#session = body.sessionId;
      noteChat(body.sessionId, said ?? body.data?.message);
      rename(chatPath(body.sessionId));
      this.#drawList();
    }
    this.#over = type === 'COMPLETED' || type === 'ERROR';
    this.#attempt = 0;
    this.#log.take(type, body.data ?? {});
    if (!this.#waiting) this.#sayBusy();
    if (CHANGES_RUN.has(type)) this.#run.show(this.#session);
  }
}

/** @returns {import('../main.js').Page} */
export const chatPage = (route) => new Chat(route);
