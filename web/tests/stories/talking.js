// Talking to the built-in agent, with a scripted model: on our own page, and on the page the project started from.

import assert from 'node:assert/strict';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

import { t } from '../../app/i18n.js';
import { picture, settled, story } from '../world.js';

const SCRIPT = `
[[turns]]
on = 'rejected_by_person'
text = 'Then I leave it.'
[[turns]]
text = 'I write it down.'
calls = [{ tool = 'write', args = { path = 'note.txt', content = 'agreed' } }]
[[turns]]
text = 'It is written.'
`;

const AGENT = {
  extra: '[models.main]\nprovider = "scripted"\nscript = "script.toml"\n',
  files: { 'script.toml': SCRIPT },
};

async function say(page, message) {
  await page.locator('[data-message]').fill(message);
  await page.keyboard.press('Enter');
}

story('the agent asks in the conversation, and goes on with what it is told there', AGENT, async (world) => {
  const page = await world.window({ path: '/chat' });
  await say(page, 'Write it down, please.');
  await page.locator('.bubble-me', { hasText: 'Write it down' }).waitFor();
  await page.locator('[data-step="action"]', { hasText: 'note.txt' }).waitFor();
  await settled(page);
  await picture(page, 'chat-question');
  assert.ok(!existsSync(join(world.folder, 'note.txt')));
  await page.locator('[data-option="approve"]').click();
  await page.locator('.bubble-agent', { hasText: 'It is written.' }).waitFor();
  assert.equal(readFileSync(join(world.folder, 'note.txt'), 'utf8'), 'agreed');
  await picture(page, 'chat-done');
});

story('a conversation left in the middle is taken up where it was', AGENT, async (world) => {
  const page = await world.window({ path: '/chat' });
  await say(page, 'Write it down, please.');
  await settled(page);
  await world.stop('SIGKILL');
  await world.start();
  await page.reload();
  await settled(page);
  await page.locator('[data-option="reject"]').click();
  await page.locator('[data-feedback]').fill('Not today.');
  await page.locator('.panel[data-settled]').waitFor();
  await page.locator('[data-send]').click();
  await page.locator('.bubble-agent', { hasText: 'Then I leave it.' }).waitFor();
  assert.ok(!existsSync(join(world.folder, 'note.txt')));
});

story('a restart of the server interrupts a conversation and does not end it', AGENT, async (world) => {
  const page = await world.window({ path: '/chat' });
  await say(page, 'Write it down, please.');
  await settled(page);
  await world.stop('SIGTERM');
  await page.locator('.chat-state .fault').waitFor();
  await world.start();
  await page.locator('.chat-state', { hasText: t('chat.waiting') }).waitFor();
  await page.locator('[data-option="approve"]').click();
  await page.locator('.bubble-agent', { hasText: 'It is written.' }).waitFor();
  assert.equal(await page.locator('.bubble-me').count(), 1, 'nothing is shown twice');
  assert.equal(readFileSync(join(world.folder, 'note.txt'), 'utf8'), 'agreed');
});

story('the page printed in the interaction document works as it is, after one import', AGENT, async (world) => {
  const printed = readFileSync(new URL('../printed-page.html', import.meta.url), 'utf8');
  const page = await world.window({ path: null });
  await page.route('**/printed', (route) => route.fulfill({ contentType: 'text/html', body: printed }));
  await page.goto('/printed');
  await page.evaluate(() =>
    fetch('/api/agent/chat/react/stream', {
      method: 'POST',
      headers: { 'Content-Type': 'application/json' },
      body: JSON.stringify({ message: 'Write it down.', userId: 'user-456' }),
    }).then(() => {}),
  );
  const container = page.locator('#interaction-container');
  await container.locator('p', { hasText: 'note.txt' }).first().waitFor();
  await container.locator('button').first().click();
  await page.locator('#last', { hasText: 'COMPLETED' }).waitFor();
  assert.equal(readFileSync(join(world.folder, 'note.txt'), 'utf8'), 'agreed');
});
