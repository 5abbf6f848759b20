// The audit: the whole journal, searched and filtered, its chain verified, and taken away as a file.

import { api } from '../api.js';
import { fill, h } from '../dom.js';
import { icon } from '../icons.js';
import { t, tag } from '../i18n.js';
import { afterTyping, loading, page, pagedList } from '../parts/page.js';
import { exportButton } from '../parts/save.js';
import { raw, safe } from '../parts/text.js';
import { LOOKS, timelineRow } from './session.js';
import { sessionPath } from '../router.js';

/** @returns {import('../main.js').Page} */
export function auditPage() {
  const search = h('input', { type: 'search', placeholder: t('audit.search'), 'aria-label': t('audit.search') });
  const session = h('input', { type: 'text', placeholder: t('audit.session'), 'aria-label': t('audit.session') });
  const type = h(
    'select.compact',
    { 'aria-label': t('audit.type') },
    h('option', { value: '' }, t('audit.anyType')),
    Object.keys(LOOKS).map((name) => h('option', { value: name }, t(`event.${name}`))),
  );
  const day = (label) => h('input', { type: 'date', 'aria-label': label, title: label });
  const [from, to] = [day(t('audit.from')), day(t('audit.to'))];
  const list = pagedList(
    (after) =>
      api.audit({
        after,
        limit: 100,
        q: search.value.trim(),
        sessionId: session.value.trim(),
        type: type.value,
        from: startOf(from.value),
        to: endOf(to.value),
      }),
    auditRow,
    { empty: t('audit.empty'), list: h('ol.timeline') },
  );
  const soon = afterTyping(() => list.reload());
  for (const input of [search, session]) input.addEventListener('input', soon);
  for (const input of [type, from, to]) input.addEventListener('change', () => list.reload());
  list.reload();
  const filters = h('div.filters', {}, h('label.search', {}, icon('search'), search), session, type, from, to);
  return { title: t('nav.audit'), element: page(t('nav.audit'), t('audit.lead'), proof(), filters, list.element) };
}

/** A day as the moment it begins here. */
function startOf(day) {
  return day ? new Date(`${day}T00:00:00`).toISOString() : '';
}

function endOf(day) {
  return day ? new Date(new Date(`${day}T00:00:00`).getTime() + 86_400_000).toISOString() : '';
}

function auditRow(row) {
  const element = timelineRow(row);
  element.querySelector('.event-side').prepend(h('a', { href: sessionPath(row.sessionId) }, raw(row.sessionId)));
  return element;
}

function proof() {
  const result = h('div.proof-result', { role: 'status', 'data-proof': true }, h('p.quiet', {}, t('audit.proofHint')));
  const button = h(
    'button.button.button-primary',
    { type: 'button', 'data-verify': true },
    icon('audit'),
    t('audit.verify'),
  );
  button.addEventListener('click', async () => {
    button.disabled = true;
    fill(result, h('p', {}, t('audit.verifying')));
    const report = await loading(result, () => api.verify());
    if (report) fill(result, verdictOf(report));
    button.disabled = false;
  });
  const exports = ['jsonl', 'csv'].map((format) => exportButton(format, 'placet-journal', () => api.exported(format)));
  return h('section.proof', { 'aria-label': t('audit.verify') }, result, h('div.buttons', {}, button, exports));
}

function verdictOf(report) {
  const count = new Intl.NumberFormat(tag());
  const counts = t('audit.counts', {
    rows: count.format(report.rows ?? 0),
    sessions: count.format(report.sessions ?? 0),
    checkpoints: count.format(report.checkpoints ?? 0),
  });
  if (report.ok)
    return h(
      'p.proof-line.is-good',
      {},
      icon('check'),
      h(
        'span',
        {},
        h('strong', {}, t('audit.sound')),
        ' ',
        counts,
        report.anchor && [h('br'), t('audit.anchor'), ' ', h('code', {}, report.anchor)],
      ),
    );
  return [
    h(
      'p.proof-line.is-bad',
      {},
      icon('warning'),
      h('span', {}, h('strong', {}, t('audit.broken', { n: report.faults?.length ?? 0 })), ' ', counts),
    ),
    h(
      'ul.faults',
      {},
      (report.faults ?? []).map(({ sessionId, seq, what }) =>
        h('li', {}, h('code', {}, safe(`${sessionId} #${seq}`)), ' ', safe(what)),
      ),
    ),
  ];
}
