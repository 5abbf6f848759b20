// What just happened, said once: on the screen for a while, and to screen readers.

import { fill, h } from '../dom.js';
import { icon } from '../icons.js';
import { t } from '../i18n.js';

const SHOWN_MS = 6000;
/** @type {{ stack: Element, polite: Element, assertive: Element } | undefined} */
let places;

/** Made when first needed: a module that is only imported makes no elements. */
function regions() {
  places ??= {
    stack: h('div.toasts'),
    polite: h('div.visually-hidden', { 'aria-live': 'polite', role: 'status' }),
    assertive: h('div.visually-hidden', { 'aria-live': 'assertive', role: 'alert' }),
  };
  return places;
}

/** The places toasts and announcements live in; part of the shell. */
export function announcers() {
  return Object.values(regions());
}

/** Says something to screen readers only. */
export function announce(text, { urgent = false } = {}) {
  const { polite, assertive } = regions();
  const region = urgent ? assertive : polite;
  // The same words twice must be two changes, or the second is not read.
  fill(region, h('p', {}, text));
}

const ICONS = { good: 'check', bad: 'cross', note: 'info', warn: 'warning' };

/**
 * @param {string} text
 * @param {'good' | 'bad' | 'note' | 'warn'} [tone]
 */
export function toast(text, tone = 'note') {
  announce(text, { urgent: tone === 'bad' || tone === 'warn' });
  const close = h('button.icon-button', { type: 'button', 'aria-label': t('close') }, icon('cross'));
  const element = h(
    'div.toast',
    { class: `toast-${tone}`, 'data-toast': tone },
    icon(ICONS[tone]),
    h('p', {}, text),
    close,
  );
  const remove = () => element.remove();
  close.addEventListener('click', remove);
  const timer = { id: setTimeout(remove, SHOWN_MS) };
  // It stays while the pointer is on it.
  element.addEventListener('pointerenter', () => clearTimeout(timer.id));
  element.addEventListener('pointerleave', () => (timer.id = setTimeout(remove, SHOWN_MS)));
  const { stack } = regions();
  stack.append(element);
  while (stack.children.length > 4) stack.firstChild.remove();
}
