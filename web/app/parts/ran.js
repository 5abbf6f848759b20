// What became of an approved call: not started, running, finished or failed, and the first lines of its output.

import { h } from '../dom.js';
import { t } from '../i18n.js';
import { sessionPath } from '../router.js';
import { safe } from './text.js';

/** Nothing where no call was let run. */
export function ran({ ran: run, sessionId }) {
  if (!run) return null;
  return h(
    'div.ran',
    { 'data-ran': run.state },
    h('p.ran-state', {}, t(`ran.${run.state}`)),
    run.output && h('pre.code', { tabindex: '0', 'aria-label': t('ran.output') }, safe(run.output)),
    run.more && h('p.hint', {}, h('a', { href: sessionPath(sessionId) }, t('ran.more'))),
  );
}
