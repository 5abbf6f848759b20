// Talking to the server: every request of the page, and the one kind of error they end in.

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

async function request(method, path, body, { signal } = {}) {
  let response;
  try {
    response = await fetch(path, {
      method,
      signal,
      credentials: 'same-origin',
      cache: 'no-store',
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
  const text = await response.text().catch(() => '');
  const answer = parse(text);
  if (response.ok) return answer;
  const problem = new Problem({
    status: response.status,
    code: `http-${response.status}`,
    title: response.statusText,
    ...answer,
  });
  if (response.status === 401 && !path.startsWith('/v1/sign-in')) onSignedOut();
  throw problem;
}

function parse(text) {
  try {
    return text ? JSON.parse(text) : {};
  } catch {
    return {};
  }
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
  signIn: (proof) => request('POST', '/v1/sign-in', proof),
  signOut: () => request('POST', '/v1/sign-out', {}),
  questions: (filter = {}) => request('GET', query('/v1/interactions', { locale: locale(), ...filter })),
  question: (requestId) => request('GET', query(`/v1/interactions/${id(requestId)}`, { locale: locale() })),
  answer: (requestId, answer) =>
    request('POST', query(`/v1/interactions/${id(requestId)}/answer`, { locale: locale() }), answer),
  answers: (answers) => request('POST', query('/v1/interactions/answers', { locale: locale() }), { answers }),
  sessions: (filter) => request('GET', query('/v1/sessions', filter)),
  session: (sessionId, filter = {}) =>
    request('GET', query(`/v1/sessions/${id(sessionId)}`, { locale: locale(), ...filter })),
  cancelSession: (sessionId) => request('POST', `/v1/sessions/${id(sessionId)}/cancel`, {}),
  setMode: (sessionId, mode) => request('POST', `/v1/sessions/${id(sessionId)}/mode`, { mode }),
  audit: (filter) => request('GET', query('/v1/audit', { locale: locale(), ...filter })),
  verify: () => request('GET', '/v1/audit/verify'),
  exportPath: (format) => query('/v1/audit/export', { format }),
  policy: () => request('GET', '/v1/policy'),
  check: (call) => request('POST', query('/v1/policy/check', { locale: locale() }), call),
  grants: () => request('GET', query('/v1/grants', { locale: locale() })),
  revoke: (grantId) => request('DELETE', `/v1/grants/${id(grantId)}`),
};
