// The form of a question that says by a JSON Schema what it asks for: new values of a workflow's variables, an API key, an address.

import { faultsOf } from '../args-check.js';
import { h } from '../dom.js';
import { t } from '../i18n.js';
import { same } from '../json-schema.js';
import { faultInWords } from './editor.js';
import { schemaForm } from './schema-form.js';

const isObject = (value) => typeof value === 'object' && value !== null && !Array.isArray(value);

/** Ways to answer that give nothing: the form is left alone. */
const GIVE_NOTHING = ['SKIP', 'REJECT_WITH_REASON', 'RETRY_WITH_FEEDBACK', 'TERMINATE'];

const gives = (option) => !GIVE_NOTHING.includes(option.action);

/** A question without a schema of fields is answered by its options, or by a text. */
const NOTHING = { element: null, value: () => undefined, error: () => undefined, focus: () => {} };

/**
 * @param {object} question
 * @returns {{ element: HTMLElement | null, value: (option: object) => object | undefined, error: (option: object) => string | undefined, focus: () => void }}
 *   what choosing an option hands over, and what is wrong with it
 */
export function askedData(question) {
  const { schema, variables, operationType } = question.context ?? {};
  if (!isObject(schema?.properties)) return NOTHING;
  const start = isObject(variables) ? variables : defaultsOf(schema);
  let current = start;
  const element = h(
    'section.asked-data',
    { 'aria-label': t('data.title'), 'data-asked': true },
    h('h3.block-label', {}, t('data.title')),
    schemaForm(schema, start, (next) => (current = next)),
  );
  // Of variables only what was changed is sent: another person may have changed the others meanwhile.
  const changed = () => Object.entries(current).filter(([name, value]) => !same(value, start[name]));
  const filledIn = () => (operationType === 'UPDATE_VARIABLES' ? Object.fromEntries(changed()) : current);
  return {
    element,
    value: (option) => (gives(option) && Object.keys(filledIn()).length > 0 ? filledIn() : undefined),
    error: (option) => (gives(option) && faultsOf(schema, current).map(faultInWords).join('; ')) || undefined,
    focus: () => element.querySelector('input, textarea, select')?.focus({ preventScroll: true }),
  };
}

function defaultsOf(schema) {
  const given = Object.entries(schema.properties).filter(([, field]) => isObject(field) && 'default' in field);
  return Object.fromEntries(given.map(([name, field]) => [name, field.default]));
}
