// What a rule covers of the past: counts, who approved, and different calls among them.

import { h } from '../dom.js';
import { t } from '../i18n.js';
import { raw, sentence } from './text.js';

/** @param {{ calls: number, approved: number, refused: number, sessions: number, days: number, people: string[], examples: string[] }} past */
export function covered(past) {
  if (!past.calls) return h('p.quiet', {}, t('covered.nothing'));
  const counts = [
    t('calls', { n: past.calls }),
    t('covered.approved', { n: past.approved }),
    past.refused > 0 && t('covered.refused', { n: past.refused }),
    t('covered.sessions', { n: past.sessions }),
    t('covered.days', { n: past.days }),
    past.people.length > 0 && t('covered.people', { names: past.people }),
  ];
  return h(
    'div.covered',
    { 'data-covered': String(past.calls) },
    h('p.card-note', {}, raw(counts.filter(Boolean).join(' · '))),
    h(
      'ul.covered-examples',
      {},
      past.examples.map((example) => h('li', {}, sentence(example))),
    ),
  );
}
