// An address that leads nowhere.

import { h } from '../dom.js';
import { t } from '../i18n.js';

/** @returns {import('../main.js').Page} */
export function notFoundPage() {
  return {
    title: t('notFound.title'),
    element: h('div.page', {}, h('h1', {}, t('notFound.title')), h('p', {}, h('a', { href: '/' }, t('notFound.home')))),
  };
}
