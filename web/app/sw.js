// The service worker: keeps the page itself for when the server is away, and shows notifications. It never keeps data.

const SHELL = 'placet-shell-1';
/** Addresses that are this page; everything else is data, or none of ours. */
const PAGES = /^\/($|q\/|history$|insights$|sessions|chat|audit$|policy|grants$)/;

self.addEventListener('install', (event) => {
  self.skipWaiting();
  event.waitUntil(caches.open(SHELL).then((shell) => shell.add('/')));
});

self.addEventListener('activate', (event) => {
  const forget = async () => {
    const names = await caches.keys();
    await Promise.all(names.filter((name) => name !== SHELL).map((name) => caches.delete(name)));
    await self.clients.claim();
  };
  event.waitUntil(forget());
});

/** What the server has now; what it had last when it is away. */
async function fresh(request, key) {
  const shell = await caches.open(SHELL);
  try {
    const response = await fetch(request);
    if (response.ok) await shell.put(key, response.clone());
    return response;
  } catch (error) {
    const kept = await shell.match(key);
    if (kept) return kept;
    throw error;
  }
}

self.addEventListener('fetch', (event) => {
  const { request } = event;
  const { origin, pathname } = new URL(request.url);
  if (request.method !== 'GET' || origin !== self.location.origin) return;
  if (request.mode === 'navigate' && PAGES.test(pathname)) event.respondWith(fresh(request, '/'));
  else if (pathname.startsWith('/app/')) event.respondWith(fresh(request, request));
});

self.addEventListener('push', (event) => {
  const { requestId, url, title, body } = event.data.json();
  event.waitUntil(
    self.registration.showNotification(title, {
      body: body ?? '',
      tag: requestId,
      icon: '/app/icon-192.png',
      data: { url },
    }),
  );
});

/** A window of ours that is open shows the request; otherwise a new one does. */
async function open(url) {
  const [window] = await self.clients.matchAll({ type: 'window', includeUncontrolled: true });
  if (!window) return self.clients.openWindow(url);
  window.postMessage({ open: url });
  // A browser may refuse to bring a window forward; the request is open in it all the same.
  return window.focus().catch(() => {});
}

self.addEventListener('notificationclick', (event) => {
  event.notification.close();
  event.waitUntil(open(event.notification.data.url));
});
