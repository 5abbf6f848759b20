// Runs from the web: a workflow is started, its variables are changed in an answer, and it continues after a restart. Questions that ask for
// fields, secrets among them.

import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';

import { t } from '../../app/i18n.js';
import { accessible, open, picture, settled, story } from '../world.js';

const SCRIPT = `
[[turns]]
on = '\`region\` from "eu" to "us"'
text = 'I deploy there.'
calls = [{ tool = 'write', args = { path = 'region.txt', content = 'us' } }]
[[turns]]
text = 'I need to know where.'
calls = [{ tool = 'askUserQuestion', args = { title = 'Where', message = 'Where to?', context = { operationType = 'UPDATE_VARIABLES' }, options = [{ optionId = 'set', label = 'Set' }] } }]
[[turns]]
text = 'It is deployed.'
`;

const FLOW = `
[workflow]
prompt = 'Deploy to {{region}}.'
[workflow.variables]
region = 'eu'
limit = 10
[workflow.config.toolApproval]
autoApprovedTools = ['write']
approvalTimeout = '10m'
`;

const FLOWS = {
  extra:
    '[models.main]\nprovider = "scripted"\nscript = "script.toml"\n[workflows]\ndeployer = "flow.toml"\nbroken = "none.toml"\n',
  files: { 'script.toml': SCRIPT, 'flow.toml': FLOW },
};

async function begin(page) {
  await page.locator('[data-workflow]').selectOption('deployer');
  await page.locator('[data-variable="region"]', { hasText: 'eu' }).waitFor();
  await page.locator('[data-task]').fill('Release it.');
  await page.locator('[data-start]').click();
  await settled(page);
}

story(
  'a workflow is started in the web, and what is changed in the answer is seen by later steps',
  FLOWS,
  async (world) => {
    const page = await world.window({ path: '/chat' });
    await page.locator('.chats a', { hasText: t('runs.link') }).click();
    assert.equal(await page.locator('option[value="broken"]').isDisabled(), true, 'its file cannot be read');
    await accessible(page, 'starting a run');
    await begin(page);
    assert.equal(await page.locator('[data-run="parked"] [data-variable="limit"] dd').innerText(), '10');
    await picture(page, 'run-asks');
    await page.locator('[data-arg="region"]').fill('us');
    await page.locator('[data-option="set"]').click();
    await page.locator('.bubble-agent', { hasText: 'It is deployed.' }).waitFor();
    await page.locator('[data-run="completed"] [data-variable="region"]', { hasText: 'us' }).waitFor();
    assert.equal(await page.locator('[data-variable="limit"] dd').innerText(), '10', 'what was not changed stays');
    assert.equal(readFileSync(join(world.folder, 'region.txt'), 'utf8'), 'us');
    await picture(page, 'run-done');
  },
);

story('a run whose server was killed is resumed in the web', FLOWS, async (world) => {
  const page = await world.window({ path: '/runs' });
  await begin(page);
  await world.stop('SIGKILL');
  await world.start();
  await page.reload();
  await settled(page);
  await page.locator('[data-resume]').click();
  await page.locator('[data-toast="good"]', { hasText: t('runs.resumed') }).waitFor();
  await page.locator('[data-arg="region"]').fill('us');
  await page.locator('[data-option="set"]').click();
  await page.locator('[data-run="completed"]').waitFor();
  assert.equal(readFileSync(join(world.folder, 'region.txt'), 'utf8'), 'us');
});

const KEY = 'sk-live-5f2e8c0d9b7a41e6';

story('a secret field is typed as a password, reaches the agent, and is shown nowhere', {}, async (world) => {
  const { requestId } = await world.agent('POST', '/v1/interactions', {
    sessionId: 'release',
    type: 'MISSING_INFO',
    title: 'Key',
    message: 'The key of the registry?',
    context: {
      schema: {
        type: 'object',
        required: ['apiKey', 'region'],
        properties: { apiKey: { type: 'string', writeOnly: true }, region: { enum: ['eu', 'us'], default: 'eu' } },
      },
    },
    options: [
      { optionId: 'give', label: 'Give', action: 'PROVIDE_INFO' },
      { optionId: 'later', label: 'Later', action: 'SKIP' },
    ],
  });
  const page = await world.window();
  await open(page, { requestId });
  const field = page.locator('[data-arg="apiKey"]');
  assert.equal(await field.getAttribute('type'), 'password');
  await page.locator('[data-option="give"]').click();
  const missing = t('invalid.required', { field: 'apiKey' });
  await page.locator('[data-toast="warn"]', { hasText: missing }).waitFor();
  await field.fill(KEY);
  await picture(page, 'secret-field');
  await page.locator('[data-option="give"]').click();
  await page.locator('[data-outcome]').waitFor();
  const answered = await world.agent('GET', `/v1/interactions/${requestId}`);
  assert.deepEqual(answered.resolution.data, { apiKey: KEY, region: 'eu' });
  const kept = await page.evaluate(() => JSON.stringify({ ...localStorage, ...sessionStorage }));
  assert.ok(!kept.includes(KEY), 'the browser keeps no draft of it');
  await page.goto(`/q/${requestId}`);
  await page.locator('[data-outcome]').waitFor();
  assert.ok(!(await page.content()).includes(KEY));

  // Nor is it in an export, in the events, or in the log of the server.
  const headers = { authorization: 'Bearer token-of-lin-0123456789abcdef' };
  for (const format of ['jsonl', 'csv']) {
    const exported = await (await fetch(`${world.url}/v1/audit/export?format=${format}`, { headers })).text();
    assert.ok(exported.includes(requestId) && !exported.includes(KEY), format);
  }
  const stop = new AbortController();
  const events = await fetch(`${world.url}/v1/events`, {
    headers: { ...headers, 'last-event-id': '0' },
    signal: stop.signal,
  });
  let heard = '';
  for await (const bytes of events.body) {
    heard += Buffer.from(bytes).toString();
    if (heard.includes('event: processed')) break;
  }
  stop.abort();
  assert.ok(heard.includes('event: resolved') && !heard.includes(KEY));
  await world.stop();
  assert.ok(!world.log.includes(KEY));
});
