// Comments on a request: what people say to each other about it. They decide nothing, and no agent sees them.

import { api } from '../api.js';
import { fill, freshId, h } from '../dom.js';
import { t } from '../i18n.js';
import { when } from '../time.js';
import { raw, safe } from './text.js';
import { toast } from './toast.js';

const CHARS_MAX = 1000;

/** The comments on a request and a field for one more. What is typed stays when a comment of another arrives. */
export class Comments {
  #requestId;
  #onChange;
  #drawn = '';
  #list = h('ol.comments');
  #summary = h('summary');
  #field;
  #button = h('button.button', { type: 'submit' }, t('comments.send'));

  /** @param {(question: object) => void} onChange gets the request as it is with the comment */
  constructor(question, onChange) {
    this.#requestId = question.requestId;
    this.#onChange = onChange;
    const id = freshId('comment');
    this.#field = h('textarea', { id, rows: 2, maxlength: CHARS_MAX, 'data-comment': true });
    const form = h(
      'form.comment-form',
      { onsubmit: (event) => (event.preventDefault(), this.#send()) },
      h('label', { for: id }, t('comments.label')),
      this.#field,
      h('p.hint', {}, t('comments.hint')),
      this.#button,
    );
    this.#field.addEventListener('keydown', (event) => {
      if (event.key !== 'Enter' || !(event.ctrlKey || event.metaKey)) return;
      event.preventDefault();
      this.#send();
    });
    this.element = h('details.comments-place', { 'data-comments': true }, this.#summary, this.#list, form);
    this.draw(question);
  }

  draw({ comments = [] }) {
    const print = JSON.stringify(comments);
    if (print === this.#drawn) return;
    // Comments are opened for those who come to a request that has some, and left as they are afterwards.
    if (this.#drawn === '') this.element.open = comments.length > 0;
    this.#drawn = print;
    fill(this.#summary, comments.length ? t('comments.count', { n: comments.length }) : t('comments.title'));
    fill(
      this.#list,
      comments.map(({ by, at, text }) =>
        h(
          'li.comment',
          {},
          h('p.comment-by', {}, h('strong', {}, raw(by)), ' ', h('time', { datetime: at }, when(at))),
          h('p.prose', {}, safe(text)),
        ),
      ),
    );
  }

  async #send() {
    const text = this.#field.value.trim();
    if (!text || this.#button.disabled) return;
    this.#button.disabled = true;
    try {
      const question = await api.comment(this.#requestId, text);
      this.#field.value = '';
      this.#onChange(question);
    } catch (problem) {
      toast(t('fate.refused', { why: problem.message }), 'bad');
    }
    this.#button.disabled = false;
  }
}
