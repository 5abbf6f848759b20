// Starting the built-in agent on a task, or on one of the configured workflows. What happens then is followed as a chat.

import { api } from '../api.js';
import { noteChat } from '../chats.js';
import { fill, freshId, h } from '../dom.js';
import { t } from '../i18n.js';
import { loading, page } from '../parts/page.js';
import { raw } from '../parts/text.js';
import { chatPath, go } from '../router.js';

/** @returns {import('../main.js').Page} */
export function runsPage() {
  const place = h('div.run-start');
  loading(place, async () => fill(place, form((await api.workflows()).items)));
  return { title: t('runs.title'), element: page(t('runs.title'), t('runs.lead'), place) };
}

function form(workflows) {
  const [taskId, workflowId] = [freshId('task'), freshId('workflow')];
  const select = h(
    'select',
    { id: workflowId, 'data-workflow': true },
    h('option', { value: '' }, t('runs.noWorkflow')),
    workflows.map(({ name, fault }) => h('option', { value: name, disabled: Boolean(fault) }, raw(name))),
  );
  const task = h('textarea', { id: taskId, rows: 3, 'data-task': true });
  const variables = h('div.run-variables');
  const fault = h('p.fault', { role: 'alert', hidden: true });
  const start = h('button.button.button-primary', { type: 'submit', 'data-start': true }, t('runs.start'));
  const chosen = () => workflows.find(({ name }) => name === select.value);
  const show = () => {
    task.required = select.value === '';
    fill(variables, variableList(chosen()?.variables));
  };
  select.addEventListener('change', show);
  show();
  const element = h(
    'form.run-form',
    {},
    workflows.length > 0 && h('div.form-field', {}, h('label', { for: workflowId }, t('runs.workflow')), select),
    variables,
    h('div.form-field', {}, h('label', { for: taskId }, t('runs.task')), task),
    workflows.filter((workflow) => workflow.fault).map(({ fault: why }) => h('p.fault', {}, raw(why))),
    fault,
    h('div.buttons', {}, start),
  );
  element.addEventListener('submit', async (event) => {
    event.preventDefault();
    start.disabled = true;
    try {
      const words = task.value.trim();
      const { sessionId } = await api.startRun({ workflow: select.value || undefined, task: words || undefined });
      noteChat(sessionId, [select.value, words].filter(Boolean).join(': '));
      go(chatPath(sessionId));
    } catch (problem) {
      fault.hidden = false;
      fault.textContent = t('fate.refused', { why: problem.message });
      start.disabled = false;
    }
  });
  return element;
}

/** Variables and their values; nothing where there are none. */
export function variableList(variables) {
  const entries = Object.entries(variables ?? {});
  if (entries.length === 0) return null;
  return h(
    'dl.variables',
    { 'aria-label': t('runs.variables'), 'data-variables': true },
    entries.map(([name, value]) =>
      h(
        'div.variable',
        { 'data-variable': name },
        h('dt', {}, h('code', {}, raw(name))),
        h('dd', {}, raw(typeof value === 'string' ? value : JSON.stringify(value))),
      ),
    ),
  );
}
