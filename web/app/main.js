// The beginning: who is here, which page, and the live line that keeps it true.

import { api, whenSignedOut } from './api.js';
import { fill, h } from './dom.js';
import { guard } from './guard.js';
import { held } from './held.js';
import { startLocale, t } from './i18n.js';
import { addKeys, listenKeys } from './keys.js';
import { notifyOf, setTitle } from './notify.js';
import { auditPage } from './pages/audit.js';
import { chatPage } from './pages/chat.js';
import { grantsPage } from './pages/grants.js';
import { historyPage } from './pages/history.js';
import { inboxPage } from './pages/inbox.js';
import { insightsPage } from './pages/insights.js';
import { notFoundPage } from './pages/not-found.js';
import { policyPage } from './pages/policy.js';
import { replayPage } from './pages/replay.js';
import { runsPage } from './pages/runs.js';
import { sessionPage } from './pages/session.js';
import { sessionsPage } from './pages/sessions.js';
import { signInPage } from './pages/sign-in.js';
import { suggestionsPage } from './pages/suggestions.js';
import { undoLast } from './parts/held-bar.js';
import { Shell } from './parts/shell.js';
import { announce } from './parts/toast.js';
import { startWorker } from './push.js';
import { go, listen, match } from './router.js';
import { SharedLine } from './shared-line.js';
import { store } from './store.js';
import { applyTheme } from './theme.js';

/** @typedef {{ element: Element, title: string, destroy?: () => void, take?: (route: object) => boolean, focus?: () => void }} Page */

const PAGES = {
  inbox: inboxPage,
  history: historyPage,
  insights: insightsPage,
  sessions: sessionsPage,
  session: sessionPage,
  chat: chatPage,
  runs: runsPage,
  audit: auditPage,
  policy: policyPage,
  suggestions: suggestionsPage,
  replay: replayPage,
  grants: grantsPage,
  notFound: notFoundPage,
};

const root = document.getElementById('app');
let shell = null;
let line = null;
let page = null;
let pageName = '';

/** Goes where the address says. */
function route() {
  const wanted = match(location.pathname, location.search);
  if (wanted.page === 'signIn') return showSignIn();
  if (!shell) return enter();
  // The inbox stays while only the chosen question changes.
  if (wanted.page === pageName && page?.take?.(wanted)) return setTitle(page.title);
  page?.destroy?.();
  pageName = wanted.page;
  page = PAGES[pageName](wanted);
  shell.at(pageName);
  fill(shell.main, page.element);
  setTitle(page.title);
  if (page.focus) page.focus();
  else shell.main.focus({ preventScroll: true });
  scrollTo(0, 0);
}

/** After signing in: the frame, the list, the live line. */
async function enter() {
  try {
    store.me = await api.me();
  } catch (problem) {
    if (problem.code !== 'unreachable') return;
    fill(
      root,
      h(
        'main.gate',
        {},
        h('p', {}, t('line.lost')),
        h('button.button', { type: 'button', onclick: enter }, t('line.retry')),
      ),
    );
    return;
  }
  frame();
  store.loaded = false;
  line = new SharedLine(`placet-live ${store.me.person}`, '/v1/events', {
    event: (event) => store.note(event),
    state: (state) => store.setLine(state),
    fresh: () => {
      store.reload();
      store.dispatchEvent(new Event('fresh'));
    },
    refused: (status) => status === 401 && signedOut(),
  });
  line.start();
  route();
}

function frame() {
  shell?.destroy();
  shell = new Shell({ onLocale: redraw, onRetry: () => line?.retryNow(), onSignOut: signedOut });
  fill(root, shell.element);
}

/** Another language: everything is drawn again, and questions are loaded in it. */
async function redraw() {
  await store.reload();
  page?.destroy?.();
  page = null;
  frame();
  route();
}

function leave() {
  page?.destroy?.();
  line?.stop();
  shell?.destroy();
  page = null;
  shell = null;
  line = null;
  pageName = '';
  store.pending = [];
  store.me = null;
}

function showSignIn() {
  leave();
  const signIn = signInPage({ onDone: (next) => go(next, { replace: true }) });
  fill(root, signIn.element);
  setTitle(signIn.title);
  signIn.focus?.();
}

function signedOut() {
  const here = location.pathname + location.search;
  if (location.pathname === '/sign-in') return;
  go(`/sign-in?${new URLSearchParams(here === '/' ? {} : { next: here })}`, { replace: true });
}

applyTheme();
await startLocale();
guard.watch(window);
listenKeys();
addKeys([
  { key: '?', label: 'keys.help', run: () => shell?.showHelp(), when: () => Boolean(shell) },
  { key: 'u', label: 'keys.undo', run: () => undoLast(), when: () => held.all.length > 0 },
]);
startWorker();
whenSignedOut(signedOut);
store.on('pending', ({ detail: { fresh } }) => {
  setTitle();
  notifyOf(fresh);
  if (fresh.length) announce(t('inbox.new', { n: fresh.length }));
});
addEventListener('online', () => line?.retryNow());
listen(route);
route();
