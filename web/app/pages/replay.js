// Another placet.toml on past calls: which verdicts would change. Nothing is asked or stored.

import { api } from '../api.js';
import { fill, freshId, h } from '../dom.js';
import { t } from '../i18n.js';
import { loading, page } from '../parts/page.js';
import { policyTabs } from '../parts/policy-tabs.js';
import { safe, sentence } from '../parts/text.js';
import { sessionPath } from '../router.js';
import { moment } from '../time.js';

const DAYS = [1, 7, 30, 90];

/** @returns {import('../main.js').Page} */
export function replayPage() {
  const [textId, fileId, daysId] = [freshId('toml'), freshId('file'), freshId('days')];
  const text = h('textarea.mono', { id: textId, rows: 8, spellcheck: 'false', 'data-config': true });
  const file = h('input', { id: fileId, type: 'file', accept: '.toml,text/plain' });
  file.addEventListener('change', async () => {
    const [chosen] = file.files;
    if (chosen) text.value = await chosen.text();
  });
  const days = h(
    'select',
    { id: daysId },
    DAYS.map((n) => h('option', { value: n }, t('suggest.days', { n }))),
  );
  days.value = '7';
  const result = h('div.replay-result', { 'aria-live': 'polite', 'data-replay': true });
  const form = h(
    'form.replay-form',
    {},
    h('div.form-field', {}, h('label', { for: fileId }, t('replay.file')), file),
    h('div.form-field', {}, h('label', { for: textId }, t('replay.config')), text),
    h('div.form-field', {}, h('label', { for: daysId }, t('suggest.since')), days),
    h('div.buttons', {}, h('button.button.button-primary', { type: 'submit' }, t('replay.run'))),
  );
  form.addEventListener('submit', async (event) => {
    event.preventDefault();
    fill(result, h('p.quiet', {}, t('loading')));
    const got = await loading(result, () => api.replay({ config: text.value, days: Number(days.value) }));
    if (got) fill(result, draw(got));
    result.scrollIntoView({ block: 'start' });
  });
  return {
    title: t('replay.title'),
    element: page(t('replay.title'), t('replay.lead'), policyTabs('replay'), form, result),
  };
}

function draw(replay) {
  return [
    h(
      'p',
      { 'data-changed': String(replay.changed) },
      replay.changed
        ? t('replay.changed', { n: replay.changed, calls: replay.calls })
        : t('replay.same', { calls: replay.calls }),
    ),
    h('p.hint', {}, t('replay.judgedBy')),
    replay.deadRules.map((rule) => h('p.fault', {}, t('policy.dead'), ' ', sentence(rule))),
    replay.changes.map(change),
  ];
}

function change(change) {
  const title = t('replay.change', { from: word(change.from), to: word(change.to), n: change.calls });
  return h(
    'section.change',
    { class: change.refusedThen ? 'is-alarming' : '', 'data-change': `${change.from}-${change.to}` },
    h('h2', {}, title),
    change.refusedThen && h('p.fault', { role: 'alert' }, t('replay.refusedThen')),
    h('ul.cards', {}, change.examples.map(example)),
  );
}

const word = (decision) => (decision === 'askOtherwise' ? t('replay.askOtherwise') : t(`effect.${decision}`));

function example(call) {
  return h(
    'li',
    {},
    h(
      'div.card',
      {},
      h('p.card-title', {}, sentence(call.what)),
      h(
        'p.card-note',
        {},
        t('times', { n: call.times }),
        ' · ',
        moment(call.at),
        ' · ',
        h('a', { href: sessionPath(call.sessionId) }, safe(call.sessionId)),
        call.refusedBy && [' · ', t('replay.refusedBy', { name: call.refusedBy })],
      ),
      h('p.card-note', {}, call.rule && [t('replay.rule'), ' ', safe(call.rule), ': '], sentence(call.reason)),
    ),
  );
}
