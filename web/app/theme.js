// Light or dark: the system's choice until the person makes one.

const KEY = 'placet.theme';
const CHOICES = ['auto', 'light', 'dark'];

/** The choice in force: `auto`, `light` or `dark`. */
export function theme() {
  const kept = localStorage.getItem(KEY);
  return CHOICES.includes(kept) ? kept : 'auto';
}

/** Keeps a choice and shows it. */
export function setTheme(choice) {
  if (choice === 'auto') localStorage.removeItem(KEY);
  else localStorage.setItem(KEY, choice);
  applyTheme();
}

/** Shows the choice in force. */
export function applyTheme() {
  document.documentElement.dataset.theme = theme();
}
