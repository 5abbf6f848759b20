// The risk of a thing as a badge: colour, and always the word.

import { h } from '../dom.js';
import { t } from '../i18n.js';

const KNOWN = ['LOW', 'MEDIUM', 'HIGH'];

/** The class that gives an element the colour of a risk. */
export const riskClass = (risk) => (KNOWN.includes(risk) ? `risk-${risk.toLowerCase()}` : 'risk-none');

/** A badge. `long` says "High risk" instead of "High". */
export function riskBadge(risk, { long = false } = {}) {
  if (!KNOWN.includes(risk)) return null;
  return h('span.badge', { class: riskClass(risk) }, long ? t(`risk.long.${risk}`) : t(`risk.${risk}`));
}
