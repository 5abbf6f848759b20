// The page and the catalogue: every sentence the page says exists, with exactly its parameters, and every sentence is said.

import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';

import { t } from '../app/i18n.js';
import {
  LANGUAGES,
  idsLike,
  ownSentences,
  parametersOf,
  saidIds,
  sentencesOf,
  speak,
  uses,
  usesIn,
} from './catalogue.js';

const SENTENCES = sentencesOf('en');
const idsOf = (use) => use.ids.map(idsLike);

/** What is wrong with one `t(…)`. */
function faultOf(use) {
  if (!use.ids) return use.parameters.length > 0 && `${use.where}: an id that is a value has no parameters`;
  const found = idsOf(use);
  if (found.some((ids) => ids.length === 0)) return `${use.where}: no such sentence`;
  const wanted = [...new Set(found.flat().flatMap((id) => parametersOf(SENTENCES[id])))].sort();
  return wanted.join() !== use.parameters.join() && `${use.where}: the parameters are ${wanted.join(', ') || 'none'}`;
}

test('every sentence the page says is in the catalogue, with the parameters it is given', () => {
  const all = uses();
  assert.ok(all.length > 200);
  assert.deepEqual(all.map(faultOf).filter(Boolean), []);
});

test('a missing sentence, a missing parameter and one too many are found', () => {
  const faults = (code) => usesIn(code, 'x.js').map(faultOf).filter(Boolean).length;
  assert.equal(faults("t('inbox.count', { n: f(1, ',') })\nt('close') + t(`risk.${x}`)\nt(a ? 'more' : 'copy')"), 0);
  for (const wrong of [
    "t('inbox.nothing')",
    "t('inbox.count')",
    "t('inbox.count', { n, m })",
    "t('inbox.count', { m: n })",
    "t('close', { n })",
    't(`nowhere.${x}`)',
    "t(a ? 'more' : 'nothing')",
    't(label, { n })',
  ])
    assert.equal(faults(wrong), 1, wrong);
  assert.throws(() => usesIn("t('inbox.count', values)", 'x.js'));
  assert.throws(() => usesIn("t(a + 'count')", 'x.js'));
});

test('every sentence of the page is said', () => {
  const said = saidIds();
  const own = Object.keys(ownSentences('en'));
  assert.ok(own.length > 300);
  assert.deepEqual(
    own.filter((id) => !said.has(id)),
    [],
  );
});

test('the page says a sentence as the server does', () => {
  const samples = JSON.parse(readFileSync(new URL('sentences.json', import.meta.url), 'utf8'));
  for (const language of LANGUAGES) {
    speak(language);
    for (const { id, parameters, says } of samples)
      if (language in says) assert.equal(t(id, parameters), says[language], `${id} in ${language}`);
  }
  speak('en');
});
