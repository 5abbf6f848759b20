// "Don't ask again": exactly what it would cover, and for how long. Nothing is chosen until somebody chooses it.

import { freshId, h } from '../dom.js';
import { t } from '../i18n.js';
import { sentence } from './text.js';

const HOUR = 3_600_000;
/** The lengths offered; there is always an end. */
const LENGTHS = [
  ['remember.hour', HOUR],
  ['remember.day', 24 * HOUR],
  ['remember.week', 7 * 24 * HOUR],
  ['remember.month', 30 * 24 * HOUR],
];

/**
 * @param {{ scope: string, text: string }[]} scopes what the server offers, narrowest first
 * @returns {{ element: HTMLElement | null, value: () => object | undefined }}
 */
export function remember(scopes) {
  if (!scopes?.length) return { element: null, value: () => undefined };
  const group = freshId('scope');
  const choice = (checked, index, label) => {
    const radio = h('input', { type: 'radio', name: group, value: String(index), checked });
    return h('label.choice', {}, radio, h('span', {}, label));
  };
  const lengthId = freshId('length');
  const select = h(
    'select',
    { id: lengthId, 'data-lasts': true },
    LENGTHS.map(([label, ms]) => h('option', { value: ms }, t(label))),
  );
  const lasts = h('p.remember-length', {}, h('label', { for: lengthId }, t('remember.for')), ' ', select);
  const set = h(
    'fieldset.choices',
    {},
    h('legend.visually-hidden', {}, t('remember.title')),
    choice(true, -1, t('remember.no')),
    scopes.map(({ text }, index) => choice(false, index, sentence(text))),
    lasts,
  );
  const element = h(
    'details.extra',
    { 'data-extra': 'remember' },
    h('summary', {}, t('remember.title')),
    set,
    h('p.hint', {}, t('remember.hint')),
  );
  const chosen = () => Number(set.querySelector('input:checked')?.value ?? -1);
  const sync = () => {
    lasts.hidden = chosen() < 0;
    element.toggleAttribute('data-chosen', chosen() >= 0);
  };
  set.addEventListener('change', sync);
  sync();
  return {
    element,
    value: () => (chosen() < 0 ? undefined : { scope: scopes[chosen()].scope, lastsMs: Number(select.value) }),
  };
}
