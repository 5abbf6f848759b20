// Several questions on one page, of one turn or of one kind: each in full, each with its own choice, sent at once.
//
// Nothing is chosen to begin with. "Approve all" leaves out what is HIGH: that is chosen one by one, and each is confirmed by itself.

import { approves, decision, needsText, optionsOf, refused, shown } from '../answering.js';
import { api } from '../api.js';
import { fill, freshId, h } from '../dom.js';
import { FAINT_MS, guard } from '../guard.js';
import { icon } from '../icons.js';
import { t } from '../i18n.js';
import { store } from '../store.js';
import { countdown } from './countdown.js';
import { blocks, headingOf } from './document.js';
import { riskBadge, riskClass } from './risk.js';
import { raw, sentence } from './text.js';
import { toast } from './toast.js';

const SIMPLE = ['APPROVE_AND_EXECUTE', 'REJECT_WITH_REASON', 'SKIP'];

/** What can be chosen for several at once: whatever needs no text. */
const simpleOptions = (question) =>
  optionsOf(question).filter((option) => SIMPLE.includes(option.action) && !needsText(option));

/** What is said of requests of one turn, and of one kind. */
const heading = (of, n) => (of === 'turn' ? t('turn.heading', { n }) : t('alike.heading', { n }));
const done = (of) => t(of === 'turn' ? 'turn.done' : 'alike.done');

class Together {
  isTogether = true;
  bar = null;
  #items;
  #stop = new AbortController();
  #foot = h('section.answer', { 'aria-label': t('answer.title'), 'data-answer': true });
  #heading;
  #key;
  #settling = 0;

