// "Don't ask again": exactly what it would cover, how far it reaches, and for how long. Nothing is chosen until the approver
// chooses it. What reaches beyond the conversation shows the rule it is, and what that would have covered last week.

import { api } from '../api.js';
import { fill, freshId, h } from '../dom.js';
import { t } from '../i18n.js';
import { covered } from './covered.js';
import { loading } from './page.js';
import { raw, sentence } from './text.js';

const HOUR = 3_600_000;
/** The lengths offered; there is always an end. */
const LENGTHS = [
  ['remember.hour', HOUR],
  ['remember.day', 24 * HOUR],
  ['remember.week', 7 * 24 * HOUR],
  ['remember.month', 30 * 24 * HOUR],
  ['remember.year', 365 * 24 * HOUR],
];
/** How far a grant can reach, narrowest first. */
const REACHES = ['call', 'session', 'project', 'rule'];
const isWide = (scope) => scope?.reach === 'project' || scope?.reach === 'rule';

/**
 * @param {{ scope: string, text: string, reach: string, lastsMs: number }[]} scopes what the server offers, narrowest first
 * @param {string} requestId the question they are offered for
 * @returns {{ element: HTMLElement | null, value: () => object | undefined }}
 */
export function remember(scopes, requestId) {
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
  const preview = h('div.remember-preview', { 'aria-live': 'polite', 'data-preview': true, hidden: true });
  const indexed = scopes.map((scope, index) => ({ scope, index }));
  const reaching = (reach) => {
    const own = indexed.filter(({ scope }) => scope.reach === reach);
    if (!own.length) return null;
    return h(
      'div.reach',
      { role: 'group', 'aria-label': t(`reach.${reach}`), 'data-reach': reach },
      h('p.reach-name', { 'aria-hidden': 'true' }, t(`reach.${reach}`)),
      own.map(({ scope, index }) => choice(false, index, sentence(scope.text))),
    );
  };
  const set = h(
    'fieldset.choices',
    {},
    h('legend.visually-hidden', {}, t('remember.title')),
    choice(true, -1, t('remember.no')),
    REACHES.map(reaching),
    lasts,
    preview,
  );
  const element = h(
    'details.extra',
    { 'data-extra': 'remember' },
    h('summary', {}, t('remember.title')),
    set,
    h('p.hint', {}, t('remember.hint')),
  );
  const chosen = () => Number(set.querySelector('input:checked')?.value ?? -1);
  const show = async (scope) => {
    preview.hidden = !isWide(scope);
    if (preview.hidden) return fill(preview);
    fill(preview, h('p.quiet', {}, t('loading')));
    const got = await loading(preview, () => api.scope(requestId, scope.scope));
    // Another one was chosen meanwhile.
    if (!got || scopes[chosen()] !== scope) return undefined;
    return fill(
      preview,
      scope.reach === 'rule' && [h('p.hint', {}, t('remember.rule')), h('pre.toml', { tabindex: '0' }, raw(got.toml))],
      h('p.hint', {}, t('remember.lastWeek')),
      covered(got.lastWeek),
      got.lastWeek.refused > 0 && h('p.fault', { role: 'alert' }, t('remember.refusedBefore')),
    );
  };
  const sync = () => {
    const scope = scopes[chosen()];
    lasts.hidden = !scope;
    element.toggleAttribute('data-chosen', Boolean(scope));
    if (scope) select.value = String(scope.lastsMs);
    show(scope);
  };
  set.addEventListener('change', (event) => event.target !== select && sync());
  sync();
  return {
    element,
    value: () => (chosen() < 0 ? undefined : { scope: scopes[chosen()].scope, lastsMs: Number(select.value) }),
  };
}
