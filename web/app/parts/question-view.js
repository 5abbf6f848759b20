// One question, complete: what would happen, why it is asked and by whom, and how to answer. Used by the inbox and the chat.

import { outcome } from '../answering.js';
import { api } from '../api.js';
import { fill, h } from '../dom.js';
import { guard } from '../guard.js';
import { icon } from '../icons.js';
import { names, t } from '../i18n.js';
import { sessionPath } from '../router.js';
import { store, withDeadline } from '../store.js';
import { AnswerBar } from './answer-bar.js';
import { countdown } from './countdown.js';
import { blocks, headingOf } from './document.js';
import { riskBadge, riskClass } from './risk.js';
import { raw, safe, sentence } from './text.js';
import { announce, toast } from './toast.js';

const TONES = { decided: 'good', voted: 'good', askedAgain: 'note', lost: 'warn', refused: 'warn', unsure: 'warn' };

export class QuestionView {
  #question;
  #bar = null;
  #drawn = '';
  #metaDrawn = '';
  #stop = new AbortController();
  #onFate;
  #inline;
  #heading = h('h1.question-heading', { tabindex: '-1' });
  #meta = h('div.question-meta');
  #byline = h('p.byline');
  #head = h('div.blocks');
  #body = h('div.blocks.blocks-quiet');
  #foot = h('div.answer-place');
  #article;

