// Hands that were already moving, and people without a mouse.

import assert from 'node:assert/strict';

import { t } from '../../app/i18n.js';
import { open, picture, settled, story } from '../world.js';

const status = async (world, call) => (await world.agent('GET', `/v1/calls/${call.callId}`)).status;

story('a click within half a second of the question appearing decides nothing', {}, async (world) => {
  const call = await world.askShell('npm run build');
  const page = await world.window();
  const row = page.locator(`[data-row="${call.requestId}"]`);
  await row.waitFor();
  // Both clicks in one go inside the page: no machine is too slow for it to be too soon.
  await page.evaluate(async (selector) => {
    document.querySelector(selector).click();
    const option = () => document.querySelector('[data-option="approve"]');
    while (!option()) await new Promise(requestAnimationFrame);
    option().dispatchEvent(new PointerEvent('pointerdown', { bubbles: true }));
    option().click();
  }, `[data-row="${call.requestId}"]`);
  await page.locator('[data-toast="warn"]', { hasText: t('guard.soon') }).waitFor();
  assert.equal(await status(world, call), 'pending');
  await settled(page);
  await page.locator('[data-option="approve"]').click();
  await page.locator('[data-outcome="good"]').waitFor();
});

story('the click that brings the window forward decides nothing', {}, async (world) => {
  const call = await world.askShell('npm run build');
  const page = await world.window();
  await open(page, call);
  await page.evaluate(() => {
    window.dispatchEvent(new Event('focus'));
    const option = document.querySelector('[data-option="approve"]');
    option.dispatchEvent(new PointerEvent('pointerdown', { bubbles: true }));
    option.click();
  });
  await page.locator('[data-toast="warn"]', { hasText: t('guard.focus') }).waitFor();
  assert.equal(await status(world, call), 'pending');
});

story('a double click on a refusal does not send it, and one on HIGH does not run it', {}, async (world) => {
  const call = await world.askShell('rm -rf build');
  const page = await world.window();
  await open(page, call);
  await page.locator('[data-option="approve"]').dblclick();
  await page.getByRole('alertdialog').waitFor();
  await page.evaluate(() => document.querySelector('[data-back]').click());
  await page.evaluate(() => {
    document.querySelector('[data-option="approve"]').dispatchEvent(new PointerEvent('pointerdown', { bubbles: true }));
    document.querySelector('[data-option="approve"]').click();
    document.querySelector('[data-send]').dispatchEvent(new PointerEvent('pointerdown', { bubbles: true }));
    document.querySelector('[data-send]').click();
  });
  await page.locator('[data-toast="warn"]').first().waitFor();
  assert.equal(await status(world, call), 'pending');
});

story('with the keyboard alone one finds, reads, confirms and refuses', {}, async (world) => {
  const first = await world.askShell('rm -rf build');
  const second = await world.askShell('npm run build');
  const page = await world.window();
  await page.locator(`[data-row="${second.requestId}"]`).waitFor();
  await page.keyboard.press('?');
  await page.getByRole('dialog', { name: t('keys.title') }).waitFor();
  await picture(page, 'keys');
  await page.keyboard.press('Escape');

  await page.keyboard.press('j');
  await settled(page);
  assert.equal(await page.evaluate(() => document.activeElement.tagName), 'H1', 'the focus is on what appeared');
  await page.keyboard.press('a');
  await page.locator('.panel[data-settled]').waitFor();
  await page.keyboard.press('Enter');
  await page.locator('[data-outcome="good"]').waitFor();
  assert.equal((await world.outcome(first)).status, 'approved');

  await page.locator(`[data-question="${second.requestId}"]`).waitFor();
  await settled(page);
  await page.keyboard.press('r');
  await page.keyboard.type('no, r and a are only letters here');
  await page.locator('.panel[data-settled]').waitFor();
  await page.keyboard.press('Control+Enter');
  await page.locator('[data-outcome="bad"]').waitFor();
  assert.equal((await world.outcome(second)).feedback, 'no, r and a are only letters here');
});

story('a key held down decides nothing', {}, async (world) => {
  const call = await world.askShell('npm run build');
  const page = await world.window();
  await page.locator(`[data-row="${call.requestId}"]`).waitFor();
  await page.keyboard.down('a');
  await page.evaluate((path) => document.querySelector(`[href="${path}"]`).click(), `/q/${call.requestId}`);
  await settled(page);
  await page.keyboard.down('a');
  await page.keyboard.down('a');
  await page.keyboard.up('a');
  assert.equal(await status(world, call), 'pending');
});

story('whoever looks elsewhere is told that something waits, but not what', {}, async (world) => {
  const page = await world.window({ path: null });
  await page.addInitScript(() => {
    globalThis.told = [];
    globalThis.Notification = class {
      static permission = 'granted';
      constructor(title, { body, tag }) {
        globalThis.told.push({ title, body, tag });
      }
    };
    localStorage.setItem('placet.notify', 'on');
    Object.defineProperty(document, 'visibilityState', { get: () => 'hidden' });
  });
  await page.goto('/');
  await page.locator('[data-empty]').waitFor();
  const call = await world.askShell('rm -rf secret-project');
  await page.waitForFunction(() => globalThis.told.length > 0);
  const [{ title, body, tag }] = await page.evaluate(() => globalThis.told);
  assert.equal(tag, call.requestId);
  assert.match(title, /High risk/);
  assert.doesNotMatch(title + body, /secret-project/);
});

story('a key cannot mean one of several', {}, async (world) => {
  const option = (optionId) => ({ optionId, label: optionId, action: 'APPROVE_AND_EXECUTE' });
  const { requestId } = await world.agent('POST', '/v1/interactions', {
    sessionId: 's',
    type: 'USER_CHOICE',
    title: 'Which?',
    message: 'Choose.',
    options: [option('one'), option('two')],
  });
  const page = await world.window({ path: `/q/${requestId}` });
  await settled(page);
  await page.keyboard.press('a');
  await page.keyboard.press('?');
  await page.getByRole('dialog', { name: t('keys.title') }).waitFor();
  assert.equal((await world.agent('GET', `/v1/interactions/${requestId}`)).status, 'pending');
});

story('notifications are asked for only by a click', {}, async (world) => {
  const page = await world.window({ path: null });
  await page.addInitScript(() => {
    globalThis.asked = 0;
    Notification.requestPermission = async () => ((globalThis.asked += 1), 'denied');
    Object.defineProperty(Notification, 'permission', { get: () => 'default' });
  });
  await page.goto('/');
  await page.locator('[data-empty]').waitFor();
  assert.equal(await page.evaluate(() => globalThis.asked), 0);
  await page.locator('[data-menu]').click();
  await page.locator('[data-notify]').click();
  assert.equal(await page.evaluate(() => globalThis.asked), 1);
});
