// A file before and after, side by side; on a narrow screen one under the other.

import { h } from '../dom.js';
import { t } from '../i18n.js';
import { safe } from './text.js';

/** Where a hunk begins in both files, from `@@ -1,4 +1,5 @@`. */
export function startsOf(header) {
  const found = /^@@ -(\d+)(?:,\d+)? \+(\d+)(?:,\d+)? @@/.exec(header ?? '');
  return found ? [Number(found[1]), Number(found[2])] : [1, 1];
}

/**
 * Pairs what goes with what comes, line by line, so that a change stands on one row.
 * @param {{ header: string, lines: { change: 'kept' | 'removed' | 'added', text: string }[] }} hunk
 * @returns {{ kind: 'kept' | 'changed', old?: { number: number, text: string }, new?: { number: number, text: string } }[]}
 */
export function rowsOf(hunk) {
  let [oldNumber, newNumber] = startsOf(hunk.header);
  const rows = [];
  let removed = [];
  let added = [];
  const flush = () => {
    for (let at = 0; at < Math.max(removed.length, added.length); at += 1) {
      rows.push({ kind: 'changed', old: removed[at], new: added[at] });
    }
    removed = [];
    added = [];
  };
  for (const { change, text } of hunk.lines) {
    if (change === 'removed') {
      if (added.length) flush();
      removed.push({ number: oldNumber++, text });
    } else if (change === 'added') {
      added.push({ number: newNumber++, text });
    } else {
      flush();
      rows.push({ kind: 'kept', old: { number: oldNumber++, text }, new: { number: newNumber++, text } });
    }
  }
  flush();
  return rows;
}

/**
 * The middle of a line that differs from its pair: `[same, different, same]`. Nothing is singled out where marks could be
 * cut in two or where nearly everything differs.
 */
export function difference(text, other) {
  if (other === undefined || text.includes('⟦') || other.includes('⟦')) return [text, '', ''];
  let head = 0;
  while (head < text.length && head < other.length && text[head] === other[head]) head += 1;
  let tail = 0;
  while (tail < text.length - head && tail < other.length - head && text.at(-1 - tail) === other.at(-1 - tail))
    tail += 1;
  if (head + tail < text.length / 3) return [text, '', ''];
  return [text.slice(0, head), text.slice(head, text.length - tail), text.slice(text.length - tail)];
}

function side(line, other, which, changed) {
  const sign = changed ? (which === 'old' ? '−' : '+') : '';
  if (!line) return h('div.diff-side.diff-empty', { class: `diff-${which}` });
  const [before, middle, after] = changed ? difference(line.text, other?.text) : [line.text, '', ''];
  return h(
    'div.diff-side',
    { class: `diff-${which}` },
    h('span.diff-number', { 'aria-hidden': 'true' }, String(line.number)),
    changed && h('span.visually-hidden', {}, t(which === 'old' ? 'diff.removed' : 'diff.added')),
    h('span.diff-sign', { 'aria-hidden': 'true' }, sign),
    h('span.diff-text', {}, safe(before), middle && h('span.diff-word', {}, safe(middle)), safe(after)),
  );
}

/** The rows of a change. */
export function diffTable(hunks) {
  return h(
    'div.diff',
    {},
    hunks.map((hunk) => [
      h('div.diff-header', {}, safe(hunk.header)),
      rowsOf(hunk).map((row) =>
        h(
          'div.diff-row',
          { class: row.kind === 'changed' ? 'diff-changed' : '' },
          side(row.old, row.new, 'old', row.kind === 'changed'),
          side(row.new, row.old, 'new', row.kind === 'changed'),
        ),
      ),
    ]),
  );
}

/** How long a change is to read. */
export function diffSize(hunks) {
  const lines = hunks.flatMap((hunk) => hunk.lines);
  return { lines: lines.length, chars: lines.reduce((sum, { text }) => sum + text.length, 0) };
}

/** How many lines go and come. */
export function diffCounts(hunks) {
  const lines = hunks.flatMap((hunk) => hunk.lines);
  return {
    removed: lines.filter(({ change }) => change === 'removed').length,
    added: lines.filter(({ change }) => change === 'added').length,
  };
}
