// The key of this signed-in browser, and the proof that every request of the page carries.
//
// At sign-in the page makes a key whose private half cannot be exported, and the server binds the ticket it gives out to the
// public half. Both stay in IndexedDB, which belongs to this origin: no cookie goes to other ports of the same host, and a
// ticket without its key is worth nothing. docs/http.md describes the proof.

/** The version of what is signed; the server's `access/proof.rs` has the same. */
const PURPOSE = 'placet-proof/1';
const ALGORITHM = { name: 'ECDSA', namedCurve: 'P-256' };
const STORE = 'sign-in';
const ONLY = 'current';
/** The server's latest challenge, for all tabs. */
const CHALLENGE = 'placet.challenge';

// Kept, because `embed.js` puts another in its place.
const plainFetch = globalThis.fetch?.bind(globalThis);

/** Whether this browser can hold a key here: only on https and on the loopback address. */
export const canSign = () => Boolean(globalThis.isSecureContext && globalThis.crypto?.subtle && globalThis.indexedDB);

const hex = (bytes) => Array.from(new Uint8Array(bytes), (byte) => byte.toString(16).padStart(2, '0')).join('');

/** @type {Promise<IDBDatabase> | null} */
let opening = null;

function database() {
  opening ??= new Promise((resolve, reject) => {
    const request = indexedDB.open('placet', 1);
    request.onupgradeneeded = () => request.result.createObjectStore(STORE);
    request.onerror = () => reject(request.error);
    request.onsuccess = () => {
      // Cleared site data closes it; the next request opens it again.
      request.result.onclose = () => (opening = null);
      resolve(request.result);
    };
  });
  opening.catch(() => (opening = null));
  return opening;
}

/** One request to the store; resolves once it is done for good. */
async function stored(mode, act) {
  const transaction = (await database()).transaction(STORE, mode);
  const request = act(transaction.objectStore(STORE));
  return new Promise((resolve, reject) => {
    transaction.oncomplete = () => resolve(request.result);
    transaction.onabort = () => reject(transaction.error);
  });
}

/**
 * What this browser is signed in with. Read for each request, because another tab may have signed in or out.
 * @returns {Promise<{ key: CryptoKey, ticket: string } | undefined>}
 */
async function held() {
  if (!canSign()) return undefined;
  return stored('readonly', (store) => store.get(ONLY)).catch(() => undefined);
}

/** A new key: the private half to keep, the public half to send. */
export async function newKey() {
  const { privateKey, publicKey } = await crypto.subtle.generateKey(ALGORITHM, false, ['sign']);
  return { key: privateKey, publicKey: hex(await crypto.subtle.exportKey('raw', publicKey)) };
}

/** Keeps what the server signed this browser in with, instead of anything before. */
export const keep = (key, ticket) => stored('readwrite', (store) => store.put({ key, ticket }, ONLY));

/** Forgets the key and the ticket. */
export const forget = () => stored('readwrite', (store) => store.delete(ONLY));

async function proof({ key, ticket }, method, target, body) {
  const named = [ticket, localStorage.getItem(CHALLENGE) || 'none', crypto.randomUUID().replaceAll('-', '')];
  const message = new TextEncoder().encode([PURPOSE, ...named, method, target, body].join('\n'));
  const signature = await crypto.subtle.sign({ name: 'ECDSA', hash: 'SHA-256' }, key, message);
  return [...named, hex(signature)].join(' ');
}

/** Remembers the challenge an answer came with. */
export function learn(response) {
  const challenge = response.headers.get('placet-challenge');
  if (challenge) localStorage.setItem(CHALLENGE, challenge);
}

/**
 * `fetch` with a proof. A proof that is too old is made again, once, with the challenge the server names.
 * @param {string} path of this origin
 * @param {RequestInit & { body?: string }} [init]
 * @returns {Promise<Response>} 401 when signed out
 */
export async function signedFetch(path, init = {}) {
  const { pathname, search } = new URL(path, location.origin);
  const target = pathname + search;
  const method = (init.method ?? 'GET').toUpperCase();
  const headers = new Headers(init.headers);
  for (let attempt = 0; ; attempt += 1) {
    const mine = await held();
    if (!mine) return Response.json({ status: 401, code: 'unauthenticated' }, { status: 401 });
    headers.set('placet-proof', await proof(mine, method, target, init.body ?? ''));
    const response = await plainFetch(target, { ...init, method, headers, cache: 'no-store' });
    learn(response);
    if (response.status !== 401 || attempt > 0) return response;
    const { code } = await response
      .clone()
      .json()
      .catch(() => ({}));
    if (code !== 'bad-proof') return response;
  }
}