  /** @param {'turn' | 'alike'} of what the questions have in common */
  constructor(questions, of) {
    this.of = of;
    this.#key = `${of}:${questions[0].requestId}`;
    this.question = questions[0];
    this.#heading = h('h1.question-heading', { tabindex: '-1' }, heading(of, questions.length));
    this.#items = questions.map((question) => this.#item(question));
    this.element = h(
      'div.question-frame',
      {},
      h(
        'div.question',
        {},
        h('header.question-header', {}, this.#heading, h('p.hint', {}, t('turn.hint'))),
        this.#items.map(({ element }) => element),
      ),
      h('div.answer-place', {}, this.#foot),
    );
    guard.left(this.#key);
    guard.appeared(this.#key);
    store.on('pending', () => this.#follow(), this.#stop.signal);
    guard.addEventListener('focused', () => this.#settle(), { signal: this.#stop.signal });
    this.#settle();
    this.#draw();
  }

  destroy() {
    this.#stop.abort();
    guard.left(this.#key);
  }

  /** Shows for half a second that nothing counts yet. */
  #settle() {
    const faint = [this.#foot, this.#foot.querySelector('.panel')].filter(Boolean);
    for (const element of faint) delete element.dataset.settled;
    clearTimeout(this.#settling);
    this.#settling = setTimeout(() => faint.forEach((element) => (element.dataset.settled = '')), FAINT_MS);
  }

  focus() {
    this.#heading.focus({ preventScroll: true });
  }

  #item(question) {
    const name = freshId('choice');
    const options = question.mayAnswer === false ? [] : simpleOptions(question);
    const pick = (value, label, checked) =>
      h(
        'label.segment',
        {},
        h('input', { type: 'radio', name, value, checked, onchange: () => this.#draw() }),
        h('span', {}, label),
      );
    const choice = h(
      'fieldset.segments',
      {},
      h('legend.visually-hidden', {}, headingOf(question.document)),
      h(
        'div.segment-row',
        {},
        pick('', t('turn.later'), true),
        options.map((option) => pick(option.optionId, option.label, false)),
      ),
    );
    const state = h('p.together-state', { role: 'status' });
    const element = h(
      'section.together-item',
      { class: riskClass(question.risk), 'data-item': question.requestId, 'aria-label': headingOf(question.document) },
      h(
        'div.question-meta',
        {},
        riskBadge(question.risk, { long: true }),
        this.of === 'alike' && h('span.together-from', {}, raw(question.sessionId)),
        question.deadline !== undefined && countdown(question),
      ),
      h('h2.together-heading', {}, sentence(headingOf(question.document))),
      h(
        'div.blocks',
        {},
        blocks(question.document?.head ?? [], { foldable: question.risk !== 'HIGH', risk: question.risk }),
      ),
      h(
        'details.together-more',
        {},
        h('summary', {}, t('request.details')),
        h('div.blocks.blocks-quiet', {}, blocks(question.document?.body ?? [], { foldable: false })),
      ),
      choice,
      state,
    );
    const chosen = () =>
      optionsOf(question).find(({ optionId }) => optionId === choice.querySelector('input:checked')?.value);
    return { question, element, choice, state, chosen, done: false };
  }

  get #open() {
    return this.#items.filter(({ done }) => !done);
  }

  /** What was decided elsewhere meanwhile cannot be chosen any more. */
  #follow() {
    const pending = new Set(store.pending.map(({ requestId }) => requestId));
    for (const item of this.#open) {
      if (!pending.has(item.question.requestId)) this.#close(item, t('turn.elsewhere'));
    }
    this.#draw();
  }

  #close(item, words) {
    item.done = true;
    item.choice.remove();
    item.state.textContent = words;
    item.element.dataset.done = 'yes';
  }

  #choose(action) {
    for (const { question, choice } of this.#open) {
      if (action === 'APPROVE_AND_EXECUTE' && question.risk === 'HIGH') continue;
      const option = simpleOptions(question).find((offered) => offered.action === action && !offered.isDangerous);
      const radio = option && choice.querySelector(`input[value="${CSS.escape(option.optionId)}"]`);
      if (radio) radio.checked = true;
    }
    this.#draw();
  }

  #draw() {
    const count = this.#open.filter((item) => item.chosen()).length;
    if (this.#open.length === 0) {
      fill(this.#foot, h('p.outcome.outcome-good', { 'data-outcome': 'good' }, icon('check'), done(this.of)));
      return;
    }
    const button = (label, kind, data, onclick, disabled = false) =>
      h('button.button', { type: 'button', class: kind, [data]: true, onclick, disabled }, label);
    fill(
      this.#foot,
      h(
        'div.buttons',
        {},
        button(
          count ? t('turn.send', { n: count }) : t('turn.none'),
          'button-primary button-whole',
          'data-send',
          () => this.#begin(),
          count === 0,
        ),
        button(t('turn.approveAll'), 'button-half', 'data-approve-all', () => this.#choose('APPROVE_AND_EXECUTE')),
        button(t('turn.rejectAll'), 'button-half', 'data-reject-all', () => this.#choose('REJECT_WITH_REASON')),
      ),
    );
  }

  #mayDecide(key) {
    const judgement = guard.judge(key);
    if (judgement !== 'ok') toast(t(judgement === 'focus' ? 'guard.focus' : 'guard.soon'), 'warn');
    return judgement === 'ok';
  }

  #begin() {
    if (!this.#mayDecide(this.#key)) return;
    const isRisky = (item) => item.chosen() && approves(item.chosen()) && item.question.risk === 'HIGH';
    this.#confirm(this.#open.filter(isRisky), 0);
  }

  /** Asks for each of these again, one after the other; then everything is sent. */
  #confirm(items, at) {
    if (at === items.length) {
      this.#send();
      return;
    }
    const { question } = items[at];
    const key = `${this.#key}/confirm/${question.requestId}`;
    guard.left(key);
    guard.appeared(key);
    const gist = headingOf(question.document);
    const yes = h(
      'button.button.button-high',
      {
        type: 'button',
        'data-confirm': question.requestId,
        onclick: () => this.#mayDecide(key) && this.#confirm(items, at + 1),
      },
      t('turn.confirm', { at: at + 1, of: items.length }),
    );
    const panel = h(
      'div.panel',
      { role: 'alertdialog', 'aria-label': t('confirm.high') },
      h('p.confirm-words', {}, icon('warning'), h('span', {}, t('confirm.high'), ' ', h('strong', {}, sentence(gist)))),
      h('div.buttons', {}, yes, h('button.button', { type: 'button', onclick: () => this.#draw() }, t('prompt.back'))),
    );
    fill(this.#foot, panel);
    this.#settle();
    yes.focus();
  }

  async #send() {
    const items = this.#open.filter((item) => item.chosen());
    const answers = items.map(({ question, chosen }) => ({
      requestId: question.requestId,
      selectedOptionId: chosen().optionId,
      ...shown(question),
    }));
    for (const button of this.#foot.querySelectorAll('button')) button.disabled = true;
    try {
      const { results } = await api.answers(answers);
      for (const item of items)
        this.#told(
          item,
          results.find(({ requestId }) => requestId === item.question.requestId),
        );
      toast(t('turn.sent', { n: results.filter(({ ok }) => ok).length }), 'good');
    } catch (problem) {
      toast(refused(problem, this.question).text, 'bad');
    }
    store.reloadSoon();
    this.#draw();
  }

  #told(item, result) {
    if (result?.ok) {
      this.#close(item, decision(item.question, item.chosen()));
    } else {
      const problem = result?.problem ?? {};
      this.#close(
        item,
        refused({ code: problem.code, more: problem, message: problem.detail ?? problem.title ?? '' }, item.question)
          .text,
      );
    }
  }
}

/** Several questions on one page. */
export const togetherView = (questions, of) => new Together(questions, of);
