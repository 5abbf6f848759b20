// Moments and lengths of time in words, and one clock that ticks for everything on the page.

import { t, tag } from './i18n.js';

/** `0:42`, `12:05`, `3 h 20 min`, `2 d 4 h`: what is left, at a glance. Partial seconds count as one more. */
export function clock(ms) {
  const seconds = Math.max(0, Math.ceil(ms / 1000));
  const [minutes, hours, days] = [Math.floor(seconds / 60), Math.floor(seconds / 3600), Math.floor(seconds / 86_400)];
  if (hours === 0) return `${minutes}:${String(seconds % 60).padStart(2, '0')}`;
  if (days === 0) return t('time.hm', { h: hours, m: minutes % 60 });
  return t('time.dh', { d: days, h: hours % 24 });
}

/** A length of time in words, for screen readers and sentences: `1 minute 30 seconds`. */
export function lengthInWords(ms) {
  const seconds = Math.max(0, Math.round(ms / 1000));
  const parts = [
    ['day', Math.floor(seconds / 86_400)],
    ['hour', Math.floor((seconds % 86_400) / 3600)],
    ['minute', Math.floor((seconds % 3600) / 60)],
    ['second', seconds % 60],
  ].filter(([, count]) => count > 0);
  if (parts.length === 0) parts.push(['second', 0]);
  const format = ([unit, count]) =>
    new Intl.NumberFormat(tag(), { style: 'unit', unit, unitDisplay: 'long' }).format(count);
  return parts.slice(0, 2).map(format).join(' ');
}

/** `14:02:11` today, `Nov 3, 14:02` otherwise. */
export function moment(at, now = new Date()) {
  const date = new Date(at);
  if (Number.isNaN(date.getTime())) return String(at ?? '');
  const today = date.toDateString() === now.toDateString();
  const options = today
    ? { hour: '2-digit', minute: '2-digit', second: '2-digit', hourCycle: 'h23' }
    : {
        year: date.getFullYear() === now.getFullYear() ? undefined : 'numeric',
        month: 'short',
        day: 'numeric',
        hour: '2-digit',
        minute: '2-digit',
        hourCycle: 'h23',
      };
  return new Intl.DateTimeFormat(tag(), options).format(date);
}

/** `today 14:02`, `Nov 3, 14:02` otherwise: when something was decided. */
export function when(at, now = new Date()) {
  const date = new Date(at);
  if (date.toDateString() !== now.toDateString()) return moment(at, now);
  const time = new Intl.DateTimeFormat(tag(), { hour: '2-digit', minute: '2-digit', hourCycle: 'h23' }).format(date);
  return t('time.today', { time });
}

/** `Nov 3, 2026, 14:02 GMT+1`: for lists that are read elsewhere, too. */
export function dateWithZone(at) {
  const date = new Date(at);
  if (Number.isNaN(date.getTime())) return '';
  return new Intl.DateTimeFormat(tag(), {
    year: 'numeric',
    month: 'short',
    day: 'numeric',
    hour: '2-digit',
    minute: '2-digit',
    hourCycle: 'h23',
    timeZoneName: 'short',
  }).format(date);
}

/** `12 sec`, `3 min`, `2 hr`: how long something took, in its largest unit. */
export function shortLength(ms) {
  const [unit, size] = [
    ['day', 86_400_000],
    ['hour', 3_600_000],
    ['minute', 60_000],
    ['second', 1000],
  ].find(([, length]) => ms >= length) ?? ['second', 1000];
  const count = Math.max(0, Math.round(ms / size));
  return new Intl.NumberFormat(tag(), { style: 'unit', unit, unitDisplay: 'short' }).format(count);
}

/** `3 minutes ago`. */
export function ago(at, now = Date.now()) {
  const seconds = Math.round((new Date(at).getTime() - now) / 1000);
  const format = new Intl.RelativeTimeFormat(tag(), { numeric: 'auto' });
  for (const [unit, size] of [
    ['day', 86_400],
    ['hour', 3600],
    ['minute', 60],
  ]) {
    if (Math.abs(seconds) >= size) return format.format(Math.trunc(seconds / size), unit);
  }
  return format.format(Math.min(0, seconds), 'second');
}

const tickers = new Map();

/**
 * Calls `draw` now and every second for as long as `element` is on the page.
 * @param {Element} element
 * @param {() => void} draw
 */
export function everySecond(element, draw) {
  draw();
  tickers.set(element, { draw, seen: false });
  schedule();
}

let timer = 0;

function schedule() {
  if (timer || tickers.size === 0) return;
  timer = setTimeout(
    () => {
      timer = 0;
      for (const [element, ticker] of tickers) {
        if (element.isConnected) {
          ticker.seen = true;
          ticker.draw();
        } else if (ticker.seen) {
          tickers.delete(element);
        } else {
          // Made, not yet put on the page: it gets one more second.
          ticker.seen = true;
        }
      }
      schedule();
    },
    1000 - (Date.now() % 1000),
  );
}
