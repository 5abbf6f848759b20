// Talking to the server: every request of the page, and the one kind of error they end in.

import { forget, keep, learn, newKey, signedFetch } from './browser-key.js';
import { locale } from './i18n.js';

/** Why a request failed: a problem document of the server, or no answer at all (`code` is `unreachable`). */
export class Problem extends Error {
  /** @param {{ status: number, code: string, title?: string, detail?: string }} body */
  constructor(body) {
    super(body.detail || body.title || body.code);
    this.status = body.status;
    this.code = body.code;
    /** Everything else the server said, such as `decidedBy`. */
    this.more = body;
  }
}

let onSignedOut = () => {};

/** Calls `listener` whenever the server no longer knows who we are. */
export function whenSignedOut(listener) {
  onSignedOut = listener;
}

async function request(method, path, body, { signal, send = signedFetch, read = json } = {}) {
  let response;
  try {
    response = await send(path, {
      method,
      signal,
      headers:
        body === undefined
          ? { accept: 'application/json' }
          : { accept: 'application/json', 'content-type': 'application/json' },
      body: body === undefined ? undefined : JSON.stringify(body),
    });
  } catch (error) {
    if (signal?.aborted) throw error;
    throw new Problem({ status: 0, code: 'unreachable', detail: '' });
  }
  if (response.ok) return read(response);
  const problem = new Problem({
    status: response.status,
    code: `http-${response.status}`,
    title: response.statusText,
    ...(await json(response)),
  });
  if (response.status === 401 && send === signedFetch) onSignedOut();
  throw problem;
}

/** The body as JSON; an empty object without a body. */
const json = (response) => response.json().catch(() => ({}));

/** Makes a key for this browser, and signs in with it. */
async function signIn(proof) {
  const { key, publicKey } = await newKey();
  const send = async (path, init) => {
    const response = await fetch(path, init);
    learn(response);
    return response;
  };
  const { ticket } = await request('POST', '/v1/sign-in', { ...proof, key: publicKey }, { send });
  await keep(key, ticket);
}

async function signOut() {
  await request('POST', '/v1/sign-out', {});
  await forget();
}

/** A path with the parameters that are given. */
export function query(path, parameters) {
  const given = Object.entries(parameters).filter(([, value]) => value !== undefined && value !== null && value !== '');
  const text = new URLSearchParams(given).toString();
  return text ? `${path}?${text}` : path;
}

const id = encodeURIComponent;

export const api = {
  me: () => request('GET', '/v1/me'),
  signIn,
  signOut,
  questions: (filter = {}) => request('GET', query('/v1/interactions', { locale: locale(), ...filter })),
  question: (requestId) => request('GET', query(`/v1/interactions/${id(requestId)}`, { locale: locale() })),
  history: (filter = {}) => request('GET', query('/v1/history', { locale: locale(), ...filter })),
  historyExport: (filter) =>
    request('GET', query('/v1/history/export', { locale: locale(), ...filter }), undefined, {
      read: (response) => response.blob(),
    }),
  insights: (filter = {}) => request('GET', query('/v1/insights', { locale: locale(), ...filter })),
  answer: (requestId, answer) =>
    request('POST', query(`/v1/interactions/${id(requestId)}/answer`, { locale: locale() }), answer),
  comment: (requestId, text) =>
    request('POST', query(`/v1/interactions/${id(requestId)}/comments`, { locale: locale() }), { text }),
  scope: (requestId, scope) =>
    request('GET', query(`/v1/interactions/${id(requestId)}/scopes/${id(scope)}`, { locale: locale() })),
  reading: (text, requestIds) => request('POST', '/v1/interactions/reading', { text, requestIds, locale: locale() }),
  answers: (answers) => request('POST', query('/v1/interactions/answers', { locale: locale() }), { answers }),
  sessions: (filter) => request('GET', query('/v1/sessions', filter)),
  session: (sessionId, filter = {}) =>
    request('GET', query(`/v1/sessions/${id(sessionId)}`, { locale: locale(), ...filter })),
  cancelSession: (sessionId) => request('POST', `/v1/sessions/${id(sessionId)}/cancel`, {}),
  allowTool: (sessionId, tool) =>
    request('POST', `/v1/sessions/${id(sessionId)}/approval-tools`, { approvalTools: [tool] }),
  setMode: (sessionId, mode) => request('POST', `/v1/sessions/${id(sessionId)}/mode`, { mode }),
  audit: (filter) => request('GET', query('/v1/audit', { locale: locale(), ...filter })),
  verify: () => request('GET', '/v1/audit/verify'),
  exported: (format) =>
    request('GET', query('/v1/audit/export', { format }), undefined, { read: (response) => response.blob() }),
  policy: () => request('GET', '/v1/policy'),
  suggestions: (filter) => request('GET', query('/v1/policy/suggestions', { locale: locale(), ...filter })),
  replay: (wanted) => request('POST', '/v1/policy/replay', wanted),
  check: (call) => request('POST', query('/v1/policy/check', { locale: locale() }), call),
  push: () => request('GET', '/v1/push'),
  addDevice: (subscription) => request('POST', '/v1/push/devices', subscription),
  removeDevice: (deviceId) => request('DELETE', `/v1/push/devices/${id(deviceId)}`),
  grants: () => request('GET', query('/v1/grants', { locale: locale() })),
  sample: () => request('POST', query('/v1/sample', { locale: locale() }), {}),
  workflows: () => request('GET', '/v1/workflows'),
  startRun: (run) => request('POST', '/v1/runs', run),
  run: (sessionId) => request('GET', `/v1/runs/${id(sessionId)}`),
  resumeRun: (sessionId) => request('POST', `/v1/runs/${id(sessionId)}/resume`, {}),
  revoke: (grantId) => request('DELETE', `/v1/grants/${id(grantId)}`),
};
