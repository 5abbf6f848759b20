// Keeps a hand that was already moving from deciding something its owner has not seen.
//
// A press decides only if it began at least half a second after the question appeared (or changed), and at least half a
// second after the window came to the front: the click that brings a window forward is not an answer.

/** How long a question must have been there, in milliseconds. */
export const SETTLE_MS = 500;

/** A press that ended longer ago than this has nothing to do with the click now; assistive technology clicks without one. */
const PRESS_ENDED_MS = 1000;

/** @typedef {'ok' | 'too-soon' | 'focus'} Judgement */

export class Guard {
  #now;
  #shown = new Map();
  #focusedAt = -Infinity;
  #press = null;

  /** @param {() => number} now a clock that only goes forward, in milliseconds */
  constructor(now = () => performance.now()) {
    this.#now = now;
  }

  /**
   * Something to be decided is on the screen. The same `what` again changes nothing, so a redraw does not start over.
   * @param {string} key the question
   * @param {string} [what] what it shows; when this changes, it has appeared anew
   * @returns {boolean} whether it is new
   */
  appeared(key, what = '') {
    if (this.#shown.get(key)?.what === what) return false;
    this.#shown.set(key, { what, at: this.#now() });
    return true;
  }

  /** It is not on the screen any more. */
  left(key) {
    this.#shown.delete(key);
  }

  /** The window came to the front. */
  focused() {
    this.#focusedAt = this.#now();
  }

  /** A button or key went down. */
  pressed() {
    this.#press = { at: this.#now(), endedAt: null };
  }

  /** It came up again. */
  released() {
    if (this.#press) this.#press.endedAt = this.#now();
  }

  /**
   * Whether the press that is being handled may decide.
   * @param {string} key
   * @returns {Judgement}
   */
  judge(key) {
    const began = this.#beganAt();
    const shown = this.#shown.get(key);
    if (!shown || began - shown.at < SETTLE_MS) return 'too-soon';
    if (began - this.#focusedAt < SETTLE_MS) return 'focus';
    return 'ok';
  }

  /** Listens to a window for presses and for coming to the front. */
  watch(target) {
    for (const down of ['pointerdown', 'keydown'])
      target.addEventListener(down, (event) => event.repeat || this.pressed(), true);
    for (const up of ['pointerup', 'pointercancel', 'keyup']) target.addEventListener(up, () => this.released(), true);
    target.addEventListener('focus', () => this.focused());
    target.document.addEventListener('visibilitychange', () => {
      if (target.document.visibilityState === 'visible') this.focused();
    });
  }

  #beganAt() {
    const now = this.#now();
    const press = this.#press;
    const over = !press || (press.endedAt !== null && now - press.endedAt > PRESS_ENDED_MS);
    return over ? now : press.at;
  }
}

/** The page's own guard. */
export const guard = new Guard();
