// Charts as plain SVG, each with the table of its numbers behind it: nothing is said by colour or shape alone.

import { h, svg } from '../dom.js';
import { t } from '../i18n.js';
import { raw } from './text.js';

const WIDTH = 640;
const HEIGHT = 180;
/** Room for numbers on the left and names below, in units of the drawing. */
const LEFT = 34;
const BELOW = 20;
/** The most names below a chart that do not run into each other on a phone. */
const NAMES_MAX = 6;

/** A round number not below the largest value, so that the middle line has a whole number, too. */
export function ceiling(values) {
  const most = Math.max(2, ...values);
  const size = 10 ** Math.floor(Math.log10(most));
  const steps = [1, 2, 4, 6, 8, 10].map((step) => step * size);
  return steps.find((step) => step >= most && step % 2 === 0) ?? 2 * size * 10;
}

/**
 * Columns, each of one or more parts that stand on each other.
 * @param {{ name: string, parts: { series: string, value: number }[] }[]} columns
 */
export function columnChart(columns) {
  const sums = columns.map(({ parts }) => parts.reduce((sum, { value }) => sum + value, 0));
  const top = ceiling(sums);
  const step = (WIDTH - LEFT) / Math.max(1, columns.length);
  const y = (value) => HEIGHT - BELOW - ((HEIGHT - BELOW - 8) * value) / top;
  const every = Math.ceil(columns.length / NAMES_MAX);
  const lines = [0, top / 2, top].map((value) => [
    svg('line', { x1: LEFT, x2: WIDTH, y1: y(value), y2: y(value), class: 'chart-line' }),
    svg('text', { x: LEFT - 6, y: y(value) + 4, class: 'chart-number' }, String(value)),
  ]);
  const bars = columns.map(({ name, parts }, at) => {
    let below = 0;
    const x = LEFT + at * step;
    const drawn = parts
      .filter(({ value }) => value > 0)
      .map(({ series, value }) => {
        const part = { y: y(below + value), height: y(below) - y(below + value) };
        below += value;
        return svg('rect', {
          x: x + step * 0.12,
          width: step * 0.76,
          ...part,
          class: `series-${series}`,
        });
      });
    const label = at % every === 0 && svg('text', { x: x + step / 2, y: HEIGHT - 5, class: 'chart-name' }, name);
    return [drawn, label];
  });
  return svg(
    'svg',
    { viewBox: `0 0 ${WIDTH} ${HEIGHT}`, class: 'chart', 'aria-hidden': 'true', focusable: 'false' },
    lines,
    bars,
  );
}

/**
 * A figure: a heading, its drawing, what the colours mean, and the numbers as a table.
 * @param {string} title
 * @param {{ chart?: Element, legend?: [string, string][], head: string[], rows: (string | Node)[][], note?: string }} what
 */
export function figure(title, { chart, legend = [], head, rows, note, open = false }) {
  const table = dataTable(title, head, rows);
  return h(
    'section.figure',
    { 'data-figure': title },
    h('h2', {}, title),
    note && h('p.hint', {}, note),
    chart && h('div.chart-place', {}, chart),
    legend.length > 0 &&
      h(
        'ul.legend',
        {},
        legend.map(([series, words]) => h('li', {}, h('span.swatch', { class: `series-${series}` }), words)),
      ),
    chart
      ? h('details.figure-table', { open }, h('summary', {}, t('insights.table')), table)
      : rows.length > 0
        ? table
        : h('p.quiet', {}, t('insights.nothing')),
  );
}

/** Numbers in rows, each with a name. */
export function dataTable(title, head, rows) {
  return h(
    'div.table-scroll',
    { tabindex: '0', role: 'region', 'aria-label': title },
    h(
      'table.data-table',
      {},
      h('caption.visually-hidden', {}, title),
      h(
        'thead',
        {},
        h(
          'tr',
          {},
          head.map((name) => h('th', { scope: 'col' }, name)),
        ),
      ),
      h(
        'tbody',
        {},
        rows.map(([name, ...cells]) =>
          h(
            'tr',
            {},
            h('th', { scope: 'row' }, typeof name === 'string' ? raw(name) : name),
            cells.map((cell) => h('td', {}, cell)),
          ),
        ),
      ),
    ),
  );
}
