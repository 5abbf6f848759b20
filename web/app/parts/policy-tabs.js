// The three sides of the policy: what is in force, what could be, and what would have been.

import { h } from '../dom.js';
import { t } from '../i18n.js';

const TABS = [
  ['policy', '/policy', 'policy.inForce'],
  ['suggestions', '/policy/suggestions', 'suggest.title'],
  ['replay', '/policy/replay', 'replay.title'],
];

/** @param {string} current the page we are on */
export function policyTabs(current) {
  return h(
    'nav.tabs',
    { 'aria-label': t('nav.policy') },
    TABS.map(([name, href, label]) =>
      h('a.tab', { href, 'aria-current': name === current ? 'page' : null, 'data-tab': name }, t(label)),
    ),
  );
}
