// What the simpler pages have in common: a title, a place for what is loaded, a way to get more of it.

import { fill, h } from '../dom.js';
import { t } from '../i18n.js';

/** Empty pages passed over for one that is not. */
const PAGES_EMPTY_MAX = 20;

/**
 * The frame of a page.
 * @param {string} title
 * @param {string} [lead] one sentence on what this is
 */
export function page(title, lead, ...content) {
  return h('div.page', {}, h('header.page-head', {}, h('h1', {}, title), lead && h('p.lead', {}, lead)), content);
}

/** Runs `load`; while it runs and when it fails, `place` says so. */
export async function loading(place, load) {
  place.setAttribute('aria-busy', 'true');
  try {
    return await load();
  } catch (problem) {
    fill(
      place,
      h(
        place.matches('ul, ol') ? 'li.fault' : 'p.fault',
        {},
        h(
          'span',
          { role: 'alert' },
          problem.code === 'unreachable' ? t('line.lost') : t('fate.refused', { why: problem.message }),
        ),
      ),
    );
    return undefined;
  } finally {
    place.removeAttribute('aria-busy');
  }
}

/**
 * A list that comes in pages of the server.
 * @param {(after: string | undefined) => Promise<{ items: object[], next: string | null }>} fetchPage
 * @param {(item: object) => Node} draw
 * @param {{ empty: string, list: HTMLElement }} how
 */
export function pagedList(fetchPage, draw, { empty, list }) {
  const more = h('button.button', { type: 'button', hidden: true }, t('more'));
  const place = h('div.paged', {}, list, more);
  let next;
  let run = 0;
  const load = async (fresh) => {
    const mine = (run += 1);
    const got = await loading(fresh ? list : more, () => filled(fetchPage, fresh ? undefined : next));
    // A newer search has been started meanwhile.
    if (!got || mine !== run) return;
    const nodes = got.items.map(draw);
    if (fresh) fill(list, nodes.length ? nodes : h('li.quiet', {}, empty));
    else list.append(...nodes);
    next = got.next;
    more.hidden = !next;
  };
  more.addEventListener('click', () => load(false));
  return { element: place, reload: () => load(true) };
}

/** A page may be empty and still have a next one; a person wants to see something, but not to wait for everything. */
async function filled(fetchPage, after) {
  let got = await fetchPage(after);
  for (let tries = 0; tries < PAGES_EMPTY_MAX && got.items.length === 0 && got.next; tries += 1)
    got = await fetchPage(got.next);
  return got;
}

/** Calls `run` once typing has stopped for a moment. */
export function afterTyping(run) {
  let timer = 0;
  return () => {
    clearTimeout(timer);
    timer = setTimeout(run, 200);
  };
}
