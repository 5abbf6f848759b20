// A file of the server's, saved by the browser.

import { fill, h } from '../dom.js';
import { t } from '../i18n.js';
import { toast } from './toast.js';

/** The browser reads a saved file after the click; by then it has it. */
const SAVING_MS = 30_000;

/**
 * A button that saves a file. A link could not prove who follows it, so the file is fetched and then saved.
 * @param {'csv' | 'jsonl'} format
 * @param {string} name without its ending
 * @param {() => Promise<Blob>} load
 */
export function exportButton(format, name, load) {
  const button = h('button.button', { type: 'button', 'data-export': format });
  fill(button, t('export', { format: format.toUpperCase() }));
  button.addEventListener('click', async () => {
    button.disabled = true;
    try {
      const url = URL.createObjectURL(await load());
      h('a', { href: url, download: `${name}.${format}` }).click();
      setTimeout(() => URL.revokeObjectURL(url), SAVING_MS);
    } catch (problem) {
      toast(t('fate.refused', { why: problem.message }), 'bad');
    }
    button.disabled = false;
  });
  return button;
}
