// A form for a call's arguments, made from the tool's JSON Schema, or from the arguments themselves without a schema.

import { fill, freshId, h } from '../dom.js';
import { t } from '../i18n.js';
import { fieldsOf, withField } from '../json-schema.js';

/**
 * @param {any} schema of the arguments; may be missing
 * @param {Record<string, unknown>} value
 * @param {(value: Record<string, unknown>) => void} onChange
 */
export function schemaForm(schema, value, onChange) {
  let current = value;
  const set = (name, next) => {
    current = withField(current, name, next);
    onChange(current);
  };
  const fields = fieldsOf(schema, value);
  return h(
    'div.schema-form',
    {},
    fields.length
      ? fields.map((field) => drawField(field, value?.[field.name], (next) => set(field.name, next)))
      : h('p.quiet', {}, t('block.noArgs')),
  );
}

function drawField(field, value, set) {
  const id = freshId('arg');
  const hint = field.description ? h('p.hint', { id: `${id}-hint` }, field.description) : null;
  const tie = {
    id,
    'aria-describedby': hint ? `${id}-hint` : null,
    'data-arg': field.name,
    spellcheck: 'false',
    autocapitalize: 'off',
  };
  const name = [field.name, field.required && h('span.required', { title: t('form.required') }, ' *')];
  if (field.kind === 'boolean') {
    const box = h('input', { ...tie, type: 'checkbox', checked: value === true, onchange: () => set(box.checked) });
    return h('div.form-field', {}, h('label.check', { for: id }, box, h('code', {}, name)), hint);
  }
  if (field.kind === 'object') {
    return h(
      'fieldset.form-field',
      {},
      h('legend', {}, h('code', {}, name)),
      hint,
      schemaForm(field.schema, value ?? {}, set),
    );
  }
  if (field.kind === 'texts') {
    return h(
      'fieldset.form-field',
      {},
      h('legend', {}, h('code', {}, name)),
      hint,
      texts(field.name, value ?? [], set),
    );
  }
  return h('div.form-field', {}, h('label', { for: id }, h('code', {}, name)), control(field, value, set, tie), hint);
}

function control(field, value, set, tie) {
  const { choices, required } = field;
  // An optional argument left empty is left out, unless it was an empty text to begin with.
  const text = (typed) => set(typed === '' && !required && value === undefined ? undefined : typed);
  switch (field.kind) {
    case 'choice': {
      const options = required ? choices : [undefined, ...choices];
      const select = h(
        'select',
        { ...tie, onchange: () => set(options[select.selectedIndex]) },
        options.map((choice) => h('option', {}, choice === undefined ? t('form.none') : String(choice))),
      );
      select.selectedIndex = Math.max(
        0,
        options.findIndex((choice) => choice === value),
      );
      return select;
    }
    case 'number': {
      const input = h('input', {
        ...tie,
        type: 'number',
        step: field.integer ? 1 : 'any',
        min: field.min,
        max: field.max,
        value: value === undefined ? '' : String(value),
        oninput: () =>
          set(input.value === '' || !Number.isFinite(input.valueAsNumber) ? undefined : input.valueAsNumber),
      });
      return input;
    }
    case 'lines': {
      const area = h('textarea.mono', {
        ...tie,
        rows: Math.min(12, String(value ?? '').split('\n').length + 1),
        value: value ?? '',
        oninput: () => text(area.value),
      });
      return area;
    }
    case 'secret': {
      // Neither shown nor kept by the browser.
      const input = h('input.mono', {
        ...tie,
        type: 'password',
        autocomplete: 'off',
        value: value ?? '',
        oninput: () => text(input.value),
      });
      return input;
    }
    case 'text': {
      const input = h('input.mono', { ...tie, type: 'text', value: value ?? '', oninput: () => text(input.value) });
      return input;
    }
    default:
      return json(value, set, tie);
  }
}

/** What no field fits is edited as JSON; while it is not JSON, the last good value stands and the field says so. */
function json(value, set, tie) {
  const area = h('textarea.mono', {
    ...tie,
    rows: 4,
    value: value === undefined ? '' : JSON.stringify(value, null, 2),
  });
  area.addEventListener('input', () => {
    try {
      set(area.value.trim() === '' ? undefined : JSON.parse(area.value));
      area.setCustomValidity('');
      area.removeAttribute('aria-invalid');
    } catch {
      area.setCustomValidity(t('form.notJson'));
      area.setAttribute('aria-invalid', 'true');
    }
  });
  return area;
}

function texts(name, value, set) {
  const list = h('div.texts');
  let items = [...value];
  const draw = (focusAt) => {
    const rows = items.map((item, at) => {
      const input = h('input.mono', {
        type: 'text',
        value: item,
        'aria-label': t('form.item', { name, n: at + 1 }),
        spellcheck: 'false',
      });
      input.addEventListener('input', () => {
        items[at] = input.value;
        set([...items]);
      });
      const remove = h(
        'button.quiet-button',
        {
          type: 'button',
          'aria-label': t('form.removeItem', { name, n: at + 1 }),
          onclick: () => change(items.toSpliced(at, 1), at - 1),
        },
        t('form.remove'),
      );
      return h('div.texts-row', {}, input, remove);
    });
    const add = h(
      'button.quiet-button',
      { type: 'button', onclick: () => change([...items, ''], items.length) },
      t('form.add'),
    );
    fill(list, rows, add);
    if (focusAt !== undefined) (list.querySelectorAll('input')[focusAt] ?? add).focus();
  };
  const change = (next, focusAt) => {
    items = next;
    set([...items]);
    draw(focusAt);
  };
  draw();
  return list;
}
