// The other pages: sessions, audit, policy, chat.

import assert from 'node:assert/strict';

import { t } from '../../app/i18n.js';
import { open, story } from '../world.js';

story('a session’s timeline grows while one looks', {}, async (world) => {
  const call = await world.askShell('npm run build');
  const page = await world.window({ path: '/sessions' });
  await page.locator('[data-session="release"]').click();
  await page.locator('[data-event="asked"]').waitFor();
  const before = await page.locator('.event').count();

  const other = await world.window({ as: 'wei' });
  await open(other, call);
  await other.locator('[data-option="approve"]').click();
  await page.locator('[data-event="resolved"]').waitFor();
  assert.ok((await page.locator('.event').count()) > before);
  const ids = await page.locator('.event-text').allInnerTexts();
  assert.equal(new Set(ids).size, ids.length, 'no row is shown twice');
});

story('what is decided can be looked up, with who chose what', {}, async (world) => {
  const call = await world.askShell('npm run build');
  const page = await world.window();
  await open(page, call);
  await page.locator('[data-option="reject"]').click();
  await page.locator('[data-feedback]').fill('later');
  await page.locator('.panel[data-settled]').waitFor();
  await page.locator('[data-send]').click();
  await page.locator('[data-outcome="bad"]').waitFor();
  await page.goto('/history');
  await page.locator('[data-settled-question]', { hasText: 'Rejected · lin' }).click();
  await page.locator('[data-outcome="bad"]', { hasText: 'later' }).waitFor();
  await page.locator('.question .blocks', { hasText: 'npm run build' }).first().waitFor();
});

story('where there is no agent to talk to, the chat says so and gives the message back', {}, async (world) => {
  const page = await world.window({ path: '/chat' });
  await page.locator('[data-message]').fill('Hello?');
  await page.keyboard.press('Enter');
  await page.getByText(t('chat.none')).waitFor();
  assert.equal(await page.locator('[data-message]').inputValue(), 'Hello?');
});

story('ending a session takes two steps', {}, async (world) => {
  const call = await world.askShell('npm run build');
  const page = await world.window({ path: '/sessions/release' });
  await page.getByRole('button', { name: t('session.end') }).click();
  // What happens meanwhile does not take the first step back.
  await world.askShell('npm audit');
  await page.locator('[data-event="asked"]').nth(1).waitFor();
  await page.getByRole('button', { name: t('session.endSure') }).click();
  await page.locator('[data-event="sessionEnded"]').waitFor();
  assert.equal((await world.outcome(call)).status, 'cancelled');
});

story('the audit is searched, filtered, verified and taken away', {}, async (world) => {
  await world.askShell('npm run build', { sessionId: 'one' });
  await world.askShell('npm audit', { sessionId: 'two' });
  const page = await world.window({ path: '/audit' });
  await page.locator('[data-event="asked"]').first().waitFor();
  await page.getByLabel(t('audit.type'), { exact: true }).selectOption('asked');
  await page.locator('[data-event="callReceived"]').first().waitFor({ state: 'detached' });
  assert.equal(await page.locator('.event').count(), 2);
  await page.getByLabel(t('audit.session'), { exact: true }).fill('two');
  await page.waitForFunction(() => document.querySelectorAll('.event').length === 1);

  await page.locator('[data-verify]').click();
  await page.getByText(t('audit.sound')).waitFor();
  const [download] = await Promise.all([page.waitForEvent('download'), page.getByText('Export CSV').click()]);
  assert.match(download.suggestedFilename(), /\.csv$/);
});

story('the playground explains a verdict and stores nothing', {}, async (world) => {
  const page = await world.window({ path: '/policy' });
  await page.locator('[data-rule="deployments need both"]').waitFor();
  await page.getByRole('button', { name: t('policy.check') }).click();
  await page.locator('[data-decision="ask"]').waitFor();
  await page.locator('.step-decided', { hasText: 'High risk' }).waitFor();
  await page.locator('.command', { hasText: 'rm -rf build' }).waitFor();
  await page.getByLabel(t('policy.args')).fill('{"command": ');
  await page.getByRole('button', { name: t('policy.check') }).click();
  await page.getByText(t('edit.notJson', { why: '' }).trim()).waitFor();
  await page.getByRole('button', { name: 'README.md' }).click();
  await page.locator('[data-decision="allow"]').waitFor();
  await page.goto('/');
  await page.locator('[data-empty]').waitFor();
});

story('an approver who is no administrator sees no audit and no policy', {}, async (world) => {
  const page = await world.window({ as: 'wei' });
  await page.locator('[data-nav="inbox"]').waitFor();
  assert.equal(await page.locator('[data-nav="audit"], [data-nav="policy"]').count(), 0);
  await page.goto('/audit');
  await page.locator('main [role="alert"]').first().waitFor();
});

story('an address that leads nowhere says so', {}, async (world) => {
  const page = await world.window();
  await page.evaluate(() => history.pushState(null, '', '/nowhere') ?? dispatchEvent(new PopStateEvent('popstate')));
  await page.getByText(t('notFound.title')).waitFor();
});

story('tools that run without asking in a session are added on its page', {}, async (world) => {
  const call = await world.askShell('npm run build');
  const page = await world.window({ path: '/sessions/release' });
  await page.getByLabel(t('session.allowTool')).fill('bash');
  await page.getByRole('button', { name: t('session.allow'), exact: true }).click();
  await page.locator('[data-toast="good"]', { hasText: t('session.toolAllowed', { tool: 'bash' }) }).waitFor();
  await page.locator('.session-tools', { hasText: t('session.approvalTools', { tools: ['bash'] }) }).waitFor();
  await page.locator('[data-event="toolAllowed"]').waitFor();
  const { status } = await world.agent('GET', `/v1/calls/${call.callId}`);
  assert.equal(status, 'pending', 'what was asked before stays a question');
  const next = await world.agent('POST', '/v1/calls', {
    sessionId: 'release',
    tool: 'bash',
    args: { command: 'npm run test' },
  });
  assert.equal(next.status, 'allowed');
  const other = await world.window({ as: 'wei', path: '/sessions/release' });
  await other.locator('[data-event="toolAllowed"]').waitFor();
  assert.equal(await other.getByLabel(t('session.allowTool')).count(), 0, 'only an administrator adds tools');
});
