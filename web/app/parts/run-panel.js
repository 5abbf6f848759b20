// Where the run of a chat stands: its state, the variables of its workflow, and a way to wake it after its server was stopped.

import { api } from '../api.js';
import { fill, h } from '../dom.js';
import { t } from '../i18n.js';
import { variableList } from '../pages/runs.js';
import { toast } from './toast.js';

/** A run that has not ended. */
const OPEN = ['running', 'parked'];

export class RunPanel {
  #session;
  element = h('div.run-panel', { hidden: true });

  /** Shows the run of a session, if it has one. */
  async show(sessionId) {
    this.#session = sessionId;
    const run = await api.run(sessionId).catch(() => null);
    if (sessionId !== this.#session) return;
    this.element.hidden = !run || run.state === 'never';
    if (!this.element.hidden) this.#draw(run);
  }

  #draw(run) {
    this.element.dataset.run = run.state;
    fill(
      this.element,
      h('span.badge', {}, t(`runs.state.${run.state}`)),
      variableList(run.variables),
      OPEN.includes(run.state) &&
        h(
          'button.quiet-button',
          { type: 'button', title: t('runs.resumeHint'), 'data-resume': true, onclick: () => this.#resume() },
          t('runs.resume'),
        ),
    );
  }

  async #resume() {
    try {
      await api.resumeRun(this.#session);
      await this.show(this.#session);
      toast(t('runs.resumed'), 'good');
    } catch (problem) {
      toast(t('fate.refused', { why: problem.message }), 'bad');
    }
  }
}
