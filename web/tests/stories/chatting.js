// The chat page: what is to be decided is always in sight, chats are listed, and a typed "yes" answers what was asked.

import assert from 'node:assert/strict';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

import { t } from '../../app/i18n.js';
import { picture, settled, story } from '../world.js';

const LINES = Array.from({ length: 60 }, (_, n) => `line ${n + 1}`).join('\\n');

/** A model that speaks at length and then writes a long file. */
const LONG = {
  extra: '[models.main]\nprovider = "scripted"\nscript = "script.toml"\n',
  files: {
    'script.toml': `
[[turns]]
text = "${'I looked at everything first. '.repeat(60)}"
calls = [{ tool = 'write', args = { path = 'note.txt', content = "${LINES}" } }]
[[turns]]
text = 'It is written.'
`,
  },
};

/** A model that asks before two shell lines, the second of them HIGH. */
const TWICE = {
  extra: '[models.main]\nprovider = "scripted"\nscript = "script.toml"\n',
  files: {
    'script.toml': `
[[turns]]
text = 'First.'
calls = [{ tool = 'write', args = { path = 'one.txt', content = 'one' } }]
[[turns]]
text = 'Then.'
calls = [{ tool = 'bash', args = { command = 'rm -rf build' } }]
[[turns]]
text = 'All done.'
`,
  },
};

async function say(page, message) {
  await page.locator('[data-message]').fill(message);
  await page.keyboard.press('Enter');
}

async function box(page, selector) {
  const found = await page.locator(selector).first().boundingBox();
  assert.ok(found, `${selector} is not on the page`);
  return found;
}

for (const [name, how] of [
  ['on a desktop', { width: 1280, height: 860 }],
  ['on a phone', { width: 390, height: 844, hasTouch: true, isMobile: true }],
]) {
  story(`the buttons of a request stand above the message box and the header stays: ${name}`, LONG, async (world) => {
    const page = await world.window({ path: '/chat', ...how });
    await say(page, 'Write it down, please.');
    await settled(page);
    await picture(page, `chat-dock-${how.width}`);
    const check = async (when) => {
      const composer = await box(page, '.composer');
      const head = await box(page, '.chat-head');
      const top = await box(page, 'header.top');
      assert.ok(top.y >= 0 && head.y >= top.y + top.height - 1, `${when}: the header is in sight`);
      assert.ok(composer.y + composer.height <= how.height, `${when}: the message box is in sight`);
      for (const button of await page.locator('[data-dock] [data-option], [data-dock] [data-edit]').all()) {
        const { x, y, width, height } = await button.boundingBox();
        assert.ok(y >= head.y + head.height, `${when}: below the header`);
        assert.ok(y + height <= composer.y, `${when}: a button ends at ${y + height}, the box begins at ${composer.y}`);
        assert.ok(x >= 0 && x + width <= how.width, `${when}: nothing is cut off`);
      }
      const log = await box(page, '.chat-log');
      assert.ok(log.height >= 48, `${when}: ${log.height}px of the conversation are left`);
      const scrolled = await page.evaluate(() => [
        document.scrollingElement.scrollTop,
        document.getElementById('main').scrollTop,
      ]);
      assert.deepEqual(scrolled, [0, 0], `${when}: only the log scrolls`);
    };
    await check('asked');
    await page.locator('.chat-log').evaluate((log) => (log.scrollTop = 0));
    await check('scrolled to the beginning');
    await page.locator('.chat-log').evaluate((log) => (log.scrollTop = log.scrollHeight));
    await check('scrolled to the end');
    await page.locator('[data-dock] [data-extra="remember"] summary').click();
    await page.locator('[data-dock] [data-extra="instruction"] summary').click();
    await check('with everything opened');
    await page.locator('[data-option="approve"]').click();
    await page.locator('.bubble-agent', { hasText: 'It is written.' }).waitFor();
    assert.ok(!(await page.locator('[data-dock]').isVisible()), 'the dock is gone with the request');
    await page.locator('.chat-log [data-outcome="good"]').waitFor();
  });
}

story('a typed yes answers what was asked in that chat, from any tab', TWICE, async (world) => {
  const first = await world.window({ path: '/chat' });
  await say(first, 'Do it.');
  await settled(first);
  // The same person, another tab, without a name in the address.
  const second = await first.context().newPage();
  await second.goto('/chat');
  await settled(second);
  await second.locator('[data-message]').fill('not yet');
  await second.reload();
  await settled(second);
  assert.equal(await second.locator('[data-message]').inputValue(), 'not yet', 'a draft survives a reload');
  await say(second, 'yes');
  await first.locator('[data-question]').nth(1).waitFor();
  assert.equal(readFileSync(join(world.folder, 'one.txt'), 'utf8'), 'one');
  assert.equal(await second.locator('[data-message]').inputValue(), '');
  assert.equal(await first.locator('.bubble-me').count(), 1, 'a reply is not a message');

  // HIGH takes its second step, typed or not. The buttons of the first request are still on the page, closed.
  const next = await first.locator('[data-question]').nth(1).getAttribute('data-question');
  await first.locator(`[data-dock] [data-answer="${next}"][data-settled]`).waitFor();
  await say(first, 'yes');
  await first.getByRole('alertdialog').waitFor();
  assert.ok(!(await first.getByText('All done.').isVisible()));
  await first.locator('.panel[data-settled]').waitFor();
  await first.locator('[data-send]').click();
  await first.locator('.bubble-agent', { hasText: 'All done.' }).waitFor();
});

story('a typed no carries its reason, and chats are listed by what they began with', LONG, async (world) => {
  const page = await world.window({ path: '/chat' });
  await say(page, 'Write it down, please.');
  await settled(page);
  await say(page, 'no: not today');
  await page.locator('.chat-log [data-outcome="bad"]', { hasText: 'not today' }).waitFor();
  assert.ok(!existsSync(join(world.folder, 'note.txt')));
  await page.locator('.chats .button', { hasText: t('chat.new') }).click();
  await page.locator('.chat-hello').waitFor();
  await say(page, 'Another one.');
  await settled(page);
  await page.locator('[data-chat]', { hasText: 'Another one.' }).waitFor();
  assert.equal(await page.locator('[data-chat]').count(), 2);
  await page.locator('[data-chat]', { hasText: 'Write it down' }).click();
  await page.locator('.bubble-me', { hasText: 'Write it down' }).waitFor();
  await page.locator('[data-chat][aria-current]', { hasText: 'Write it down' }).waitFor();
});
