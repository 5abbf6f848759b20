// The catalogue as the server sends it to the page, read from `messages/`, and every place where the page says a sentence of it.

import assert from 'node:assert/strict';
import { readFileSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

import { take } from '../app/i18n.js';

const MESSAGES = fileURLToPath(new URL('../../messages', import.meta.url));
const APP = fileURLToPath(new URL('../app', import.meta.url));

/** Every language: a folder each. */
export const LANGUAGES = readdirSync(MESSAGES).sort();

/** The sources of the page. */
export function sources(folder = APP) {
  return readdirSync(folder, { withFileTypes: true, recursive: true })
    .filter((entry) => entry.isFile() && entry.name.endsWith('.js'))
    .map((entry) => join(entry.parentPath ?? entry.path, entry.name));
}

/** The page's own sentences in a language, by the ids it knows: those of `web.toml` without `web.`. */
export const ownSentences = (language) => tables(language, (file) => file === 'web.toml');

/** Those, and the sentences of all other tables. Which of these the server sends to the page is seen in the browser. */
export const sentencesOf = (language) => ({
  ...tables(language, (file) => file !== 'web.toml'),
  ...ownSentences(language),
});

function tables(language, isWanted) {
  const sentences = {};
  for (const file of readdirSync(join(MESSAGES, language)).filter(isWanted)) {
    let table = '';
    for (const line of readFileSync(join(MESSAGES, language, file), 'utf8').split('\n')) {
      table = /^\[(.+)\]$/.exec(line)?.[1] ?? table;
      // The words of replies are lists on several lines, which the page does not say.
      const [, key, text] = /^(\w+) = (".*")$/.exec(line) ?? [];
      if (key === undefined || text.startsWith('"""')) continue;
      sentences[`${table}.${key}`.replace(/^web\./, '')] = JSON.parse(text);
    }
  }
  return sentences;
}

/** Lets this process speak a language. */
export function speak(language) {
  const sentences = sentencesOf(language);
  take({ locale: language, tag: sentences['language.tag'], languages: [], sentences });
}

/** The names of a sentence's parameters. */
export function parametersOf(sentence) {
  const names = [...sentence.matchAll(/\{([a-z_]+)(?::\w+|\|[^}]*)?\}/g)].map(([, name]) => name);
  return [...new Set(names)].sort();
}

/**
 * Every `t(…)` of the page.
 * @returns {{ where: string, ids?: RegExp[], parameters: string[] }[]} without `ids`, the id is a value: `t(label)`
 */
export function uses() {
  return sources()
    .filter((file) => !file.endsWith('/i18n.js'))
    .flatMap((file) => usesIn(readFileSync(file, 'utf8'), file.slice(APP.length + 1)));
}

/** The same of one source. */
export function usesIn(source, name) {
  const code = source.replace(/^\s*(?:\/\/|\*|\/\*\*).*$/gm, '');
  return [...code.matchAll(/(?<![\w.])t\(/g)].map(({ index }) => {
    const text = inside(code, index + 1);
    const where = `${name}: t(${text})`;
    const [id, parameters, ...rest] = split(text);
    assert.equal(rest.length, 0, `${where} has too many arguments`);
    return { where, ids: idsOf(id, where), parameters: namesOf(parameters, where) };
  });
}

/** The ids that a `t(…)` can mean: of the page's own sentences, else of other tables. */
export function idsLike(pattern) {
  const among = (sentences) => Object.keys(sentences).filter((id) => pattern.test(id));
  const own = among(ownSentences('en'));
  return own.length > 0 ? own : among(sentencesOf('en'));
}

/** The ids of every sentence the page says. */
export function saidIds() {
  const sentences = sentencesOf('en');
  const said = uses().flatMap(({ ids }) => (ids ?? []).flatMap(idsLike));
  // An id that is a value stands in the source as a text, with a table in front; it has no parameters.
  const named = [...literals()].filter((id) => id in sentences && parametersOf(sentences[id]).length === 0);
  return new Set([...said, ...named]);
}

/** The strings of the page that could be ids: keyboard shortcuts and tabs name theirs. */
export function literals() {
  const code = sources().map((file) => readFileSync(file, 'utf8'));
  return new Set(code.flatMap((text) => [...text.matchAll(/'([a-zA-Z]+(?:\.\w+)+)'/g)].map(([, id]) => id)));
}

function idsOf(expression, where) {
  const literal = /^'([\w.]+)'$/.exec(expression);
  if (literal) return [exactly(literal[1])];
  const either = /\? '([\w.]+)' : '([\w.]+)'$/s.exec(expression);
  if (either) return [exactly(either[1]), exactly(either[2])];
  const made = /^`([\w.]*)\$\{[^`]*\}`$/.exec(expression);
  if (made) return [new RegExp(`^${made[1].replaceAll('.', '\\.')}[^.]+$`)];
  assert.match(expression, /^\w+$/, `${where}: an id is a text, one of two, a text with a code at its end, or a value`);
  return undefined;
}

const exactly = (id) => new RegExp(`^${id.replaceAll('.', '\\.')}$`);

function namesOf(expression, where) {
  if (expression === undefined) return [];
  assert.ok(expression.startsWith('{') && expression.endsWith('}'), `${where}: parameters are written out`);
  const names = split(expression.slice(1, -1)).map((entry) => /^(\w+)(?=\s*(?::|$))/.exec(entry)?.[1]);
  assert.ok(!names.includes(undefined), `${where}: parameters are written out`);
  return names.sort();
}

/** What stands between a bracket and the one that closes it. */
function inside(code, open) {
  let end = open;
  for (const at of places(code, open)) {
    end = at.index;
    if (at.depth === 0) break;
  }
  return code.slice(open + 1, end).trim();
}

/** The parts between commas that stand in no bracket. */
function split(text) {
  const parts = [];
  let start = 0;
  for (const { index, char, depth } of places(`(${text})`, 0)) {
    if ((char !== ',' || depth !== 1) && depth !== 0) continue;
    parts.push(text.slice(start, index - 1).trim());
    start = index;
  }
  return parts.filter(Boolean);
}

/** Every character from `start` that is not in a text, with the brackets open after it. */
function* places(code, start) {
  let depth = 0;
  let quote = '';
  for (let index = start; index < code.length; index += 1) {
    const char = code[index];
    if (quote) {
      if (char === '\\') index += 1;
      else if (char === quote) quote = '';
      continue;
    }
    if ('\'"`'.includes(char)) quote = char;
    if ('([{'.includes(char)) depth += 1;
    if (')]}'.includes(char)) depth -= 1;
    yield { index, char, depth };
  }
}
