// The page's sentences. They are in the catalogue of the server (`messages/`), which sends those of one language; ids of
// `web.toml` are named without `web.`. The parameters are filled in here by the rules of crates/placet-core/src/messages/.

const KEY = 'placet.locale';
const ADDRESS = '/app/messages';
/** The longest wait between two attempts to fetch the sentences, in milliseconds. */
const PAUSE_MAX = 8000;
/** `{name}`, `{count:number}`, `{count|row|rows}`, `{table.*}`. Braces of any other form are text. */
const PLACE = /\{([a-z_]+)(?::(number|duration|list|message)|\|([^|}]*)\|([^}]*)|(\.\*))?\}/g;
/** From the largest; how many milliseconds each has. */
const UNITS = [
  ['format.days', 86_400_000],
  ['format.hours', 3_600_000],
  ['format.minutes', 60_000],
  ['format.seconds', 1000],
  ['format.milliseconds', 1],
];

/** @type {{ locale: string, tag: string, languages: { locale: string, name: string }[], sentences: Record<string, string> }} */
let catalogue = { locale: 'en', tag: 'en', languages: [], sentences: {} };

/** The language in force, as `?locale=` names it. */
export const locale = () => catalogue.locale;

/** The tag that dates and numbers of this language are written by. */
export const tag = () => catalogue.tag;

/** The languages to choose from. */
export const languages = () => catalogue.languages;

/** Fetches the language that was chosen here, else the one that the browser prefers. Waits for the server as long as it takes. */
export async function startLocale() {
  const chosen = localStorage.getItem(KEY);
  for (let pause = 500; ; pause = Math.min(2 * pause, PAUSE_MAX)) {
    try {
      take((chosen && (await fetched(`${ADDRESS}/${encodeURIComponent(chosen)}.json`))) || (await preferred()));
      return;
    } catch {
      await new Promise((done) => setTimeout(done, pause));
    }
  }
}

/** Changes to another language, and keeps the choice. */
export async function setLocale(choice) {
  const found = await fetched(`${ADDRESS}/${encodeURIComponent(choice)}.json`);
  if (!found) throw new Error(`unknown language ${choice}`);
  localStorage.setItem(KEY, choice);
  take(found);
}

/** The server chooses by the browser's `Accept-Language`. */
async function preferred() {
  const found = await fetched(`${ADDRESS}.json`);
  if (!found) throw new Error('no sentences');
  return found;
}

/** The sentences at an address; `undefined` where there are none. */
async function fetched(address) {
  const response = await fetch(address);
  if (response.status === 404) return undefined;
  if (!response.ok) throw new Error(`${address}: ${response.status}`);
  return response.json();
}

/** Takes up the sentences of a language. */
export function take(found) {
  catalogue = found;
  if (globalThis.document) document.documentElement.lang = found.tag;
}

/**
 * The sentence `id` with its parameters filled in.
 * @param {string} id
 * @param {Record<string, unknown>} [parameters]
 * @returns {string}
 */
export function t(id, parameters = {}) {
  const [table] = id.split('.');
  const sentence = own(catalogue.sentences, id) ?? own(catalogue.sentences, `${table}._`);
  return sentence === undefined ? `${id} ${JSON.stringify(parameters)}` : filled(sentence, parameters);
}

const own = (object, key) => (Object.hasOwn(object, key) ? object[key] : undefined);

function filled(sentence, parameters) {
  return sentence.replace(PLACE, (_, name, kind, one, other, nested) => {
    const value = own(parameters, name);
    if (nested) return t(`${name}.${typeof value === 'string' ? value : ''}`, parameters);
    if (other !== undefined) return value === 1 ? one : other;
    return value === undefined ? name : written(kind, value);
  });
}

/** A parameter as its kind is written. */
function written(kind, value) {
  if (kind === 'duration' && typeof value === 'number') return duration(value);
  if (kind === 'list' && Array.isArray(value)) return names(value);
  if (kind === 'message' && value?.id) return t(value.id, value.parameters);
  return typeof value === 'object' ? JSON.stringify(value) : String(value);
}

/** `lin, wei and ana`. */
export function names(list) {
  const items = list.map(String);
  const last = items.pop() ?? '';
  return items.length === 0 ? last : items.join(t('format.separator')) + t('format.and') + last;
}

/** The two largest units that are not zero: `1 h 30 min`. */
function duration(ms) {
  let rest = Math.max(0, Math.trunc(ms));
  const parts = [];
  for (const [unit, size] of UNITS) {
    const whole = Math.floor(rest / size);
    rest %= size;
    if (whole > 0) parts.push(`${whole} ${t(unit)}`);
  }
  return parts.slice(0, 2).join(' ') || `0 ${t('format.seconds')}`;
}
