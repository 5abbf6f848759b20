// Editing a call's arguments: the form, and the JSON beside it; either follows the other.

import { fill, freshId, h } from '../dom.js';
import { t } from '../i18n.js';
import { faultsOf } from '../args-check.js';
import { hunksOf } from '../args-diff.js';
import { parseArgs, same } from '../json-schema.js';
import { schemaForm } from './schema-form.js';

/**
 * @param {{ args: object, schema?: object }} call
 * @param {{ start?: object, onChange?: (args: object | undefined) => void }} [how] `start` is what was typed before
 * @returns {{ element: HTMLElement, value: () => EditedArgs, refuse: (message: string) => void, focus: () => void }}
 * @typedef {{ args?: object, changed: boolean, error?: string, hunks: object[] }} EditedArgs
 */
export function editor(call, { start, onChange = () => {} } = {}) {
  let current = structuredClone(start ?? call.args ?? {});
  const isChanged = () => !same(current, call.args ?? {});
  const told = () => onChange(isChanged() ? current : undefined);
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
        told();
      }),
    );
  area.addEventListener('input', () => {
    const read = parseArgs(area.value);
    error = read.error && (read.error === 'object' ? t('edit.notObject') : t('edit.notJson', { why: read.error }));
    say(error);
    if (read.value) {
      current = read.value;
      drawForm();
      told();
    }
  });
  writeJson();
  drawForm();

  const element = h(
    'section.editor',
    { 'aria-label': t('edit.title') },
    h('div.editor-half', {}, h('h3.block-label', {}, t('request.arguments')), form),
    h('div.editor-half', {}, h('label.block-label', { for: id }, 'JSON'), area),
    h('p.hint.editor-hint', {}, t('edit.hint')),
    fault,
  );
  return {
    element,
    value: () => {
      const faults = error || !isChanged() ? [] : faultsOf(call.schema, current);
      return {
        args: error ? undefined : current,
        changed: isChanged(),
        error: error ?? (faults.length ? faults.map(faultInWords).join('; ') : undefined),
        hunks: hunksOf(call.args ?? {}, current),
      };
    },
    refuse: (message) => say(message),
    focus: () => (form.querySelector('input, textarea, select') ?? area).focus({ preventScroll: true }),
  };
}

/** One fault of values that a schema does not allow. */
export function faultInWords({ field, rule, limit }) {
  return t(`invalid.${rule}`, { field: field || t('request.arguments'), limit: limit ?? '' });
}
