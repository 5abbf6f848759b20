// Arguments before and after an edit, as the hunks of a diff. Pure.

/** Longer texts are not compared line by line: all of it goes, all of it comes. */
const LINES_MAX = 1000;

/** The lines both have in common, by dynamic programming; `[i, j]` pairs. */
function common(before, after) {
  const table = Array.from({ length: before.length + 1 }, () => new Uint16Array(after.length + 1));
  for (let i = before.length - 1; i >= 0; i -= 1)
    for (let j = after.length - 1; j >= 0; j -= 1)
      table[i][j] = before[i] === after[j] ? table[i + 1][j + 1] + 1 : Math.max(table[i + 1][j], table[i][j + 1]);
  const pairs = [];
  for (let i = 0, j = 0; i < before.length && j < after.length;) {
    if (before[i] === after[j]) pairs.push([i++, j++]);
    else if (table[i + 1][j] >= table[i][j + 1]) i += 1;
    else j += 1;
  }
  return pairs;
}

/** The same arguments with names in the order they had before: a moved name is not a change. */
function inOrderOf(before, after) {
  const place = (name) => (Object.hasOwn(before, name) ? Object.keys(before).indexOf(name) : Infinity);
  return Object.fromEntries(Object.entries(after).sort(([a], [b]) => place(a) - place(b) || 0));
}

/**
 * One hunk with every line of both.
 * @returns {{ header: string, lines: { change: 'kept' | 'removed' | 'added', text: string }[] }[]}
 */
export function hunksOf(before, after) {
  const [old, fresh] = [before ?? {}, inOrderOf(before ?? {}, after ?? {})].map((args) =>
    JSON.stringify(args, null, 2).split('\n'),
  );
  const pairs = Math.max(old.length, fresh.length) > LINES_MAX ? [] : common(old, fresh);
  const lines = [];
  let [i, j] = [0, 0];
  for (const [atOld, atNew] of [...pairs, [old.length, fresh.length]]) {
    while (i < atOld) lines.push({ change: 'removed', text: old[i++] });
    while (j < atNew) lines.push({ change: 'added', text: fresh[j++] });
    if (i < old.length && j < fresh.length) {
      lines.push({ change: 'kept', text: old[i] });
      i += 1;
      j += 1;
    }
  }
  return [{ header: `@@ -1,${old.length} +1,${fresh.length} @@`, lines }];
}
