// The list of chats: what each began with, when it was used last, and whether it waits for a decision.

import { allChats } from '../chats.js';
import { fill, h } from '../dom.js';
import { t } from '../i18n.js';
import { chatPath } from '../router.js';
import { store } from '../store.js';
import { when } from '../time.js';
import { raw } from './text.js';

/** Draws the chats there are now; `current` is the one that is open. */
export async function drawChats(list, current) {
  const chats = await allChats().catch(() => null);
  if (chats && list.isConnected)
    fill(
      list,
      chats.map((chat) => entry(chat, current)),
    );
}

function entry({ sessionId, title, at }, current) {
  const asks = store.pending.some((question) => question.sessionId === sessionId);
  return h(
    'li',
    {},
    h(
      'a.chat-link',
      { href: chatPath(sessionId), 'data-chat': sessionId, 'aria-current': sessionId === current ? 'page' : null },
      h('span.chat-title', {}, title ? raw(title) : t('nav.chat')),
      h('span.chat-when', {}, when(at)),
      asks && h('span.badge', {}, t('chat.asks')),
    ),
  );
}
