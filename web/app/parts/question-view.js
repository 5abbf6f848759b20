// One question, complete: what would happen, why it is asked and by whom, and how to answer. Used by the inbox and the chat.

import { outcome, stillMissing } from '../answering.js';
import { api } from '../api.js';
import { fill, h } from '../dom.js';
import { guard } from '../guard.js';
import { held } from '../held.js';
import { icon } from '../icons.js';
import { t } from '../i18n.js';
import { store, withDeadline } from '../store.js';
import { AnswerBar } from './answer-bar.js';
import { Comments } from './comments.js';
import { countdown } from './countdown.js';
import { byline } from './byline.js';
import { blocks, headingOf } from './document.js';
import { heldDecision } from './held-bar.js';
import { ran } from './ran.js';
import { riskBadge, riskClass } from './risk.js';
import { raw, safe, sentence } from './text.js';
import { announce, toast } from './toast.js';

/** How often an approved call is looked at while it has not ended: approvers get no events of it. */
const LOOK_FIRST_MS = 1000;
const LOOK_MAX_MS = 15_000;

const TONES = { decided: 'good', voted: 'good', askedAgain: 'note', lost: 'warn', refused: 'warn', unsure: 'warn' };

export class QuestionView {
  #question;
  #bar = null;
  #drawn = '';
  #metaDrawn = '';
  #stop = new AbortController();
  #onFate;
  #onChange;
  #looking = { timer: 0, wait: LOOK_FIRST_MS, state: '' };
  #inline;
  #heading = h('h1.question-heading', { tabindex: '-1' });
  #meta = h('div.question-meta');
  #byline = h('p.byline');
  #why = h('div.why-asked');
  #head = h('div.blocks');
  #body = h('div.blocks.blocks-quiet');
  #comments;
  #foot = h('div.answer-place');
  #article;

