// One session from the journal: what was proposed, judged, asked, answered and done, as it happens.

import { api } from '../api.js';
import { arrange, fill, h } from '../dom.js';
import { icon } from '../icons.js';
import { t } from '../i18n.js';
import { loading, page } from '../parts/page.js';
import { raw, sentence } from '../parts/text.js';
import { toast } from '../parts/toast.js';
import { questionPath } from '../router.js';
import { store } from '../store.js';
import { moment } from '../time.js';

/** Which drawing and which colour an event has. */
export const LOOKS = {
  callReceived: ['terminal', 'plain'],
  asked: ['people', 'ask'],
  joined: ['people', 'plain'],
  escalated: ['people', 'ask'],
  voted: ['check', 'good'],
  commented: ['chat', 'plain'],
  resolved: ['check', 'plain'],
  processed: ['info', 'faint'],
  settled: ['audit', 'plain'],
  claimed: ['play', 'plain'],
  finished: ['check', 'good'],
  lostTrack: ['warning', 'bad'],
  standingGiven: ['grants', 'good'],
  standingUsed: ['grants', 'plain'],
  standingRevoked: ['grants', 'bad'],
  toolAllowed: ['grants', 'good'],
  modeSet: ['settings', 'ask'],
  sessionEnded: ['stop', 'bad'],
  messageQueued: ['chat', 'plain'],
  delivered: ['send', 'faint'],
  started: ['play', 'faint'],
  runStarted: ['chat', 'plain'],
  userSaid: ['chat', 'plain'],
  modelTurn: ['info', 'plain'],
  runInterrupted: ['stop', 'faint'],
  runEnded: ['stop', 'faint'],
};

const MODES = ['default', 'autoEdit', 'yolo'];

class Session {
  #id;
  #stop = new AbortController();
  #last;
  #busy = false;
  #again = false;
  #rows = h('ol.timeline', { 'aria-live': 'polite', 'aria-relevant': 'additions' });
  #head = h('div.session-head');
  // Made once: a row that arrives takes neither the focus from them nor a first click back.
  #agent = h('span');
  #calls = h('span');
  #state = h('span.badge');
  #spring = h('span.spring');
  #mode = this.#modeChoice();
  #tools = h('span.session-tools');
  #allow = this.#allowForm();
  #end = this.#endButton();

