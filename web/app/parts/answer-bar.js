// The ways to answer a question: buttons, what they need to be told, a second step where much is at stake.

import { approves, needsConfirming, needsText, optionsOf, send, takesText } from '../answering.js';
import { fill, freshId, h } from '../dom.js';
import { draft, drafted, forgetDrafts, keepDraft } from '../drafts.js';
import { FAINT_MS, guard } from '../guard.js';
import { icon } from '../icons.js';
import { t } from '../i18n.js';
import { askedData } from './asked-data.js';
import { editor } from './editor.js';
import { editButton, optionButton, silence } from './option-button.js';
import { remember } from './remember.js';
import { changes, confirmWords, secondStep } from './second-step.js';
import { safe } from './text.js';
import { toast } from './toast.js';

/** The bar is always in sight; to scroll to it would move what is being read. */
const STAY = { preventScroll: true };

export class AnswerBar {
  /** @type {'choose' | 'panel' | 'edit' | 'sending' | 'over'} */
  #mode = 'choose';
  #question;
  #onFate;
  #onHold;
  #settling = new WeakMap();
  #editor = null;
  #asked;
  #remember;
  #instruction;
  #extras;
  #body = h('div.answer-body');
  #editorPlace = h('div.editor-place');

  /**
   * @param {object} question pending, and this person may answer it
   * @param {(fate: import('../answering.js').Fate) => void} onFate
   * @param {(answer: object, option: object) => boolean} [onHold] holds a decision of one press back for a moment; says whether
   */
  constructor(question, onFate, onHold = () => false) {
    this.#question = question;
    this.#onFate = onFate;
    this.#onHold = onHold;
    this.#asked = askedData(question);
    this.#remember = remember(question.scopes, question.requestId);
    const id = freshId('instruction');
    this.#instruction = drafted(h('textarea', { id, rows: 2, 'data-instruction': true }), this.#draftKey('note'));
    const tell = h(
      'details.extra',
      { 'data-extra': 'instruction', open: this.#instruction.value !== '' },
      h('summary', {}, t('instruction.title')),
      h('label.hint', { for: id }, t('instruction.hint')),
      this.#instruction,
    );
    this.#extras = h('div.extras', {}, this.#remember.element, tell);
    this.element = h(
      'section.answer',
      { 'aria-label': t('answer.title'), 'data-answer': question.requestId },
      h('div.answer-more', {}, this.#asked.element, this.#editorPlace, this.#extras),
      this.#body,
    );
    this.#appear();
    const edited = this.canEdit ? draft(this.#draftKey('args')) : undefined;
    if (edited) this.#openEditor(edited);
    this.#choose();
  }

  #draftKey(what) {
    return `${this.#question.requestId} ${what}`;
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
    const edit = this.canEdit && editButton(Boolean(this.#editor), () => this.toggleEdit());
    fill(this.#body, silence(this.#question), h('div.buttons', { class: listed ? 'buttons-list' : '' }, buttons, edit));
    if (focus) buttons[0]?.focus(STAY);
  }

  /** Takes the option that does what `action` says, for keys; of several a key cannot mean one. */
  takeAction(action) {
    const [option, ...others] = optionsOf(this.#question).filter((offered) => offered.action === action);
    if (option && others.length === 0 && (this.#mode === 'choose' || this.#mode === 'edit')) this.take(option);
  }

  /** An option was chosen: asks for what is missing, then sends. */
  take(option) {
    if (this.#mode === 'sending' || this.#mode === 'over') return;
    if (!this.#mayDecide() || !this.#argsAreSound(option)) return;
    if (takesText(option) && !this.#asked.value(option)) this.#askForText(option);
    else if (this.#needsSecondStep(option)) this.#askAgain(option);
    else if (this.#onHold(this.#compose(option), option)) this.#over();
    else this.#send(option);
  }

  #needsSecondStep(option) {
    return needsConfirming(this.#question, option) || (approves(option) && Boolean(this.#editor?.value().changed));
  }

  /** Whether edited arguments and fields can be sent at all; every one that cannot is named. */
  #argsAreSound(option) {
    const error = approves(option) ? this.#editor?.value().error : undefined;
    const missing = this.#asked.error(option);
    if (!error && !missing) return true;
    if (error) this.#editor.refuse(error);
    else this.#asked.focus();
    toast(error ?? missing, 'warn');
    return false;
  }

  /** It is decided: nothing can be pressed any more, and what was typed is not needed any more. */
  #over() {
    this.#mode = 'over';
    forgetDrafts(this.#question.requestId);
  }

  /** Takes a typed reply as the choice of an option; says whether it was taken up. */
  takeTyped(optionId, feedback) {
    const option = optionsOf(this.#question).find((offered) => offered.optionId === optionId);
    if (!option || this.#mode === 'sending' || this.#mode === 'over' || !this.#mayDecide()) return false;
    if (this.#needsSecondStep(option)) this.#askAgain(option, feedback);
    else this.#send(option, feedback);
    return true;
  }

  #mayDecide(step) {
    const judgement = guard.judge(this.#key(step));
    if (judgement === 'ok') return true;
    toast(t(judgement === 'focus' ? 'guard.focus' : 'guard.soon'), 'warn');
    return false;
  }

  #askForText(option) {
    const id = freshId('text');
    const attributes = { id, 'data-feedback': true, required: needsText(option) };
    // A secret is not kept as a draft.
    const area = option.inputSecret
      ? h('input', { ...attributes, type: 'password', autocomplete: 'off' })
      : drafted(h('textarea', { ...attributes, rows: 3 }), this.#draftKey(option.optionId));
    const prompt = option.inputPrompt || t(option.action === 'REJECT_WITH_REASON' ? 'answer.reason' : 'answer.text');
    const sendIt = () => {
      if (needsText(option) && area.value.trim() === '') {
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
      h('label', { for: id }, safe(prompt), !needsText(option) && h('span.hint', {}, ` ${t('answer.optional')}`)),
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
    const edited = approves(option) ? this.#editor?.value() : undefined;
    const words = confirmWords(option, high, edited?.changed);
    const panel = this.#panel(
      option,
      () => this.#send(option, feedback),
      h(
        'p.confirm-words',
        { class: high || option.isDangerous ? '' : 'is-calm' },
        icon('warning'),
        h('span', {}, words),
      ),
      edited?.changed && changes(edited.hunks),
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
    const onSend = () => this.#mayDecide('/panel') && act();
    const panel = secondStep(option, { danger, onSend, onBack: () => this.#choose({ focus: true }) }, content);
    fill(this.#body, panel);
    this.#settle(panel);
    return panel;
  }

  /** Opens the editor, or closes it and forgets what was changed. */
  toggleEdit() {
    if (!this.canEdit || this.#mode === 'sending' || this.#mode === 'over') return;
    if (this.#editor) {
      this.#editor = null;
      keepDraft(this.#draftKey('args'), undefined);
      fill(this.#editorPlace);
    } else {
      this.#openEditor();
    }
    this.#choose();
    this.#editor?.focus();
  }

  #openEditor(start) {
    this.#editor = editor(this.#question.call, {
      start,
      onChange: (args) => keepDraft(this.#draftKey('args'), args),
    });
    fill(this.#editorPlace, this.#editor.element);
  }

  #compose(option, feedback) {
    const text = (value) => (value && value.trim() !== '' ? value : undefined);
    const answer = {
      selectedOptionId: option.optionId,
      feedback: text(feedback),
      instruction: text(this.#instruction.value),
      data: this.#asked.value(option),
    };
    if (approves(option)) {
      answer.remember = this.#remember.value();
      const edited = this.#editor?.value();
      if (edited?.changed) answer.editedArgs = edited.args;
    }
    return answer;
  }

  async #send(option, feedback) {
    if (!this.#argsAreSound(option)) return;
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
      this.#over();
    }
    this.#onFate({ ...fate, optionId: option.optionId });
  }
}
