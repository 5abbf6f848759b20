// The frame around every page: where one can go, who one is, and whether the server can be reached.

import { api } from '../api.js';
import { forgetDrafts } from '../drafts.js';
import { fill, h } from '../dom.js';
import { held, holds, setHolds } from '../held.js';
import { icon, logo } from '../icons.js';
import { languages, locale, setLocale, t } from '../i18n.js';
import { allKeys } from '../keys.js';
import { canPush, stopPush } from '../push.js';
import { store } from '../store.js';
import { setTheme, theme } from '../theme.js';
import { everySecond } from '../time.js';
import { dialog, dialogHead } from './dialog.js';
import { heldBar } from './held-bar.js';
import { notifyRows } from './notify-rows.js';
import { announcers, toast } from './toast.js';

const PLACES = [
  { page: 'inbox', path: '/', icon: 'inbox' },
  { page: 'sessions', path: '/sessions', icon: 'sessions' },
  { page: 'chat', path: '/chat', icon: 'chat' },
  { page: 'audit', path: '/audit', icon: 'audit', role: 'admin' },
  { page: 'policy', path: '/policy', icon: 'policy', role: 'admin' },
  { page: 'grants', path: '/grants', icon: 'grants' },
];

const HOME_OF = {
  session: 'sessions',
  history: 'inbox',
  insights: 'inbox',
  runs: 'chat',
  suggestions: 'policy',
  replay: 'policy',
};

export class Shell {
  #stop = new AbortController();
  main = h('main.main', { id: 'main', tabindex: '-1' });
  #nav = h('nav.nav', { 'aria-label': t('nav.label') });
  #badge = h('span.nav-badge', { hidden: true });
  #line = h('div.line-banner', { role: 'status', hidden: true });
  #menu = dialog(t('menu.title'));
  #help = dialog(t('keys.title'));

  /** @param {{ onLocale: () => void, onRetry: () => void, onSignOut: () => void }} on */
  constructor(on) {
    this.on = on;
    this.element = h(
      'div.shell',
      {},
      h(
        'a.skip-link',
        { href: '#main', onclick: (event) => (event.preventDefault(), this.main.focus()) },
        t('nav.skip'),
      ),
      h(
        'header.top',
        {},
        h('a.brand', { href: '/', 'aria-label': t('nav.home') }, logo(), h('span.brand-name', {}, 'Placet')),
        this.#nav,
        this.#tools(),
      ),
      this.#line,
      this.main,
      heldBar(this.#stop.signal),
      ...announcers(),
      this.#menu,
      this.#help,
    );
    store.on('line', () => this.#drawLine(), this.#stop.signal);
    store.on('pending', () => this.#drawBadge(), this.#stop.signal);
    this.#drawLine();
  }

  /** Stops following what happens; the frame is thrown away. */
  destroy() {
    this.#stop.abort();
  }

  #tools() {
    return h(
      'div.tools',
      {},
      h(
        'button.icon-button.only-wide',
        {
          type: 'button',
          'aria-label': t('keys.title'),
          title: `${t('keys.title')} (?)`,
          onclick: () => this.showHelp(),
        },
        icon('keyboard'),
      ),
      h(
        'button.icon-button',
        {
          type: 'button',
          'aria-label': t('menu.title'),
          title: t('menu.title'),
          'data-menu': true,
          onclick: () => this.#showMenu(),
        },
        icon('settings'),
      ),
    );
  }

  /** Marks where we are. */
  at(page) {
    const home = HOME_OF[page] ?? page;
    this.element.dataset.page = page;
    const places = PLACES.filter(({ role }) => !role || role === store.me?.role);
    fill(
      this.#nav,
      places.map((place) =>
        h(
          'a.nav-link',
          { href: place.path, 'aria-current': place.page === home ? 'page' : null, 'data-nav': place.page },
          icon(place.icon),
          h('span', {}, t(`nav.${place.page}`)),
          place.page === 'inbox' && this.#badge,
        ),
      ),
    );
    this.#drawBadge();
  }

  #drawBadge() {
    const count = store.waiting;
    this.#badge.hidden = count === 0;
    fill(
      this.#badge,
      h('span', { 'aria-hidden': 'true' }, String(count)),
      h('span.visually-hidden', {}, t('inbox.count', { n: count })),
    );
  }

  #drawLine() {
    const { state, retryAt } = store.line;
    this.#line.hidden = state !== 'lost';
    this.element.toggleAttribute('data-offline', state === 'lost');
    if (state !== 'lost') return;
    const words = h('span', {}, t('line.lost'));
    const when = h('span.only-wide', { 'aria-hidden': 'true' });
    fill(
      this.#line,
      icon('plug'),
      words,
      when,
      h('button.quiet-button', { type: 'button', onclick: this.on.onRetry }, t('line.retry')),
    );
    everySecond(
      when,
      () => (when.textContent = t('line.in', { n: Math.max(0, Math.ceil((retryAt - Date.now()) / 1000)) })),
    );
  }

  showHelp() {
    const rows = allKeys().map(({ key, label }) =>
      h('div.key-row', {}, h('dt', {}, h('kbd', {}, key)), h('dd', {}, t(label))),
    );
    fill(this.#help, dialogHead(t('keys.title'), this.#help), h('dl.keys', {}, rows), h('p.hint', {}, t('keys.hint')));
    this.#help.showModal();
  }

  #showMenu() {
    this.#drawMenu();
    this.#menu.showModal();
  }

  #drawMenu() {
    const choice = (name, value, current, label, onchange) =>
      h(
        'label.segment',
        {},
        h('input', { type: 'radio', name, value, checked: value === current, onchange }),
        h('span', {}, label),
      );
    const segments = (legend, name, current, options, onchange) =>
      h(
        'fieldset.segments',
        {},
        h('legend', {}, legend),
        h(
          'div.segment-row',
          {},
          options.map(([value, label]) => choice(name, value, current, label, () => onchange(value))),
        ),
      );
    fill(
      this.#menu,
      dialogHead(store.me?.name ?? store.me?.person ?? 'Placet', this.#menu, store.me && t(`role.${store.me.role}`)),
      segments(
        t('menu.theme'),
        'theme',
        theme(),
        [
          ['auto', t('theme.auto')],
          ['light', t('theme.light')],
          ['dark', t('theme.dark')],
        ],
        setTheme,
      ),
      segments(
        t('menu.language'),
        'locale',
        locale(),
        languages().map(({ locale: value, name }) => [value, name]),
        (value) => this.#speak(value),
      ),
      segments(
        t('menu.undo'),
        'undo',
        holds() ? 'on' : 'off',
        [
          ['on', t('undo.on')],
          ['off', t('undo.off')],
        ],
        (value) => setHolds(value === 'on'),
      ),
      notifyRows(() => this.#drawMenu()),
      h(
        'div.menu-row',
        {},
        h('a', { href: '/reference', target: '_blank' }, t('menu.reference')),
        h(
          'button.button',
          { type: 'button', 'data-sign-out': true, onclick: () => this.#signOut() },
          t('menu.signOut'),
        ),
      ),
      h('p.hint', {}, `Placet ${store.me?.version ?? ''}`),
    );
  }

  async #speak(language) {
    try {
      await setLocale(language);
      this.#menu.close();
      this.on.onLocale();
    } catch {
      toast(t('line.lost'), 'bad');
    }
  }

  async #signOut() {
    try {
      if (canPush()) await stopPush();
      held.drop();
      await api.signOut();
      forgetDrafts();
      this.#menu.close();
      this.on.onSignOut();
    } catch (problem) {
      toast(t('fate.refused', { why: problem.message }), 'bad');
    }
  }
}
