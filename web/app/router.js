// Addresses to pages, without loading the document again.

/** @typedef {{ pattern: RegExp, page: string }} Route */

/** Every address this page knows. The server answers all of them with the same document. */
export const ROUTES = [
  { pattern: /^\/$/, page: 'inbox' },
  { pattern: /^\/q\/(?<requestId>[^/]+)$/, page: 'inbox' },
  { pattern: /^\/sessions$/, page: 'sessions' },
  { pattern: /^\/sessions\/(?<sessionId>[^/]+)$/, page: 'session' },
  { pattern: /^\/history$/, page: 'history' },
  { pattern: /^\/insights$/, page: 'insights' },
  { pattern: /^\/chat$/, page: 'chat' },
  { pattern: /^\/chat\/(?<sessionId>[^/]+)$/, page: 'chat' },
  { pattern: /^\/runs$/, page: 'runs' },
  { pattern: /^\/audit$/, page: 'audit' },
  { pattern: /^\/policy$/, page: 'policy' },
  { pattern: /^\/policy\/suggestions$/, page: 'suggestions' },
  { pattern: /^\/policy\/replay$/, page: 'replay' },
  { pattern: /^\/grants$/, page: 'grants' },
  { pattern: /^\/sign-in$/, page: 'signIn' },
];

/**
 * The page an address names, with what the address says.
 * @returns {{ page: string, [name: string]: string }}
 */
export function match(path, search = '') {
  for (const { pattern, page } of ROUTES) {
    const found = pattern.exec(path);
    if (!found) continue;
    const named = Object.entries(found.groups ?? {}).map(([name, value]) => [name, decode(value)]);
    return { ...Object.fromEntries(new URLSearchParams(search)), page, ...Object.fromEntries(named) };
  }
  return { page: 'notFound' };
}

function decode(text) {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

let onChange = () => {};

/** Goes to an address of ours. */
export function go(path, { replace = false } = {}) {
  history[replace ? 'replaceState' : 'pushState'](null, '', path);
  onChange();
}

/** Gives the page that is shown another address, without showing it anew. */
export function rename(path) {
  if (location.pathname !== path) history.replaceState(null, '', path);
}

/** Listens for new addresses: links of ours, `go`, and the browser's own buttons. */
export function listen(listener) {
  onChange = listener;
  addEventListener('popstate', listener);
  document.addEventListener('click', (event) => {
    if (
      event.defaultPrevented ||
      event.button !== 0 ||
      event.metaKey ||
      event.ctrlKey ||
      event.shiftKey ||
      event.altKey
    )
      return;
    const link = event.target.closest?.('a[href]');
    if (!link || link.target || link.hasAttribute('download') || link.origin !== location.origin) return;
    if (match(link.pathname).page === 'notFound' || link.hash) return;
    event.preventDefault();
    go(link.pathname + link.search);
  });
}

/** The path of a question. */
export const questionPath = (requestId) => `/q/${encodeURIComponent(requestId)}`;

/** The path of a chat. */
export const chatPath = (sessionId) => `/chat/${encodeURIComponent(sessionId)}`;

/** The path of a session. */
export const sessionPath = (sessionId) => `/sessions/${encodeURIComponent(sessionId)}`;
