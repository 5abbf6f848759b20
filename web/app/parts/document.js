// A question's document (placet_core::render::Document) on the page: every block of it, in its order, nothing left out.

import { h } from '../dom.js';
import { icon } from '../icons.js';
import { t, tag } from '../i18n.js';
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
  commands: ({ label, commands }, how) =>
    h(
      'div.block',
      {},
      (label || commands.length > 1) &&
        h('h3.block-label', {}, icon('terminal'), label ? safe(label) : t('block.commands', { n: commands.length })),
      h(
        'ol.commands',
        {},
        commands.map((command) => commandLine(command, how)),
      ),
    ),
  statement: ({ verb, text, risk, why }, how) =>
    h(
      'div.block.judged',
      { class: riskClass(risk) },
      h('h3.block-label', {}, icon('table'), safe(verb), !how.once && riskBadge(risk)),
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
  host: ({ label, host, risk, why }, how) =>
    h(
      'div.block.judged',
      { class: riskClass(risk) },
      h('h3.block-label', {}, icon('globe'), safe(label), !how.once && riskBadge(risk)),
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
export function commandLine({ text, under = [], risk, why }, { once = false } = {}) {
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
      !once && riskBadge(risk),
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
 * @param {{ foldable: boolean, risk?: string }} how whether long code may be folded; the risk that is said above already
 */
export function blocks(blocks, how) {
  const judged = blocks.flatMap(
    (block) => block.commands ?? ('risk' in block && block.block !== 'heading' ? [block] : []),
  );
  const once = judged.length === 1 && judged[0].risk === how.risk;
  return blocks.map((block) => (BLOCKS[block.block] ?? unknown)(block, { ...how, once })).filter(Boolean);
}

/** The lines, commands and statements of a document, for searching. */
export function textsOf(document) {
  const blocks = document?.head ?? [];
  const own = blocks.filter(({ block }) => block === 'line' || block === 'statement').map(({ text }) => text);
  const commands = blocks.flatMap((block) => block.commands ?? []);
  return [...own, ...commands.map(({ under = [], text }) => [...under, text].join(' › '))].join('\n');
}

/** What would happen, for lists: the title that every other surface shows as well; of an agent's question its words. */
export function gist(question) {
  const all = [...(question.document?.head ?? []), ...(question.document?.body ?? [])];
  const own = question.call ? null : all.find(({ block, label }) => block === 'text' && !label);
  return { mono: false, text: own?.text ?? (headingOf(question.document) || question.message || question.title || '') };
}
