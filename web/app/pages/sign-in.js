// Signing in: by the one-time link that `placet serve` prints, or with a token.
//
// The link's code is in the address's fragment, which browsers do not send. It is taken out of the address at once,
// before anything else happens, so that it is in no history and no bookmark.

import { api, Problem } from '../api.js';
import { canSign } from '../browser-key.js';
import { fill, freshId, h } from '../dom.js';
import { logo } from '../icons.js';
import { t } from '../i18n.js';
import { sentence } from '../parts/text.js';

/** Only places of ours: an address from elsewhere must not send people on. */
export function safeNext(next) {
  return typeof next === 'string' && /^\/(?![/\\])/.test(next) && !next.startsWith('/sign-in') ? next : '/';
}

/** The code of a one-time link, taken out of the address. */
function takeCode() {
  const code = location.hash.slice(1);
  if (location.hash) history.replaceState(null, '', location.pathname + location.search);
  return code;
}

/** @param {{ onDone: (next: string) => void }} on */
export function signInPage({ onDone }) {
  const code = takeCode();
  const next = safeNext(new URLSearchParams(location.search).get('next'));
  const state = h('p.sign-in-state', { role: 'status' });
  const id = freshId('token');
  const input = h('input.mono', { id, type: 'password', autocomplete: 'off', spellcheck: 'false', required: true });
  const button = h('button.button.button-primary', { type: 'submit' }, t('signIn.go'));
  const form = h(
    'form.sign-in-form',
    {},
    h('label', { for: id }, t('signIn.token')),
    h('div.sign-in-row', {}, input, button),
    h('p.hint', {}, t('signIn.tokenHint')),
  );

  const attempt = async (proof) => {
    button.disabled = true;
    fill(state, t('signIn.trying'));
    state.className = 'sign-in-state';
    try {
      await api.signIn(proof);
      onDone(next);
    } catch (problem) {
      state.className = 'sign-in-state is-fault';
      fill(state, words(problem));
      button.disabled = false;
      input.focus();
    }
  };
  form.addEventListener('submit', (event) => {
    event.preventDefault();
    if (input.value.trim()) attempt({ token: input.value.trim() });
    input.value = '';
  });

  // Nothing is sent: the link stays good for an address where a key can be kept.
  if (!canSign())
    return {
      element: card(h('p.sign-in-state.is-fault', { role: 'alert' }, t('signIn.insecure'))),
      title: t('signIn.title'),
    };
  const element = card(h('p', {}, sentence(t('signIn.text'))), state, form);
  if (code) attempt({ code });
  return { element, title: t('signIn.title'), focus: () => (code ? undefined : input.focus()) };
}

function card(...content) {
  return h('main.gate', { id: 'main' }, h('div.gate-card', {}, logo(), h('h1', {}, t('signIn.title')), content));
}

function words(problem) {
  // Signed in, but the browser refused to keep the key: a private window, or storage is blocked.
  if (!(problem instanceof Problem)) return t('signIn.noStorage');
  switch (problem.code) {
    case 'code-used':
      return t('signIn.used');
    case 'unreachable':
      return t('line.lost');
    default:
      return problem.status === 429 ? t('signIn.slow') : t('signIn.wrong');
  }
}
