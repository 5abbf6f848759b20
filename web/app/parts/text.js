// Text of others, shown as the server made it safe: its marks for what cannot be seen stand out, the rest is plain text.
//
// The server has escaped everything (`⟦ESC⟧`, `⟦U+202E⟧`, `⏎`, `⇥`) and a forged mark arrives escaped itself. Nothing is
// decoded here: a mark only gets a colour and an explanation.

import { h } from '../dom.js';
import { t } from '../i18n.js';

const MARK = /⟦[^⟧]*⟧|[⏎⇥]/g;

/**
 * Cuts safe text into plain pieces and marks.
 * @returns {{ text: string, mark: boolean }[]}
 */
export function pieces(text) {
  const found = [];
  let from = 0;
  for (const { 0: mark, index } of text.matchAll(MARK)) {
    if (index > from) found.push({ text: text.slice(from, index), mark: false });
    found.push({ text: mark, mark: true });
    from = index + mark.length;
  }
  if (from < text.length) found.push({ text: text.slice(from), mark: false });
  return found;
}

/** What a mark stands for, in words. */
function explain(mark) {
  if (mark === '⏎') return t('mark.break');
  if (mark === '⇥') return t('mark.tab');
  if (mark.startsWith('⟦≈') || mark.startsWith('⟦mixed')) return t('mark.lookalike');
  if (mark.endsWith('spaces⟧') || mark.endsWith('breaks⟧')) return t('mark.run');
  return t('mark.hidden');
}

/** Safe text as nodes. */
export function safe(text) {
  return pieces(String(text ?? '')).map(({ text: piece, mark }) =>
    mark ? h(piece.length === 1 ? 'span.mark-soft' : 'mark.mark', { title: explain(piece) }, piece) : piece,
  );
}

/** For text the server sends raw (whole journal events): whatever cannot be seen is written as `⟦U+…⟧`, as the server would. */
export function escapeHidden(text) {
  return text.replace(/[\p{C}\p{Z}⟦⟧]/gu, (char) =>
    char === ' ' || char === '\n' ? char : `⟦U+${char.codePointAt(0).toString(16).toUpperCase().padStart(4, '0')}⟧`,
  );
}

/** Text that comes raw, as nodes. */
export const raw = (text) => safe(escapeHidden(String(text ?? '')));

/** A sentence of ours: names in backticks are set as code (the backticks stay, only fainter), ids are set small. */
export function sentence(text) {
  return String(text ?? '')
    .split(/(`[^`\n]+`)/)
    .map((part) =>
      /^`[^`\n]+`$/.test(part) ? h('code', {}, tick(), words(part.slice(1, -1)), tick()) : withIds(part),
    );
}

/** A longer word may be broken anywhere. */
const WORD_CHARS_MAX = 24;

/** Code word by word: a line must not break inside `--force`, where it would read as another command. */
function words(text) {
  return text
    .split(/( +)/)
    .map((word) => (word.length <= WORD_CHARS_MAX && word.includes('-') ? h('span.word', {}, safe(word)) : safe(word)));
}

const tick = () => h('span.tick', {}, '`');

function withIds(text) {
  return text
    .split(/(\b(?:call|int|sg)_[0-9a-f]{16,}\b)/)
    .map((part, at) => (at % 2 === 1 ? h('span.id', {}, part) : safe(part)));
}
