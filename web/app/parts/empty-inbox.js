// No request is pending: say so, and let a newcomer send one, as a built-in sample agent or with a line for the shell.

import { api } from '../api.js';
import { h } from '../dom.js';
import { icon } from '../icons.js';
import { t } from '../i18n.js';
import { go, questionPath, sessionPath } from '../router.js';
import { toast } from './toast.js';

/** A call to try. It needs the agent's token, which only the person at the machine can read. */
export function tryLine(origin) {
  return [
    `curl -s ${origin}/v1/calls \\`,
    `  -H "Authorization: Bearer $(sed -n 's/^agent *= *"\\(.*\\)"/\\1/p' "$PLACET_DATA/tokens.toml")" \\`,
    `  -H 'Content-Type: application/json' \\`,
    `  -d '{"sessionId":"hello","tool":"bash","args":{"command":"git push origin main"}}'`,
  ].join('\n');
}

/** Plays the sample agent, and goes to its request. */
function sampleButton() {
  const button = h(
    'button.button.button-primary',
    { type: 'button', 'data-sample': true },
    icon('play'),
    t('empty.sample'),
  );
  button.addEventListener('click', async () => {
    button.disabled = true;
    try {
      const { requestId, sessionId } = await api.sample();
      if (!requestId) toast(t('empty.sampleAllowed'), 'note');
      go(requestId ? questionPath(requestId) : sessionPath(sessionId));
    } catch (problem) {
      toast(t('fate.refused', { why: problem.message }), 'bad');
    }
    button.disabled = false;
  });
  return button;
}

export function emptyInbox() {
  const line = tryLine(location.origin);
  const copy = h(
    'button.button',
    {
      type: 'button',
      onclick: async () => {
        await navigator.clipboard.writeText(line);
        toast(t('copied'), 'good');
      },
    },
    t('copy'),
  );
  return h(
    'div.empty',
    { 'data-empty': true },
    h('div.empty-mark', { 'aria-hidden': 'true' }, icon('check')),
    h('h1', {}, t('empty.title')),
    h('p', {}, t('empty.text')),
    h('div.empty-sample', {}, sampleButton(), h('p.hint', {}, t('empty.sampleHint'))),
    h('p', {}, h('a', { href: '/history' }, t('history.title'))),
    h(
      'div.empty-try',
      {},
      h('div.empty-try-head', {}, h('h2', {}, t('empty.try')), navigator.clipboard && copy),
      h('pre.code', { tabindex: '0' }, line),
      h('p.hint', {}, t('empty.data')),
    ),
  );
}
