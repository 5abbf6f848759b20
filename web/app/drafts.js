// Drafts: what was typed and not sent yet. Kept by the tab, so a reload loses nothing and another tab gets nothing.

const PREFIX = 'placet.draft ';

/** The draft under `key`, or undefined. */
export function draft(key) {
  try {
    return JSON.parse(sessionStorage.getItem(PREFIX + key) ?? 'null') ?? undefined;
  } catch {
    return undefined;
  }
}

/** Keeps a draft; an empty one is forgotten. */
export function keepDraft(key, value) {
  try {
    if (value === undefined || value === '') sessionStorage.removeItem(PREFIX + key);
    else sessionStorage.setItem(PREFIX + key, JSON.stringify(value));
  } catch {
    // Full, or blocked by the browser: a draft is a convenience.
  }
}

/** Forgets every draft of a request, or of everything. */
export function forgetDrafts(of = '') {
  for (const key of Object.keys(sessionStorage)) if (key.startsWith(PREFIX + of)) sessionStorage.removeItem(key);
}

/** Ties a text field to a draft. */
export function drafted(field, key) {
  const kept = draft(key);
  if (typeof kept === 'string' && field.value === '') field.value = kept;
  field.addEventListener('input', () => keepDraft(key, field.value));
  return field;
}
