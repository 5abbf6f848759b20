// Without a mouse: every part of the work can be reached and done with the keyboard alone.

import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';

import { t } from '../../app/i18n.js';
import { open, settled, story } from '../world.js';

/** More stops than any page has. */
const STOPS_MAX = 120;

/** Presses Tab until an element that matches has the focus. */
async function tabTo(page, selector) {
  const there = () => page.evaluate((wanted) => Boolean(document.activeElement?.closest(wanted)), selector);
  for (let stops = 0; stops < STOPS_MAX; stops += 1) {
    if (await there()) return;
    await page.keyboard.press('Tab');
  }
  assert.fail(`Tab does not reach ${selector}`);
}

async function press(page, selector, key = 'Enter') {
  await tabTo(page, selector);
  await page.keyboard.press(key);
}

story('keyboard only: arguments are edited and approved', {}, async (world) => {
  const call = await world.ask('deploy', { target: 'production', replicas: 3 });
  const page = await world.window();
  await page.locator('[data-row]').waitFor();
  await page.keyboard.press('j');
  await settled(page);
  await page.keyboard.press('e');
  await tabTo(page, '[data-arg="replicas"]');
  await page.keyboard.press('ControlOrMeta+a');
  await page.keyboard.type('5');
  await press(page, '[data-option="approve"]');
  await page.locator('.panel[data-settled]').waitFor();
  await press(page, '[data-send]');
  assert.equal((await world.outcome(call)).status, 'approved');
  const { resolution } = await page.evaluate(
    (id) => import('/app/api.js').then(({ api }) => api.question(id)),
    call.requestId,
  );
  assert.equal(resolution.edited, true);
});

story('keyboard only: several requests are decided together', {}, async (world) => {
  const calls = [
    await world.askShell('npm install', { group: 'turn-1' }),
    await world.askShell('npm run build', { group: 'turn-1' }),
  ];
  const page = await world.window();
  await page.locator('[data-row]').first().waitFor();
  await press(page, '[data-together="turn-1"]');
  await settled(page);
  await press(page, '[data-approve-all]');
  await page.locator('[data-item] input:checked').nth(1).waitFor();
  await press(page, '[data-answer] [data-send]');
  for (const call of calls) assert.equal((await world.outcome(call)).status, 'approved');
});

story('keyboard only: a standing approval is given, and a comment is written', {}, async (world) => {
  const call = await world.askShell('npm test');
  const page = await world.window();
  await open(page, call);
  await press(page, '[data-comments] summary');
  await tabTo(page, '[data-comment]');
  await page.keyboard.type('Is this the release branch?');
  await page.keyboard.press('Control+Enter');
  await page.locator('.comment', { hasText: 'Is this the release branch?' }).waitFor();
  await press(page, '[data-extra="remember"] summary');
  await tabTo(page, '[data-extra="remember"] input[type="radio"]');
  await page.keyboard.press('ArrowDown');
  await page.locator('[data-extra="remember"][data-chosen]').waitFor();
  await settled(page);
  await press(page, '[data-option="approve"]');
  assert.equal((await world.outcome(call)).status, 'approved');
  await page.goto('/grants');
  await page.locator('[data-grant]').waitFor();

  // Another approver reads the comment on the closed page, where it came by itself.
  const wei = await world.window({ as: 'wei', path: `/q/${call.requestId}` });
  await wei.locator('.comment', { hasText: 'Is this the release branch?' }).waitFor();
  await wei.locator('[data-comment]').fill('Yes, <b>it</b> is.');
  await page.goto(`/q/${call.requestId}`);
  await page.locator('.comment').first().waitFor();
  await wei.locator('[data-comments] button').click();
  await page.locator('.comment', { hasText: 'Yes, <b>it</b> is.' }).waitFor();
  const seen = await world.agent('GET', `/v1/interactions/${call.requestId}`);
  assert.equal(seen.comments, undefined, 'the agent sees no comment');
});

story('keyboard only: history is searched and a request is opened', {}, async (world) => {
  const page = await world.window();
  for (const command of ['npm test', 'git push origin main']) {
    const call = await world.askShell(command);
    await open(page, call);
    await page.keyboard.press('a');
    await world.outcome(call);
  }
  await page.goto('/history');
  await page.locator('[data-settled-question]').nth(1).waitFor();
  await tabTo(page, 'input[type="search"]');
  await page.keyboard.type('push');
  await page.waitForFunction(() => document.querySelectorAll('[data-settled-question]').length === 1);
  await press(page, '[data-settled-question]');
  await page.locator('[data-outcome="good"]').waitFor();
  assert.match(await page.locator('.question-heading').innerText(), /Push to `origin\/main`/);
});

const SCRIPT = `
[[turns]]
text = 'I write it down.'
calls = [{ tool = 'write', args = { path = 'note.txt', content = 'agreed' } }]
[[turns]]
text = 'It is written.'
`;

story(
  'keyboard only: a chat, from the first message to the answer',
  {
    extra: '[models.main]\nprovider = "scripted"\nscript = "script.toml"\n',
    files: { 'script.toml': SCRIPT },
  },
  async (world) => {
    const page = await world.window({ path: '/chat' });
    await tabTo(page, '[data-message]');
    await page.keyboard.type('Write it down, please.');
    await page.keyboard.press('Enter');
    await page.locator('.chat-state', { hasText: t('chat.waiting') }).waitFor();
    await settled(page);
    await tabTo(page, '[data-message]');
    await page.keyboard.type('yes');
    await page.keyboard.press('Enter');
    await page.locator('.bubble-agent', { hasText: 'It is written.' }).waitFor();
    assert.equal(readFileSync(join(world.folder, 'note.txt'), 'utf8'), 'agreed');
  },
);
