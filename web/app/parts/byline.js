// Who asks, in which session, for whom, and where.

import { h } from '../dom.js';
import { t } from '../i18n.js';
import { sessionPath } from '../router.js';
import { raw } from './text.js';

/** One line under the heading of a request. */
export function byline(question) {
  const path = [question.agent, ...(question.agentPath ?? [])].filter(Boolean);
  return [
    path.length > 0 && [h('span.agent', {}, raw(path.join(' › '))), h('span.dot', { 'aria-hidden': 'true' }, '·')],
    h('a', { href: sessionPath(question.sessionId) }, raw(question.sessionId)),
    question.user && [
      h('span.dot', { 'aria-hidden': 'true' }, '·'),
      raw(t('question.onBehalf', { name: question.user })),
    ],
    question.channel && [h('span.dot', { 'aria-hidden': 'true' }, '·'), raw(question.channel)],
  ];
}
