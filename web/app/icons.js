// The page's drawings: thin lines on a 24-unit square, in the colour of the text around them.

import { svg } from './dom.js';

const PATHS = {
  inbox: ['M4 13l3-8h10l3 8v6H4z', 'M4 13h5l1.5 2.5h3L15 13h5'],
  sessions: ['M5 6h14', 'M5 12h14', 'M5 18h9'],
  chat: ['M4 5h16v11H10l-5 4v-4H4z'],
  insights: ['M4 20h16', 'M6 20v-6', 'M11 20V6', 'M16 20v-9'],
  audit: ['M6 3h9l4 4v14H6z', 'M9 13l2 2 4-4'],
  policy: ['M12 3l7 3v6c0 4.5-3 7.5-7 9-4-1.5-7-4.5-7-9V6z'],
  grants: ['M14.5 9.5a4 4 0 1 0-4 4l1-1h2v-2h2z', 'M4 20l6-6'],
  check: ['M5 12.5l4.5 4.5L19 7.5'],
  cross: ['M6 6l12 12', 'M18 6L6 18'],
  pencil: ['M5 19l1-4L16 5l3 3L9 18z'],
  more: ['M6 12h.01', 'M12 12h.01', 'M18 12h.01'],
  back: ['M14 6l-6 6 6 6'],
  search: ['M11 5a6 6 0 1 0 0 12 6 6 0 0 0 0-12z', 'M15.5 15.5L20 20'],
  clock: ['M12 4a8 8 0 1 0 0 16 8 8 0 0 0 0-16z', 'M12 8v4l3 2'],
  warning: ['M12 4l9 16H3z', 'M12 10v4', 'M12 17h.01'],
  bell: ['M6 17V11a6 6 0 0 1 12 0v6z', 'M4 17h16', 'M10.5 20h3'],
  sun: [
    'M12 8a4 4 0 1 0 0 8 4 4 0 0 0 0-8z',
    'M12 3v1.5M12 19.5V21M3 12h1.5M19.5 12H21M5.6 5.6l1 1M17.4 17.4l1 1M5.6 18.4l1-1M17.4 6.6l1-1',
  ],
  moon: ['M19 14.5A8 8 0 0 1 9.5 5a7.5 7.5 0 1 0 9.5 9.5z'],
  settings: ['M4 7h9M17 7h3M4 17h3M11 17h9', 'M15 5v4M9 15v4'],
  keyboard: ['M3 7h18v10H3z', 'M7 11h.01M11 11h.01M15 11h.01M8 14h8'],
  terminal: ['M4 5h16v14H4z', 'M7.5 9.5l3 2.5-3 2.5', 'M12.5 15h4'],
  table: ['M4 5h16v14H4z', 'M4 10h16M10 10v9'],
  globe: ['M12 4a8 8 0 1 0 0 16 8 8 0 0 0 0-16z', 'M4 12h16', 'M12 4c3 3 3 13 0 16c-3-3-3-13 0-16'],
  file: ['M7 3h7l4 4v14H7z', 'M14 3v4h4'],
  people: [
    'M9 6a3 3 0 1 0 0 6 3 3 0 0 0 0-6z',
    'M3.5 19c.5-4 3-5.5 5.5-5.5s5 1.5 5.5 5.5',
    'M15.5 6.5a2.5 2.5 0 0 1 0 5M16.5 14c2 .4 3.5 2 4 5',
  ],
  play: ['M8 5l11 7-11 7z'],
  send: ['M4 12l16-7-5 15-3-6z', 'M12 14l8-9'],
  skip: ['M6 6l8 6-8 6z', 'M17 6v12'],
  retry: ['M19 12a7 7 0 1 1-2-5', 'M19 4v4h-4'],
  stop: ['M7 7h10v10H7z'],
  info: ['M12 4a8 8 0 1 0 0 16 8 8 0 0 0 0-16z', 'M12 11v5', 'M12 8h.01'],
  plug: ['M4 20l5-5', 'M8 11l5 5', 'M10 9l3-3a3.5 3.5 0 0 1 5 5l-3 3'],
};

/** An icon by name; only decoration, the words beside it say the same. */
export function icon(name, extra = '') {
  const lines = (PATHS[name] ?? []).map((d) => svg('path', { d }));
  return svg(
    'svg',
    { viewBox: '0 0 24 24', class: `icon ${extra}`, 'aria-hidden': 'true', focusable: 'false' },
    ...lines,
  );
}

/** The mark of the house: a vote dropped into place. */
export function logo() {
  return svg(
    'svg',
    { viewBox: '0 0 32 32', class: 'logo', 'aria-hidden': 'true', focusable: 'false' },
    svg('rect', { x: 1, y: 1, width: 30, height: 30, rx: 9, class: 'logo-field' }),
    svg('path', { d: 'M9.5 16.5l4.5 4.5 9-10', class: 'logo-check' }),
    svg('path', { d: 'M9 25h14', class: 'logo-line' }),
  );
}
