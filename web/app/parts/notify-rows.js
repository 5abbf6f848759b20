// The settings of notifications: while this page is open, and on this device while it is closed.

import { h } from '../dom.js';
import { icon } from '../icons.js';
import { t } from '../i18n.js';
import { canNotify, notifyState, switchNotifications } from '../notify.js';
import { canPush, pushState, switchPush } from '../push.js';
import { toast } from './toast.js';

/** @param {() => void} redraw draws the settings again, with the new state */
export function notifyRows(redraw) {
  const row = (label, data, state, change) =>
    h(
      'div.menu-row',
      {},
      h('span', {}, label),
      h(
        'button.button',
        { type: 'button', [data]: state, onclick: () => switched(change, redraw) },
        icon('bell'),
        t(`notify.state.${state}`),
      ),
    );
  return [
    canNotify() && row(t('menu.notify'), 'data-notify', notifyState(), switchNotifications),
    canPush() && row(t('menu.push'), 'data-push', pushState(), switchPush),
  ];
}

async function switched(change, redraw) {
  try {
    await change();
  } catch (problem) {
    toast(t('fate.refused', { why: problem.message }), 'bad');
  }
  redraw();
}
