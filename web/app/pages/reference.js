// The HTTP API, readable: made from the server's own description of itself.

import { api } from '../api.js';
import { fill, h } from '../dom.js';
import { t } from '../i18n.js';
import { loading, page } from '../parts/page.js';
import { safe } from '../parts/text.js';

const METHODS = ['get', 'post', 'put', 'patch', 'delete'];

/** Follows a reference inside the description. */
function resolve(spec, node) {
  const path = node?.$ref?.replace(/^#\//, '').split('/');
  return path ? path.reduce((found, key) => found?.[key], spec) : node;
}

/** @returns {import('../main.js').Page} */
export function referencePage() {
  const place = h('div.reference');
  loading(place, async () => fill(place, draw(await api.openapi())));
  return { title: t('menu.reference'), element: page(t('menu.reference'), t('reference.lead'), h('p', {}, h('a', { href: '/openapi.json', target: '_blank', rel: 'noreferrer' }, '/openapi.json')), place) };
}

function draw(spec) {
  const operations = Object.entries(spec.paths ?? {}).flatMap(([path, item]) => METHODS.filter((method) => item[method]).map((method) => ({ path, method, ...item[method] })));
  return operations.map((operation) => drawOperation(spec, operation));
}

function drawOperation(spec, { path, method, summary, description, parameters = [], requestBody, responses = {} }) {
  const body = Object.values(resolve(spec, requestBody)?.content ?? {})[0]?.schema;
  const given = parameters.map((parameter) => resolve(spec, parameter));
  return h(
    'details.card.operation',
    {},
    h('summary', {}, h('span.method', { class: `method-${method}` }, method.toUpperCase()), h('code', {}, path), h('span.hint', {}, safe(summary ?? ''))),
    description && h('p.prose', {}, safe(description)),
    given.length > 0 && [h('h3.block-label', {}, t('reference.parameters')), h('dl.args', {}, given.map(({ name, description: words, required }) => h('div.arg', {}, h('dt', {}, name, required && ' *'), h('dd', {}, safe(words ?? '')))))],
    body && [h('h3.block-label', {}, t('reference.body')), h('pre.code', { tabindex: '0' }, JSON.stringify(resolve(spec, body), null, 2))],
    h('h3.block-label', {}, t('reference.answers')),
    h('dl.args', {}, Object.entries(responses).map(([status, response]) => h('div.arg', {}, h('dt', {}, status), h('dd', {}, safe(resolve(spec, response)?.description ?? ''))))),
  );
}
