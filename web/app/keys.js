// Keyboard shortcuts: one listener, and the list of keys that `?` shows is the list that works.

/** @typedef {{ key: string, label: string, run: (event: KeyboardEvent) => void, when?: () => boolean }} Shortcut */

const layers = [];

/**
 * Adds shortcuts; the newest layer is asked first. Returns a function that takes them away again.
 * @param {Shortcut[]} shortcuts
 */
export function addKeys(shortcuts) {
  layers.unshift(shortcuts);
  return () => layers.splice(layers.indexOf(shortcuts), 1);
}

/** Every shortcut of this page, for the help. */
export function allKeys() {
  const seen = new Set();
  return layers.flat().filter(({ key }) => !seen.has(key) && seen.add(key));
}

/** Whether typing goes somewhere: then a letter is a letter. */
export function isTyping(target) {
  const tag = target?.tagName;
  if (tag === 'TEXTAREA' || tag === 'SELECT' || target?.isContentEditable) return true;
  return tag === 'INPUT' && !['checkbox', 'radio', 'button', 'submit'].includes(target.type);
}

/** The shortcut an event asks for. A key held down counts once. */
export function find(event) {
  if (event.repeat || event.ctrlKey || event.metaKey || event.altKey || event.isComposing || isTyping(event.target))
    return undefined;
  return layers.flat().find(({ key, when }) => key === event.key && (when?.() ?? true));
}

/** Begins to listen. */
export function listenKeys(target = document) {
  target.addEventListener('keydown', (event) => {
    // An open dialog has the keyboard to itself.
    if (event.defaultPrevented || document.querySelector('dialog[open]')) return;
    const shortcut = find(event);
    if (!shortcut) return;
    event.preventDefault();
    shortcut.run(event);
  });
}
