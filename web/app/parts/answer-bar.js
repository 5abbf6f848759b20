// The ways to answer a question: buttons, what they need to be told, a second step where much is at stake.

import { approves, needsConfirming, optionsOf, send, takesText } from '../answering.js';
import { fill, freshId, h } from '../dom.js';
import { FAINT_MS, guard } from '../guard.js';
import { icon } from '../icons.js';
import { t } from '../i18n.js';
import { editor } from './editor.js';
import { optionButton, optionIcon } from './option-button.js';
import { remember } from './remember.js';
import { safe } from './text.js';
import { toast } from './toast.js';

/** The bar is always in sight; to scroll to it would move what is being read. */
const STAY = { preventScroll: true };

export class AnswerBar {
  /** @type {'choose' | 'panel' | 'edit' | 'sending' | 'over'} */
  #mode = 'choose';
  #question;
  #onFate;
  #settling = new WeakMap();
  #editor = null;
  #remember;
  #instruction;
  #extras;
  #body = h('div.answer-body');
  #editorPlace = h('div.editor-place');

  /**
   * @param {object} question pending, and this person may answer it
   * @param {(fate: import('../answering.js').Fate) => void} onFate
   */
  constructor(question, onFate) {
    this.#question = question;
    this.#onFate = onFate;
    this.#remember = remember(question.scopes, question.requestId);
    const id = freshId('instruction');
    this.#instruction = h('textarea', { id, rows: 2, 'data-instruction': true });
    const tell = h(
      'details.extra',
      { 'data-extra': 'instruction' },
      h('summary', {}, t('instruction.title')),
      h('label.hint', { for: id }, t('instruction.hint')),
      this.#instruction,
    );
    this.#extras = h('div.extras', {}, this.#remember.element, tell);
    this.element = h(
      'section.answer',
      { 'aria-label': t('answer.title'), 'data-answer': true },
      h('div.answer-more', {}, this.#editorPlace, this.#extras),
      this.#body,
    );
    this.#appear();
    this.#choose();
  }

  /** The key the guard knows a step by. */
  #key(step = '') {
    return `${this.#question.requestId}${step}`;
  }

  /** The same question came again: what is shown may have changed, and then the hand must wait again. */
  update(question) {
    this.#question = question;
    this.#appear();
  }

  #appear() {
    if (guard.appeared(this.#key(), this.#question.shownDigest ?? '')) this.#settle(this.element);
  }

  /** The window came to the front: for half a second nothing counts. */
  settle() {
    this.#settle(this.element);
    const panel = this.#body.querySelector('.panel');
    if (panel) this.#settle(panel);
  }

  #settle(element) {
    delete element.dataset.settled;
    clearTimeout(this.#settling.get(element));
    this.#settling.set(
      element,
      setTimeout(() => (element.dataset.settled = ''), FAINT_MS),
    );
  }

