// Notifications on this device while the page is closed: switched on and off here, per device.

import { api } from './api.js';
import { locale } from './i18n.js';
import { go } from './router.js';

/** The name the server knows this device by, while it is told of new requests. */
const KEY = 'placet.device';

/** Whether this browser can be told at all: there are no service workers on plain http. */
export const canPush = () => 'serviceWorker' in navigator && 'PushManager' in window && 'Notification' in window;

/** The only script this page ever runs as a worker. */
const worker = () =>
  globalThis.trustedTypes?.createPolicy('placet-worker', { createScriptURL: () => '/sw.js' }).createScriptURL('') ??
  '/sw.js';

let registered;

/** Registers the service worker, once; a browser that refuses shows the page as before. */
export function startWorker() {
  if (!('serviceWorker' in navigator)) return;
  registered ??= navigator.serviceWorker.register(worker(), { scope: '/' }).catch(() => null);
  navigator.serviceWorker.addEventListener('message', ({ data }) => {
    if (typeof data?.open === 'string' && data.open.startsWith('/q/')) go(data.open);
  });
}

/** `on`, `off`, or `blocked` by the browser. */
export function pushState() {
  if (Notification.permission === 'denied') return 'blocked';
  return Notification.permission === 'granted' && localStorage.getItem(KEY) ? 'on' : 'off';
}

/** Switches them; the browser's permission is asked for only here, which is only reached by a click. */
export async function switchPush() {
  if (pushState() === 'on') return stopPush();
  if ((await Notification.requestPermission()) !== 'granted') return undefined;
  const { publicKey } = await api.push();
  await registered;
  const { pushManager } = await navigator.serviceWorker.ready;
  const subscription = await pushManager.subscribe({ userVisibleOnly: true, applicationServerKey: publicKey });
  const { id } = await api.addDevice({ ...subscription.toJSON(), locale: locale() });
  localStorage.setItem(KEY, id);
  return undefined;
}

/** The server forgets this device, and the browser its permission to send here. */
export async function stopPush() {
  const id = localStorage.getItem(KEY);
  if (!id) return;
  await api.removeDevice(id);
  localStorage.removeItem(KEY);
  const { pushManager } = await navigator.serviceWorker.ready;
  const subscription = await pushManager.getSubscription();
  await subscription?.unsubscribe();
}
