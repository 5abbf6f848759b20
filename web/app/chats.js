// The chats of this person: which there are and what each was about. The server knows the sessions; what each began with is
// kept by the browser, for all its tabs.

import { api } from './api.js';
import { store } from './store.js';

const CHATS_MAX = 50;
const TITLE_CHARS_MAX = 80;
const key = () => `placet.chats ${store.me?.person ?? ''}`;

/** @typedef {{ sessionId: string, title?: string, at: string }} KnownChat */

/** @returns {KnownChat[]} newest first */
function known() {
  try {
    const list = JSON.parse(localStorage.getItem(key()) ?? '[]');
    return Array.isArray(list) ? list : [];
  } catch {
    return [];
  }
}

/** Something was said in a chat; the first words are its title. */
export function noteChat(sessionId, words) {
  const before = known();
  const old = before.find((chat) => chat.sessionId === sessionId);
  const title = old?.title ?? (words ? words.trim().slice(0, TITLE_CHARS_MAX) : undefined);
  const chat = { sessionId, title, at: new Date().toISOString() };
  const rest = before.filter((other) => other.sessionId !== sessionId);
  localStorage.setItem(key(), JSON.stringify([chat, ...rest].slice(0, CHATS_MAX)));
}

/** The chat that was used last, in any tab. */
export const lastChat = () => known()[0]?.sessionId;

/** Forgets a chat the server does not know. */
export function forgetChat(sessionId) {
  localStorage.setItem(key(), JSON.stringify(known().filter((chat) => chat.sessionId !== sessionId)));
}

/** All chats, newest first: those known here and those only the server knows. */
export async function allChats() {
  const here = new Map(known().map((chat) => [chat.sessionId, chat]));
  const { items } = await api.sessions({ q: 'chat_', limit: CHATS_MAX });
  for (const { sessionId, lastAt } of items.filter(({ sessionId }) => sessionId.startsWith('chat_'))) {
    const chat = here.get(sessionId);
    here.set(sessionId, { sessionId, title: chat?.title, at: chat && chat.at > lastAt ? chat.at : lastAt });
  }
  return [...here.values()].sort((a, b) => String(b.at).localeCompare(String(a.at))).slice(0, CHATS_MAX);
}
