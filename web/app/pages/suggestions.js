// Rules for what people always approved, ready to copy into placet.toml.

import { api } from '../api.js';
import { fill, freshId, h } from '../dom.js';
import { t } from '../i18n.js';
import { covered } from '../parts/covered.js';
import { loading, page } from '../parts/page.js';
import { policyTabs } from '../parts/policy-tabs.js';
import { raw, sentence } from '../parts/text.js';
import { toast } from '../parts/toast.js';

const DAYS = [7, 30, 90];
const MIN = [2, 3, 5, 10];

/** @returns {import('../main.js').Page} */
export function suggestionsPage() {
  const list = h('ul.cards', { 'data-suggestions': true });
  const days = select(DAYS, 30, (n) => t('suggest.days', { n }));
  const min = select(MIN, 3, (n) => t('times', { n }));
  const load = async () => {
    const got = await loading(list, () => api.suggestions({ days: days.value, min: min.value }));
    if (got) fill(list, got.items.length ? got.items.map(card) : h('li.quiet', {}, t('suggest.empty')));
  };
  days.addEventListener('change', load);
  min.addEventListener('change', load);
  load();
  const filters = h('div.filters', {}, field(t('suggest.since'), days), field(t('suggest.often'), min));
  return {
    title: t('suggest.title'),
    element: page(t('suggest.title'), t('suggest.lead'), policyTabs('suggestions'), filters, list),
  };
}

function select(values, chosen, label) {
  const element = h(
    'select',
    { id: freshId('filter') },
    values.map((value) => h('option', { value }, label(value))),
  );
  element.value = String(chosen);
  return element;
}

function field(label, input) {
  return h('div.form-field', {}, h('label', { for: input.id }, label), input);
}

function card(suggestion) {
  return h(
    'li',
    {},
    h(
      'div.card.suggestion',
      { 'data-suggestion': suggestion.name },
      h('p.card-title', {}, sentence(suggestion.text)),
      covered(suggestion.covered),
      h('pre.toml', { tabindex: '0' }, raw(suggestion.toml)),
      h('div.buttons', {}, copyButton(suggestion.toml)),
    ),
  );
}

function copyButton(text) {
  const copy = async () => {
    try {
      await navigator.clipboard.writeText(text);
      toast(t('copied'), 'good');
    } catch {
      toast(t('copyFailed'), 'bad');
    }
  };
  return h('button.button', { type: 'button', 'data-copy': true, onclick: copy }, t('copy'));
}