  /**
   * @param {object} question
   * @param {{ onFate?: (fate: object, question: object) => void, inline?: boolean }} [how]
   *   `inline` is for a question among other things, where it is not the page's subject
   */
  constructor(question, { onFate = () => {}, inline = false } = {}) {
    this.#question = question.deadline === undefined ? withDeadline(question) : question;
    this.#onFate = onFate;
    this.#inline = inline;
    this.#article = h(
      'article.question',
      { class: `${riskClass(question.risk)} ${inline ? 'question-inline' : ''}`, 'data-question': question.requestId },
      this.#meta,
      h('header.question-header', {}, this.#heading, this.#byline),
      this.#head,
      this.#body,
    );
    this.element = h('div.question-frame', {}, this.#article, this.#foot);
    this.#draw();
    guard.addEventListener('focused', () => this.#bar?.settle(), { signal: this.#stop.signal });
    store.on('journal', ({ detail }) => this.#note(detail), this.#stop.signal);
    store.on('fresh', () => this.reload(), this.#stop.signal);
  }

  get question() {
    return this.#question;
  }

  /** The ways to answer, while there are any; for keys. */
  get bar() {
    return this.#bar;
  }

  focus() {
    this.#heading.focus({ preventScroll: true });
  }

  destroy() {
    this.#stop.abort();
    guard.left(this.#question.requestId);
  }

  #note(event) {
    const mine =
      event.interaction === this.#question.requestId ||
      (event.name === 'sessionEnded' && event.sessionId === this.#question.sessionId);
    if (mine) this.reload();
  }

  /** Asks the server again: somebody voted, decided, or time ran out. */
  async reload() {
    try {
      const question = await api.question(this.#question.requestId);
      if (!this.#stop.signal.aborted) this.show(question);
    } catch {
      // Gone from our sight, or the line is down: what is shown stays, and the live line says the rest.
    }
  }

  /** Shows the question as it is now. */
  show(question) {
    const before = this.#question.status;
    this.#question = withDeadline(question);
    this.#draw();
    if (before === 'pending' && question.status !== 'pending') announce(outcome(question).text, { urgent: true });
  }

  #draw() {
    const question = this.#question;
    const how = { foldable: question.risk !== 'HIGH' };
    // Only what changed is drawn again: a redraw must not take away what somebody is typing or reading.
    const shown = JSON.stringify([question.document?.head, question.document?.body]);
    if (shown !== this.#drawn) {
      this.#drawn = shown;
      fill(this.#heading, sentence(headingOf(question.document) || question.title));
      fill(this.#byline, byline(question));
      fill(this.#head, h('h2.visually-hidden', {}, t('question.what')), blocks(question.document?.head ?? [], how));
      fill(this.#body, blocks(question.document?.body ?? [], how));
    }
    this.#drawMeta();
    this.#drawFoot();
  }

  #drawMeta() {
    const question = this.#question;
    const print = JSON.stringify([question.status, question.votes, question.deadline]);
    if (print === this.#metaDrawn) return;
    this.#metaDrawn = print;
    const pending = question.status === 'pending';
    fill(
      this.#meta,
      riskBadge(question.risk, { long: true }),
      h('span.code-badge', { title: t('question.code') }, question.code),
      question.votes?.needed > 1 &&
        h(
          'span.votes',
          {},
          icon('people'),
          t('question.votes', { have: question.votes.have, needed: question.votes.needed }),
        ),
      pending && question.deadline !== undefined && countdown(question, { bar: true, onOver: () => this.#over() }),
    );
  }

  /** Time has run out here; the server has the last word, but nothing can be pressed any more. */
  #over() {
    if (this.#bar) {
      this.#bar = null;
      fill(this.#foot, banner('warn', t('outcome.runningOut')));
    }
    // The server's own clock decides; ours may be a moment ahead.
    setTimeout(() => this.reload(), 400);
  }

  #drawFoot() {
    const question = this.#question;
    this.#article.dataset.status = question.status;
    if (question.status !== 'pending') {
      this.#bar = null;
      const { tone, text, feedback } = outcome(question);
      fill(this.#foot, banner(tone, text, feedback));
    } else if (question.mayAnswer === false) {
      this.#bar = null;
      fill(this.#foot, banner('note', waitingFor(question)));
    } else if (this.#bar) {
      this.#bar.update(question);
    } else if (question.deadline === undefined || question.deadline > performance.now()) {
      this.#bar = new AnswerBar(question, (fate) => this.#settled(fate));
      const fields = (question.document?.foot ?? []).filter(
        ({ block }) => block === 'field' || block === 'warning' || block === 'text',
      );
      fill(
        this.#foot,
        fields.length > 0 && h('div.blocks.blocks-foot', {}, blocks(fields, { foldable: false })),
        this.#bar.element,
      );
    }
  }

  #settled(fate) {
    toast(fate.text, TONES[fate.kind] ?? 'note');
    if (fate.kind !== 'decided') this.reload();
    else
      this.show({
        ...this.#question,
        status: 'answered',
        resolution: {
          how: 'answered',
          by: [store.me?.name].filter(Boolean),
          at: new Date().toISOString(),
          option: fate.optionId,
        },
      });
    store.reloadSoon();
    this.#onFate(fate, this.#question);
  }
}

function banner(tone, text, more) {
  const icons = { good: 'check', bad: 'cross', warn: 'warning', note: 'info' };
  return h(
    'div.outcome',
    { class: `outcome-${tone}`, 'data-outcome': tone, role: 'status' },
    icon(icons[tone]),
    h('div', {}, h('p', {}, text), more && h('blockquote.quote', {}, h('p.prose', {}, safe(more)))),
  );
}

function waitingFor(question) {
  const voted = question.votes?.by ?? [];
  if (voted.includes(store.me?.name) || voted.includes(store.me?.person))
    return t('question.youVoted', { n: Math.max(1, question.votes.needed - question.votes.have) });
  return question.askedOf?.length ? t('question.notYours', { names: names(question.askedOf) }) : (question.why ?? '');
}

function byline(question) {
  const path = [question.agent, ...(question.agentPath ?? [])].filter(Boolean);
  return [
    path.length > 0 && [h('span.agent', {}, raw(path.join(' › '))), h('span.dot', { 'aria-hidden': 'true' }, '·')],
    h('a', { href: sessionPath(question.sessionId) }, raw(question.sessionId)),
    question.user && [
      h('span.dot', { 'aria-hidden': 'true' }, '·'),
      raw(t('question.onBehalf', { name: question.user })),
    ],
    question.channel && [h('span.dot', { 'aria-hidden': 'true' }, '·'), raw(question.channel)],
  ];
}
