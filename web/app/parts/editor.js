// Editing a call's arguments: the form, and the JSON beside it; either follows the other.

import { fill, freshId, h } from '../dom.js';
import { t } from '../i18n.js';
import { parseArgs, same } from '../json-schema.js';
import { schemaForm } from './schema-form.js';

/**
 * @param {{ args: object, schema?: object }} call
 * @returns {{ element: HTMLElement, value: () => { args?: object, changed: boolean, error?: string }, refuse: (message: string) => void, focus: () => void }}
 */
export function editor(call) {
  let current = structuredClone(call.args ?? {});
  let error;
  const id = freshId('json');
  const form = h('div.editor-form');
  const area = h('textarea.mono.editor-json', {
    id,
    spellcheck: 'false',
    autocapitalize: 'off',
    'data-json': true,
    rows: 8,
  });
  const fault = h('p.fault', { role: 'alert', hidden: true });

  const say = (text) => {
    fault.hidden = !text;
    fault.textContent = text ?? '';
    area.toggleAttribute('aria-invalid', Boolean(error));
  };
  const writeJson = () => {
    area.value = JSON.stringify(current, null, 2);
    area.rows = Math.min(24, area.value.split('\n').length + 1);
  };
  const drawForm = () =>
    fill(
      form,
      schemaForm(call.schema, current, (next) => {
        current = next;
        error = undefined;
        say();
        writeJson();
      }),
    );
  area.addEventListener('input', () => {
    const read = parseArgs(area.value);
    error = read.error && (read.error === 'object' ? t('edit.notObject') : t('edit.notJson', { why: read.error }));
    say(error);
    if (read.value) {
      current = read.value;
      drawForm();
    }
  });
  writeJson();
  drawForm();

  const element = h(
    'section.editor',
    { 'aria-label': t('edit.title') },
    h('div.editor-half', {}, h('h3.block-label', {}, t('edit.form')), form),
    h('div.editor-half', {}, h('label.block-label', { for: id }, t('edit.json')), area),
    h('p.hint.editor-hint', {}, t('edit.hint')),
    fault,
  );
  return {
    element,
    value: () => ({ args: error ? undefined : current, changed: !same(current, call.args ?? {}), error }),
    refuse: (message) => say(message),
    focus: () => (form.querySelector('input, textarea, select') ?? area).focus({ preventScroll: true }),
  };
}
