// The page's words in two languages. The server renders questions in the same one (`?locale=`).

import { en } from './i18n/en.js';
import { zh } from './i18n/zh.js';

/** Both tables; a test holds them to the same keys. */
export const TABLES = { en, zh };

const KEY = 'placet.locale';
let current = 'en';

/** The language in force: `en` or `zh`. */
export function locale() {
  return current;
}

/** The language to begin with: what was chosen here, else the first of the browser's that we speak. */
export function pickLocale(kept, languages) {
  if (Object.hasOwn(TABLES, kept)) return kept;
  for (const language of languages ?? []) {
    const base = String(language).toLowerCase().split('-')[0];
    if (Object.hasOwn(TABLES, base)) return base;
  }
  return 'en';
}

/** Takes up the language to begin with. */
export function startLocale() {
  apply(pickLocale(localStorage.getItem(KEY) ?? '', navigator.languages));
}

/** Keeps a choice. */
export function setLocale(choice) {
  localStorage.setItem(KEY, choice);
  apply(choice);
}

function apply(choice) {
  current = choice;
  document.documentElement.lang = choice === 'zh' ? 'zh-CN' : 'en';
}

/**
 * The words for `key`, with `{name}` filled in. With `n` given, `key.one` is used for exactly one where there is such.
 * @param {string} key
 * @param {Record<string, string | number>} [values]
 */
export function t(key, values = {}) {
  const table = TABLES[current];
  const text = (values.n === 1 ? table[`${key}.one`] : undefined) ?? table[key] ?? key;
  return text.replace(/\{(\w+)\}/g, (whole, name) => (name in values ? String(values[name]) : whole));
}

/** A list of names: `Lin and Wei`. */
export function names(list) {
  return new Intl.ListFormat(current === 'zh' ? 'zh-CN' : 'en', { type: 'conjunction' }).format(list.map(String));
}