  get canEdit() {
    return Boolean(this.#question.call?.editable) && this.#question.options.some(approves);
  }

  #choose({ focus } = {}) {
    this.#mode = this.#editor ? 'edit' : 'choose';
    const listed = this.#question.type !== 'TOOL_APPROVAL';
    const buttons = optionsOf(this.#question).map((option) =>
      optionButton(this.#question, option, {
        listed,
        edited: Boolean(this.#editor),
        onChoose: () => this.take(option),
      }),
    );
    const edit =
      this.canEdit &&
      h(
        'button.button.button-quiet',
        {
          type: 'button',
          'data-edit': true,
          'aria-expanded': String(Boolean(this.#editor)),
          onclick: () => this.toggleEdit(),
        },
        icon('pencil'),
        this.#editor ? t('edit.stop') : t('edit.start'),
        !this.#editor && h('kbd', {}, 'e'),
      );
    fill(this.#body, h('div.buttons', { class: listed ? 'buttons-list' : '' }, buttons, edit));
    if (focus) buttons[0]?.focus(STAY);
  }

  /** Takes the option that does what `action` says, for keys; of several a key cannot mean one. */
  takeAction(action) {
    const [option, ...others] = optionsOf(this.#question).filter((offered) => offered.action === action);
    if (option && others.length === 0 && (this.#mode === 'choose' || this.#mode === 'edit')) this.take(option);
  }

  /** Somebody chose `option`: what is missing is asked for, and only then is it sent. */
  take(option) {
    if (this.#mode === 'sending' || this.#mode === 'over') return;
    if (!this.#mayDecide()) return;
    if (takesText(option)) this.#askForText(option);
    else if (needsConfirming(this.#question, option)) this.#askAgain(option);
    else this.#send(option);
  }

  #mayDecide(step) {
    const judgement = guard.judge(this.#key(step));
    if (judgement === 'ok') return true;
    toast(t(judgement === 'focus' ? 'guard.focus' : 'guard.soon'), 'warn');
    return false;
  }

  #askForText(option) {
    const id = freshId('text');
    const area = h('textarea', { id, rows: 3, 'data-feedback': true, required: option.requiresInput });
    const prompt = option.inputPrompt || t(option.action === 'REJECT_WITH_REASON' ? 'answer.reason' : 'answer.text');
    const sendIt = () => {
      if (option.requiresInput && area.value.trim() === '') {
        area.setAttribute('aria-invalid', 'true');
        area.focus();
        toast(t('fate.input'), 'warn');
      } else if (needsConfirming(this.#question, option)) {
        this.#askAgain(option, area.value);
      } else {
        this.#send(option, area.value);
      }
    };
    this.#panel(
      option,
      sendIt,
      h('label', { for: id }, safe(prompt), !option.requiresInput && h('span.hint', {}, ` ${t('answer.optional')}`)),
      area,
    );
    area.addEventListener('keydown', (event) => {
      if (event.key === 'Enter' && (event.ctrlKey || event.metaKey)) {
        event.preventDefault();
        if (this.#mayDecide('/panel')) sendIt();
      }
    });
    area.focus(STAY);
  }

  #askAgain(option, feedback) {
    const high = approves(option) && this.#question.risk === 'HIGH';
    const words = high
      ? t(this.#editor?.value().changed ? 'confirm.highChanged' : 'confirm.high')
      : t('confirm.dangerous', { option: option.label });
    const panel = this.#panel(
      option,
      () => this.#send(option, feedback),
      h('p.confirm-words', {}, icon('warning'), h('span', {}, words)),
    );
    panel.setAttribute('role', 'alertdialog');
    panel.setAttribute('aria-label', words);
    panel.querySelector('[data-send]').focus(STAY);
  }

  /** A second step in place of the buttons; its own button counts only after half a second, too. */
  #panel(option, act, ...content) {
    this.#mode = 'panel';
    guard.left(this.#key('/panel'));
    guard.appeared(this.#key('/panel'));
    const danger = option.isDangerous || (approves(option) && this.#question.risk === 'HIGH');
    const go = h(
      'button.button',
      {
        type: 'button',
        class: danger ? 'button-high' : 'button-primary',
        'data-send': true,
        onclick: () => this.#mayDecide('/panel') && act(),
      },
      optionIcon(option),
      safe(danger ? t('confirm.yes', { option: option.label }) : option.label),
    );
    const back = h(
      'button.button',
      { type: 'button', 'data-back': true, onclick: () => this.#choose({ focus: true }) },
      t('back'),
    );
    const panel = h('div.panel', {}, content, h('div.buttons', {}, go, back));
    panel.addEventListener('keydown', (event) => {
      if (event.key !== 'Escape') return;
      event.preventDefault();
      this.#choose({ focus: true });
    });
    fill(this.#body, panel);
    this.#settle(panel);
    return panel;
  }

  /** Opens the editor, or closes it and forgets what was changed. */
  toggleEdit() {
    if (!this.canEdit || this.#mode === 'sending' || this.#mode === 'over') return;
    this.#editor = this.#editor ? null : editor(this.#question.call);
    fill(this.#editorPlace, this.#editor?.element);
    this.#choose();
    this.#editor?.focus();
  }

  #compose(option, feedback) {
    const text = (value) => (value && value.trim() !== '' ? value : undefined);
    const answer = {
      selectedOptionId: option.optionId,
      feedback: text(feedback),
      instruction: text(this.#instruction.value),
    };
    if (approves(option)) {
      answer.remember = this.#remember.value();
      const edited = this.#editor?.value();
      if (edited?.changed) answer.editedArgs = edited.args;
    }
    return answer;
  }

  async #send(option, feedback) {
    const edited = approves(option) ? this.#editor?.value() : undefined;
    if (edited?.error) {
      toast(edited.error, 'warn');
      return;
    }
    const answer = this.#compose(option, feedback);
    this.#mode = 'sending';
    this.element.setAttribute('aria-busy', 'true');
    for (const button of this.#body.querySelectorAll('button')) button.disabled = true;
    const fate = await send(this.#question, answer);
    this.element.removeAttribute('aria-busy');
    if (fate.kind === 'refused' || fate.kind === 'unsure') {
      this.#choose({ focus: true });
      if (fate.pointer !== undefined) this.#editor?.refuse(fate.text);
    } else {
      this.#mode = 'over';
    }
    this.#onFate({ ...fate, optionId: option.optionId });
  }
}
