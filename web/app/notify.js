// Desktop notifications, for those who switched them on, and the number in the title.

import { t } from './i18n.js';
import { go, questionPath } from './router.js';
import { isMine, store } from './store.js';

const KEY = 'placet.notify';

/** Whether this browser can notify at all. */
export const canNotify = () => 'Notification' in window;

/** `on`, `off`, or `blocked` by the browser. */
export function notifyState() {
  if (Notification.permission === 'denied') return 'blocked';
  return Notification.permission === 'granted' && localStorage.getItem(KEY) === 'on' ? 'on' : 'off';
}

/** Switches them; the browser's permission is asked for only here, which is only reached by a click. */
export async function switchNotifications() {
  if (notifyState() === 'on') {
    localStorage.removeItem(KEY);
  } else if ((await Notification.requestPermission()) === 'granted') {
    localStorage.setItem(KEY, 'on');
  }
}

/** Notifies of new requests while the page is hidden. Says who asks and how risky it is, never the arguments: screens are shared. */
export function notifyOf(questions) {
  if (!canNotify() || notifyState() !== 'on' || document.visibilityState === 'visible') return;
  for (const question of questions.filter(isMine)) {
    const notification = new Notification(
      question.risk
        ? t('notify.title', { agent: question.agent ?? '', risk: t(`risk.long.${question.risk}`) })
        : t('notify.question', { agent: question.agent ?? '' }),
      {
        body: question.call ? t('notify.body', { tool: question.call.tool }) : '',
        tag: question.requestId,
        icon: '/app/icon.svg',
      },
    );
    notification.onclick = () => {
      window.focus();
      notification.close();
      go(questionPath(question.requestId));
    };
  }
}

let pageTitle = '';

/** The page's title, with the number of waiting questions before it. */
export function setTitle(title = pageTitle) {
  pageTitle = title;
  const count = store.waiting;
  document.title = `${count ? `(${count}) ` : ''}${title ? `${title} · ` : ''}Placet`;
}
