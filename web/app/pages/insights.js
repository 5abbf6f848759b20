// Insights: how much was asked, what became of it, and how fast people decided. The server counts; this page draws.

import { api, query } from '../api.js';
import { fill, h } from '../dom.js';
import { icon } from '../icons.js';
import { t, tag } from '../i18n.js';
import { columnChart, figure } from '../parts/chart.js';
import { loading, page } from '../parts/page.js';
import { raw, safe } from '../parts/text.js';
import { dateWithZone, lengthInWords, shortLength } from '../time.js';
import { OUTCOMES } from './history.js';

const PERIODS = [7, 30, 90];
const DAY_MS = 86_400_000;
/** What outcomes are drawn as: few enough to be told apart. */
const SERIES = [
  ['approved', ['approved', 'info', 'answered']],
  ['rejected', ['rejected', 'retry', 'skipped', 'terminated']],
  ['expired', ['expired']],
  ['withdrawn', ['cancelled', 'superseded']],
];

const percent = (part, whole) =>
  new Intl.NumberFormat(tag(), { style: 'percent', maximumFractionDigits: 0 }).format(whole ? part / whole : 0);
const count = (number) => new Intl.NumberFormat(tag()).format(number);
const length = (ms) => (ms === null || ms === undefined ? '–' : shortLength(ms));

/** The day a moment is on here, as the server writes days. */
function dayOf(date) {
  const two = (number) => String(number).padStart(2, '0');
  return `${date.getFullYear()}-${two(date.getMonth() + 1)}-${two(date.getDate())}`;
}

/**
 * Every day of a time, also those on which nothing closed.
 * @param {{ day: string, outcomes: Record<string, number> }[]} days as the server counts them
 * @param {number} length how many days, up to today
 */
export function everyDay(days, length, today = new Date()) {
  const known = new Map(days.map(({ day, outcomes }) => [day, outcomes]));
  return Array.from({ length }, (_, at) => {
    const date = new Date(today.getFullYear(), today.getMonth(), today.getDate() - (length - 1 - at));
    const day = dayOf(date);
    return { day, date, outcomes: known.get(day) ?? {} };
  });
}

/** @returns {import('../main.js').Page} */
export function insightsPage() {
  const place = h('div.insights', { 'data-insights': true });
  const period = h(
    'select.compact',
    { 'aria-label': t('suggest.since') },
    PERIODS.map((days) => h('option', { value: days, selected: days === 30 }, t('suggest.days', { n: days }))),
  );
  const load = async () => {
    const days = Number(period.value);
    const now = new Date();
    const since = new Date(now.getFullYear(), now.getMonth(), now.getDate() - (days - 1));
    const got = await loading(place, () =>
      api.insights({ since: since.toISOString(), utcOffset: -now.getTimezoneOffset() }),
    );
    if (got) fill(place, draw(got, days));
  };
  period.addEventListener('change', load);
  load();
  return {
    title: t('insights.title'),
    element: page(
      t('insights.title'),
      t('insights.lead'),
      h('div.filters', {}, h('a.button', { href: '/history' }, icon('back'), t('history.title')), period),
      place,
    ),
  };
}

function draw(got, days) {
  return [
    figures(got),
    perDay(everyDay(got.days, days)),
    decisionTimes(got.decisionTimes),
    byName(t('insights.tools'), got.tools, 'tool', t('insights.noTool')),
    byName(t('insights.rules'), got.rules, 'rule', t('insights.noRule')),
    byName(t('insights.people'), got.people, 'person', ''),
    standing(got.standing),
  ];
}

/** The numbers one asks for first. */
function figures({ all, medianMs, ninetiethMs, standing }) {
  const one = (name, label, value, note) =>
    h(
      'div.number',
      { 'data-number': name },
      h('dt', {}, label),
      h('dd', {}, value, note && h('span.hint', {}, ' ', note)),
    );
  return h(
    'dl.numbers',
    {},
    one('requests', t('insights.requests'), count(all.requests)),
    one('decided', t('insights.decided'), count(all.decided), percent(all.decided, all.requests)),
    one(
      'median',
      t('insights.median'),
      length(medianMs),
      ninetiethMs !== null && t('insights.ninetieth', { time: length(ninetiethMs) }),
    ),
    one('hasty', t('insights.hasty'), percent(all.hasty, all.decided), t('insights.of', { n: all.hasty })),
    one('expired', t('insights.expired'), count(all.expired), percent(all.expired, all.requests)),
    one('standing', t('insights.standing'), count(standing.inForce), t('insights.uses', { n: standing.uses })),
  );
}

function perDay(days) {
  const short = new Intl.DateTimeFormat(tag(), { month: 'short', day: 'numeric' });
  const sum = (outcomes, names) => names.reduce((total, name) => total + (outcomes[name] ?? 0), 0);
  const chart = columnChart(
    days.map(({ date, outcomes }) => ({
      name: short.format(date),
      parts: SERIES.map(([series, names]) => ({ series, value: sum(outcomes, names) })),
    })),
  );
  const used = OUTCOMES.filter((name) => days.some(({ outcomes }) => outcomes[name]));
  const rows = days
    .filter(({ outcomes }) => Object.keys(outcomes).length > 0)
    .map(({ date, outcomes }) => [short.format(date), ...used.map((name) => count(outcomes[name] ?? 0))]);
  return figure(t('insights.perDay'), {
    chart,
    legend: SERIES.map(([series]) => [series, t(`insights.series.${series}`)]),
    head: [t('insights.day'), ...used.map((name) => t(`history.${name}`))],
    rows,
  });
}

function decisionTimes(classes) {
  const name = ({ belowMs }, at) =>
    belowMs === null ? `≥ ${shortLength(classes[at - 1].belowMs)}` : `< ${shortLength(belowMs)}`;
  const all = classes.reduce((sum, { count: n }) => sum + n, 0);
  return figure(t('insights.times'), {
    chart: columnChart(
      classes.map((each, at) => ({
        name: name(each, at),
        parts: [{ series: at === 0 ? 'hasty' : 'approved', value: each.count }],
      })),
    ),
    legend: [['hasty', t('insights.hasty')]],
    head: [t('insights.time'), t('insights.decided'), t('insights.share')],
    rows: classes.map((each, at) => [name(each, at), count(each.count), percent(each.count, all)]),
  });
}

/** Tools, rules or people, most requests first; each leads to its requests. */
function byName(title, tallies, field, without) {
  return figure(title, {
    head: [
      t(`history.${field}`),
      t('insights.requests'),
      t('history.approved'),
      t('history.rejected'),
      t('history.expired'),
      t('history.edited'),
      t('insights.hasty'),
      t('insights.mean'),
    ],
    rows: tallies.map((tally) => [
      tally.name === null
        ? h('span.quiet', {}, without)
        : h('a', { href: query('/history', { [field]: tally.name }) }, raw(tally.name)),
      count(tally.requests),
      count(tally.approved),
      count(tally.rejected),
      count(tally.expired),
      count(tally.edited),
      percent(tally.hasty, tally.decided),
      h('span', { title: tally.meanMs === null ? null : lengthInWords(tally.meanMs) }, length(tally.meanMs)),
    ]),
  });
}

function standing({ mostUsed }) {
  return figure(t('insights.standing'), {
    head: [t('nav.grants'), t('insights.used'), t('history.person'), t('insights.until')],
    rows: mostUsed.map((grant) => [
      h('span', {}, safe(grant.text)),
      count(grant.uses),
      raw(grant.by),
      dateWithZone(grant.expiresAt),
    ]),
  });
}
