// A question's document (placet_core::render::Document) on the page: every block of it, in its order, nothing left out.

import { h } from '../dom.js';
import { icon } from '../icons.js';
import { t } from '../i18n.js';
import { tag } from '../time.js';
import { diffCounts, diffSize, diffTable } from './diff.js';
import { riskBadge, riskClass } from './risk.js';
import { safe, sentence } from './text.js';

/** More lines than this are folded where the risk allows it, with a button that says how many there are. */
const LINES_SHOWN = 40;
const CHARS_SHOWN = 6000;

/** What is long folds, saying so; HIGH never folds: it must all have been on the screen. Folded is scrolled, never cut. */
function folded(block, { lines, chars }, { foldable }) {
  if (!foldable || (lines <= LINES_SHOWN && chars <= CHARS_SHOWN)) return block;
  block.classList.add('is-folded');
  block.tabIndex = 0;
  const count = new Intl.NumberFormat(tag());
  const button = h(
    'button.unfold',
    {
      type: 'button',
      onclick: () => {
        block.classList.remove('is-folded');
        button.remove();
        block.focus();
      },
    },
    t('fold.more', { lines: count.format(lines), chars: count.format(chars) }),
  );
  return h('div.fold', {}, block, button);
}

/** Code on several lines. */
function code(text, how) {
  const block = h('pre.code', { tabindex: '0' }, safe(text));
  return folded(block, { lines: text.split('\n').length, chars: text.length }, how);
}

function labelled(label, content, extra = '') {
  return h('div.block', { class: extra }, h('h3.block-label', {}, safe(label)), content);
}

const BLOCKS = {
  heading: () => null, // The page's own heading; see `headingOf`.
  text: ({ label, text }) => {
    const paragraphs = h('p.prose', {}, safe(text));
    return label ? labelled(label, h('blockquote.quote', {}, paragraphs)) : h('div.block', {}, paragraphs);
  },
  field: ({ label, value }) =>
    h('div.block.field', {}, h('h3.block-label', {}, safe(label)), h('p.field-value', {}, sentence(value))),
  line: ({ text }, how) =>
    h('div.block', {}, h('h3.block-label', {}, icon('terminal'), t('block.line')), code(text, how)),
  commands: ({ label, commands }) =>
    h(
      'div.block',
      {},
      h('h3.block-label', {}, icon('terminal'), label ? safe(label) : t('block.commands', { n: commands.length })),
      h('ol.commands', {}, commands.map(commandLine)),
    ),
  statement: ({ verb, text, risk, why }, how) =>
    h(
      'div.block.judged',
      { class: riskClass(risk) },
      h('h3.block-label', {}, icon('table'), safe(verb), riskBadge(risk)),
      code(text, how),
      why && h('p.why', {}, sentence(why)),
    ),
  rows: ({ label, count, statement }, how) =>
    h(
      'div.block.rows',
      {},
      h('h3.block-label', {}, safe(label)),
      h('p.rows-count', {}, new Intl.NumberFormat(tag()).format(count)),
      h('details', {}, h('summary', {}, t('block.counted')), code(statement, how)),
    ),
  host: ({ label, host, risk, why }) =>
    h(
      'div.block.judged',
      { class: riskClass(risk) },
      h('h3.block-label', {}, icon('globe'), safe(label), riskBadge(risk)),
      h('p.host', {}, safe(host)),
      why && h('p.why', {}, sentence(why)),
    ),
  diff: ({ label, hunks }, how) => {
    const { added, removed } = diffCounts(hunks);
    const counts = h(
      'span.diff-counts',
      {},
      h('span.diff-plus', {}, `+${added}`),
      ' ',
      h('span.diff-minus', {}, `−${removed}`),
    );
    return h(
      'div.block',
      {},
      h('h3.block-label', {}, icon('file'), h('span', {}, safe(label)), counts),
      folded(diffTable(hunks), diffSize(hunks), how),
    );
  },
  args: ({ label, args }, how) =>
    labelled(
      label,
      args.length
        ? h(
            'dl.args',
            {},
            args.map(({ name, value }) => h('div.arg', {}, h('dt', {}, safe(name)), h('dd', {}, argValue(value, how)))),
          )
        : h('p.quiet', {}, t('block.noArgs')),
    ),
  warning: ({ text }) => h('div.block.warning', {}, icon('warning'), h('p', {}, sentence(text))),
  options: () => null, // Drawn as buttons; see `answer-bar.js`.
  countdown: () => null, // Runs in the question's header.
};

function argValue(value, how) {
  return code(value.json ?? value.text ?? '', how);
}

/** One command of a line, or anything else that was found and judged: what, under what, how bad, why. */
export function commandLine({ text, under = [], risk, why }) {
  return h(
    'li.command',
    { class: riskClass(risk) },
    h(
      'div.command-line',
      {},
      under.length > 0 &&
        h(
          'span.under',
          {},
          under.map((wrapper) => [
            h('span.wrapper', {}, safe(wrapper)),
            h('span.under-arrow', { 'aria-hidden': 'true' }, '›'),
          ]),
        ),
      h('code.command-text', {}, safe(text)),
      riskBadge(risk),
    ),
    why && h('p.why', {}, sentence(why)),
  );
}

/** Blocks of a kind this page does not know are shown as they came: better odd than hidden. */
function unknown(block) {
  return h('div.block', {}, h('pre.code', { tabindex: '0' }, safe(JSON.stringify(block, null, 2))));
}

/** The heading of a document. */
export function headingOf(document) {
  return document?.head?.find(({ block }) => block === 'heading')?.text ?? '';
}

/**
 * Some blocks of a document.
 * @param {object[]} blocks
 * @param {{ foldable: boolean }} how whether long code may be folded
 */
export function blocks(blocks, how) {
  return blocks.map((block) => (BLOCKS[block.block] ?? unknown)(block, how)).filter(Boolean);
}

/** One line that says what would happen, for lists: the first thing a reader needs. */
export function gist(question) {
  const blocks = [...(question.document?.head ?? []), ...(question.document?.body ?? [])];
  const lines = blocks.filter(({ block }) => block === 'line');
  if (lines.length > 0) return { mono: true, text: lines.map(({ text }) => text).join('\n') };
  for (const block of blocks) {
    if (block.block === 'commands')
      return {
        mono: true,
        text: block.commands.map(({ under = [], text }) => [...under, text].join(' › ')).join('\n'),
      };
    if (block.block === 'statement') return { mono: true, text: block.text };
    if (block.block === 'host') return { mono: true, text: block.host };
    if (block.block === 'diff') return { mono: false, text: block.label };
    if (block.block === 'warning') return { mono: false, text: block.text };
    // A text with a label is somebody's opinion of it.
    if (block.block === 'text' && !block.label) return { mono: false, text: block.text };
    if (block.block === 'args')
      return {
        mono: true,
        text: block.args
          .map(({ name, value }) => `${name}: ${(value.json ?? value.text ?? '').replace(/\s*\n\s*/g, ' ')}`)
          .join('\n'),
      };
  }
  return { mono: false, text: question.message ?? question.title ?? '' };
}
