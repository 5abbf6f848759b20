// Talking to the built-in agent: its steps as they come, its questions answered where they stand.

import { fill, freshId, h } from '../dom.js';
import { icon } from '../icons.js';
import { t } from '../i18n.js';
import { QuestionView } from '../parts/question-view.js';
import { raw } from '../parts/text.js';
import { readEvents } from '../sse.js';
import { store } from '../store.js';

const PATH = '/api/agent/chat/react/stream';
const KEY = 'placet.chat';

class Chat {
  #stop = new AbortController();
  #running = null;
  #questions = [];
  #log = h('div.chat-log', { role: 'log', 'aria-label': t('chat.log') });
  #state = h('p.chat-state', { role: 'status' });
  #input;
  #send;
  title = t('nav.chat');

  constructor() {
    const id = freshId('message');
    this.#input = h('textarea', { id, rows: 1, placeholder: t('chat.placeholder'), 'data-message': true });
    this.#send = h('button.button.button-primary', { type: 'submit', 'aria-label': t('chat.send') }, icon('send'));
    const form = h('form.composer', {}, h('label.visually-hidden', { for: id }, t('chat.placeholder')), this.#input, this.#send);
    form.addEventListener('submit', (event) => {
      event.preventDefault();
      this.#say(this.#input.value.trim());
    });
    this.#input.addEventListener('keydown', (event) => {
      if (event.key !== 'Enter' || event.shiftKey || event.isComposing) return;
      event.preventDefault();
      form.requestSubmit();
    });
    const fresh = h('button.quiet-button', { type: 'button', onclick: () => this.#startOver() }, t('chat.new'));
    this.element = h('div.chat', {}, h('header.chat-head', {}, h('h1', {}, t('nav.chat')), fresh), this.#log, this.#state, form);
    this.#hello();
    this.#attach();
  }

  destroy() {
    this.#stop.abort();
    this.#running?.abort();
    for (const view of this.#questions) view.destroy();
  }

  focus() {
    this.#input.focus();
  }

  #hello() {
    fill(this.#log, h('p.chat-hello.quiet', {}, t('chat.hello')));
  }

  #startOver() {
    this.#running?.abort();
    sessionStorage.removeItem(KEY);
    this.#hello();
    fill(this.#state);
    this.#input.focus();
  }

  /** A run that was going on when the page was left is taken up where it is. */
  #attach() {
    const sessionId = sessionStorage.getItem(KEY);
    if (sessionId) this.#stream(`${PATH}?${new URLSearchParams({ sessionId })}`, { method: 'GET' });
  }

  #say(message) {
    if (!message) return;
    this.#input.value = '';
    this.#log.querySelector('.chat-hello')?.remove();
    this.#add(h('div.bubble.bubble-me', {}, h('p.prose', {}, message)));
    const sessionId = sessionStorage.getItem(KEY) ?? undefined;
    this.#stream(PATH, { method: 'POST', headers: { 'content-type': 'application/json' }, body: JSON.stringify({ message, sessionId, userId: store.me?.person }) });
  }

  async #stream(path, request) {
    this.#running?.abort();
    const run = new AbortController();
    this.#running = run;
    fill(this.#state, h('span.working', {}, t('chat.working')));
    try {
      const response = await fetch(path, { ...request, signal: run.signal, credentials: 'same-origin', headers: { ...request.headers, accept: 'text/event-stream' } });
      if (!response.ok) {
        fill(this.#state, h('span.fault', {}, t(response.status === 404 ? 'chat.none' : 'fate.refused', { why: response.statusText || response.status })));
        return;
      }
      await readEvents(response, (event) => this.#event(event));
      if (this.#running === run) fill(this.#state);
    } catch {
      if (!run.signal.aborted) fill(this.#state, h('span.fault', {}, t('chat.cut')), ' ', h('button.quiet-button', { type: 'button', onclick: () => this.#attach() }, t('line.retry')));
    }
  }

  #event({ event, data }) {
    let body;
    try {
      body = JSON.parse(data);
    } catch {
      return;
    }
    if (body.sessionId) sessionStorage.setItem(KEY, body.sessionId);
    (EVENTS[body.type ?? event] ?? (() => {})).call(this, body.data ?? {});
  }

  #add(node) {
    const nearEnd = this.#log.scrollHeight - this.#log.scrollTop - this.#log.clientHeight < 120;
    this.#log.append(node);
    if (nearEnd) this.#log.scrollTop = this.#log.scrollHeight;
  }

  step(kind, data) {
    const text = wordsOf(data);
    this.#add(h('div.chat-step', { 'data-step': kind }, h('span.chat-step-name', {}, t(`chat.${kind}`)), kind === 'thinking' ? h('p.prose', {}, raw(text)) : h('pre.code', { tabindex: '0' }, raw(text))));
  }

  answer(data) {
    this.#add(h('div.bubble.bubble-agent', {}, h('p.prose', {}, raw(wordsOf(data)))));
    fill(this.#state);
  }

  fail(data) {
    this.#add(h('p.fault', { role: 'alert' }, raw(wordsOf(data))));
    fill(this.#state);
  }

  ask(question) {
    const known = this.#questions.find((view) => view.question.requestId === question.requestId);
    if (known) return known.show(question);
    const view = new QuestionView(question, { inline: true });
    this.#questions.push(view);
    this.#add(view.element);
    fill(this.#state, t('chat.waiting'));
    return undefined;
  }

  resolved() {
    for (const view of this.#questions) view.reload();
    fill(this.#state, h('span.working', {}, t('chat.working')));
  }
}

const EVENTS = {
  THINKING(data) {
    this.step('thinking', data);
  },
  ACTION(data) {
    this.step('action', data);
  },
  OBSERVATION(data) {
    this.step('observation', data);
  },
  INTERACTION(data) {
    this.ask(data);
  },
  INTERACTION_RESOLVED() {
    this.resolved();
  },
  COMPLETED(data) {
    this.answer(data);
  },
  ERROR(data) {
    this.fail(data);
  },
};

/** What an event says: its text where it has one, everything otherwise. */
function wordsOf(data) {
  if (typeof data === 'string') return data;
  return data.text ?? data.content ?? data.message ?? data.answer ?? JSON.stringify(data, null, 2);
}

/** @returns {import('../main.js').Page} */
export const chatPage = () => new Chat();