  constructor({ sessionId }) {
    this.#id = sessionId;
    this.title = sessionId;
    this.element = page(h('span.mono', {}, raw(sessionId)), t('session.lead'), this.#head, this.#rows);
    const follow = ({ detail }) => detail.sessionId === this.#id && this.#load();
    store.on('journal', follow, this.#stop.signal);
    store.on('fresh', () => this.#load(), this.#stop.signal);
    this.#load();
  }

  destroy() {
    this.#stop.abort();
  }

  /** Fetches what is new since the last row. Rows are only ever added: the journal does not change. */
  async #load() {
    if (this.#busy) {
      this.#again = true;
      return;
    }
    this.#busy = true;
    let more = true;
    while (more && !this.#stop.signal.aborted) {
      const got = await loading(this.#head, () => api.session(this.#id, { after: this.#last, limit: 200 }));
      if (!got) break;
      this.#rows.append(...got.rows.map(timelineRow));
      this.#last = got.next ?? got.rows.at(-1)?.id ?? this.#last;
      more = got.next !== null && got.next !== undefined && got.rows.length > 0;
      this.#drawHead(got.session);
    }
    this.#busy = false;
    if (this.#again && !this.#stop.signal.aborted) {
      this.#again = false;
      this.#load();
    }
  }

  #drawHead(session) {
    const admin = store.me?.role === 'admin';
    const over = session.state === 'ended';
    fill(this.#agent, icon('terminal'), ' ', raw(session.agent ?? ''));
    fill(this.#calls, t('calls', { n: session.calls ?? 0 }));
    fill(this.#state, t(over ? 'sessions.ended' : 'sessions.running'));
    this.#state.classList.toggle('risk-low', !over);
    this.#mode.disabled = !admin || over;
    this.#mode.value = session.mode ?? 'default';
    const tools = session.approvalTools ?? [];
    fill(this.#tools, tools.length > 0 && t('session.approvalTools', { tools }));
    const parts = [this.#agent, this.#calls, this.#state, this.#tools, this.#spring, this.#mode];
    arrange(this.#head, admin && !over ? [...parts, this.#allow, this.#end] : parts);
  }

  #modeChoice() {
    const mode = h(
      'select.compact',
      { 'aria-label': t('policy.mode'), onchange: () => this.#setMode(mode.value) },
      MODES.map((name) => h('option', { value: name }, t(`mode.${name}`))),
    );
    return mode;
  }

  /** Adds a tool to those that run in this session without asking. */
  #allowForm() {
    const tool = h('input.compact', {
      type: 'text',
      'aria-label': t('session.allowTool'),
      placeholder: t('session.allowTool'),
    });
    const submit = async (event) => {
      event.preventDefault();
      const name = tool.value.trim();
      if (name === '') return;
      try {
        await api.allowTool(this.#id, name);
        tool.value = '';
        toast(t('session.toolAllowed', { tool: name }), 'good');
        this.#load();
      } catch (problem) {
        toast(t('fate.refused', { why: problem.message }), 'bad');
      }
    };
    return h(
      'form.session-allow',
      { onsubmit: submit },
      tool,
      h('button.button', { type: 'submit' }, t('session.allow')),
    );
  }

  /** Two steps: ending a session cannot be undone. */
  #endButton() {
    const button = h('button.button.button-danger', { type: 'button' }, icon('stop'), h('span', {}, t('session.end')));
    let armed = false;
    const arm = (now) => {
      armed = now;
      button.lastChild.textContent = t(now ? 'session.endSure' : 'session.end');
    };
    button.addEventListener('blur', () => arm(false));
    button.addEventListener('click', async () => {
      if (!armed) {
        arm(true);
        return;
      }
      try {
        await api.cancelSession(this.#id);
        toast(t('session.endedNow'), 'good');
        this.#load();
      } catch (problem) {
        toast(t('fate.refused', { why: problem.message }), 'bad');
      }
    });
    return button;
  }

  async #setMode(mode) {
    try {
      await api.setMode(this.#id, mode);
      toast(t('session.modeSet', { mode: t(`mode.${mode}`) }), 'good');
    } catch (problem) {
      toast(t('fate.refused', { why: problem.message }), 'bad');
      this.#load();
    }
  }
}

/** One row of a timeline; everything the event holds is behind it. */
export function timelineRow(row) {
  const [name, tone] = LOOKS[row.type] ?? ['info', 'plain'];
  const about = row.event?.interaction ?? (row.type === 'asked' ? row.event?.id : undefined);
  return h(
    'li.event',
    { class: `event-${tone}`, 'data-event': row.type },
    h('span.event-icon', { 'aria-hidden': 'true' }, icon(name)),
    h('div.event-main', {}, h('p.event-text', {}, sentence(row.text ?? row.type)), detailsOf(row)),
    h(
      'span.event-side',
      {},
      typeof about === 'string' && h('a', { href: questionPath(about) }, t('closed.request')),
      h('time', { datetime: row.at, title: String(row.at) }, moment(row.at)),
    ),
  );
}

function detailsOf(row) {
  const details = h('details.event-details', {}, h('summary', {}, t(`event.${row.type}`)));
  // Drawn when opened: a long session holds a lot of arguments.
  details.addEventListener('toggle', () => {
    if (details.open && details.children.length === 1)
      details.append(h('pre.code', { tabindex: '0' }, raw(JSON.stringify(row.event ?? {}, null, 2))));
  });
  return details;
}

/** @returns {import('../main.js').Page} */
export const sessionPage = (route) => new Session(route);