  /**
   * @param {object} question
   * @param {{ onFate?: (fate: object, question: object) => void, onChange?: () => void, inline?: boolean }} [how]
   *   `inline` is for a question among other things, where it is not the page's subject and its buttons may stand elsewhere
   */
  constructor(question, { onFate = () => {}, onChange = () => {}, inline = false } = {}) {
    this.#question = question.deadline === undefined ? withDeadline(question) : question;
    this.#onFate = onFate;
    this.#onChange = onChange;
    this.#inline = inline;
    this.#comments = new Comments(question, (changed) => this.show(changed));
    this.#article = h(
      'article.question',
      { class: `${riskClass(question.risk)} ${inline ? 'question-inline' : ''}`, 'data-question': question.requestId },
      this.#meta,
      h('header.question-header', {}, this.#heading, this.#byline, this.#why),
      this.#head,
      this.#body,
      !inline && this.#comments.element,
    );
    this.element = h('div.question-frame', {}, this.#article, this.#foot);
    this.#draw();
    guard.addEventListener('focused', () => this.#bar?.settle(), { signal: this.#stop.signal });
    store.on('journal', ({ detail }) => this.#note(detail), this.#stop.signal);
    store.on('fresh', () => this.reload(), this.#stop.signal);
    held.addEventListener('change', () => this.#drawFoot(), { signal: this.#stop.signal });
  }

  get question() {
    return this.#question;
  }

  /** The ways to answer, while there are any; for keys. */
  get bar() {
    return this.#bar;
  }

  /** Where it is answered. */
  get foot() {
    return this.#foot;
  }

  focus() {
    this.#heading.focus({ preventScroll: true });
  }

  destroy() {
    this.#stop.abort();
    clearTimeout(this.#looking.timer);
    guard.left(this.#question.requestId);
  }

  #note(event) {
    const { requestId, sessionId } = this.#question;
    const ended = event.name === 'sessionEnded' && event.sessionId === sessionId;
    if (event.interaction === requestId || ended) this.reload();
  }

  /** Loads the request again: after a vote, a decision or its expiry. */
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
    this.#onChange();
    if (before === 'pending' && question.status !== 'pending') announce(outcome(question).text, { urgent: true });
  }

  #draw() {
    const question = this.#question;
    const how = { foldable: question.risk !== 'HIGH', risk: question.call && question.risk };
    // Only what changed is drawn again: a redraw must not disturb typing or reading.
    const shown = JSON.stringify([question.document?.head, question.document?.body]);
    if (shown !== this.#drawn) {
      this.#drawn = shown;
      fill(this.#heading, sentence(headingOf(question.document) || question.title));
      fill(this.#byline, byline(question));
      const [why, head] = whereAndWhy(question);
      fill(this.#why, h('h2.visually-hidden', {}, t('question.what')), blocks(why, how));
      fill(this.#head, blocks(head, how));
      fill(this.#body, blocks(question.document?.body ?? [], how));
    }
    this.#comments.draw(question);
    this.#drawMeta();
    this.#drawFoot();
    this.#lookAgain(question.ran?.state);
  }

  /** Looks again, ever less often, until the call has ended. */
  #lookAgain(state) {
    const looking = this.#looking;
    clearTimeout(looking.timer);
    if (state !== 'waiting' && state !== 'running') return;
    looking.wait = looking.state === state ? Math.min(LOOK_MAX_MS, looking.wait * 1.5) : LOOK_FIRST_MS;
    looking.state = state;
    looking.timer = setTimeout(() => this.reload(), looking.wait);
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
          pending && stillMissing(question),
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
      fill(this.#foot, banner(tone, text, feedback, ran(question)));
    } else if (held.get(question.requestId)) {
      this.#bar = null;
      fill(
        this.#foot,
        h('div.outcome.outcome-note', { 'data-outcome': 'held' }, heldDecision(held.get(question.requestId))),
      );
    } else if (question.mayAnswer === false) {
      this.#bar = null;
      fill(this.#foot, banner('note', waitingFor(question)));
    } else if (this.#bar) {
      this.#bar.update(question);
    } else if (question.deadline === undefined || question.deadline > performance.now()) {
      this.#bar = new AnswerBar(
        question,
        (fate) => this.#settled(fate),
        (answer, option) => this.#hold(answer, option),
      );
      const fields = (question.document?.foot ?? []).filter(
        ({ block, label }) =>
          block === 'warning' || block === 'text' || (block === 'field' && !isVotes(question, label)),
      );
      fill(
        this.#foot,
        fields.length > 0 && h('div.blocks.blocks-foot', {}, blocks(fields, { foldable: false })),
        this.#bar.element,
      );
    }
  }

  /** Holds a decision back for a moment, where there is a way to undo it: in the inbox. */
  #hold(answer, option) {
    const question = this.#question;
    if (this.#inline || !held.canHold(question)) return false;
    held.hold(question, answer, option.label);
    this.#onFate({ kind: 'held' }, question);
    return true;
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

/** Where and why stand right under what would happen; the rest of the head comes after them. */
function whereAndWhy({ document }) {
  const head = (document?.head ?? []).filter(({ block }) => block !== 'heading');
  const end = head.findIndex(({ block }) => block !== 'field');
  return end < 0 ? [head, []] : [head.slice(0, end), head.slice(end)];
}

/** The first field of a quorum's foot says what the page's head says with names. */
const isVotes = ({ votes, document }, label) =>
  votes?.needed > 1 && document.foot.find(({ block }) => block === 'field')?.label === label;

function banner(tone, text, more, after) {
  const icons = { good: 'check', bad: 'cross', warn: 'warning', note: 'info' };
  return h(
    'div.outcome',
    { class: `outcome-${tone}`, 'data-outcome': tone, role: 'status' },
    icon(icons[tone]),
    h(
      'div.outcome-words',
      {},
      h('p', {}, text),
      more && h('blockquote.quote', {}, h('p.prose', {}, safe(more))),
      after,
    ),
  );
}

function waitingFor(question) {
  const voted = question.votes?.by ?? [];
  if (voted.includes(store.me?.name) || voted.includes(store.me?.person))
    return t('question.youVoted', {
      n: Math.max(1, question.votes.needed - question.votes.have),
      who: stillMissing(question),
    });
  return question.askedOf?.length ? t('question.notYours', { names: question.askedOf }) : (question.why ?? '');
}
