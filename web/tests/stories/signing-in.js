// Coming in and going out.

import assert from 'node:assert/strict';

import { t } from '../../app/i18n.js';
import { story } from '../world.js';

story('the printed link signs one browser in once, and its code does not stay in the address', {}, async (world) => {
  const page = await world.window({ as: null, path: null });
  await page.goto(world.link);
  await page.locator('[data-empty]').waitFor();
  assert.equal(new URL(page.url()).pathname, '/');
  assert.equal(new URL(page.url()).hash, '');

  const other = await world.window({ as: null, path: null });
  await other.goto(world.link);
  await other.getByText(t('signIn.used')).waitFor();
  assert.equal(new URL(other.url()).hash, '', 'a code that failed leaves the address, too');
  await other.goBack().catch(() => {});
  assert.ok(!other.url().includes('#'));
});

story('a token signs in, and leads to the question that was wanted', {}, async (world) => {
  const call = await world.askShell('npm install');
  const page = await world.window({ as: null, path: `/q/${call.requestId}` });
  await page.getByLabel(t('signIn.token')).fill('not a token');
  await page.keyboard.press('Enter');
  await page.getByText(t('signIn.wrong')).waitFor();
  await page.getByLabel(t('signIn.token')).fill('token-of-lin-0123456789abcdef');
  await page.keyboard.press('Enter');
  await page.locator(`[data-question="${call.requestId}"]`).waitFor();
});

story('an agent’s token signs nobody in', {}, async (world) => {
  const page = await world.window({ as: null, path: '/sign-in' });
  await page.getByLabel(t('signIn.token')).fill(world.agentToken);
  await page.keyboard.press('Enter');
  await page.locator('.sign-in-state.is-fault').waitFor();
});

story('signing out ends it, in every tab', {}, async (world) => {
  const page = await world.window();
  const tab = await page.context().newPage();
  await tab.goto('/');
  await tab.locator('[data-nav="inbox"]').first().waitFor();
  await page.locator('[data-menu]').click();
  await page.locator('[data-sign-out]').click();
  await page.waitForURL('**/sign-in**');
  await tab.waitForURL('**/sign-in**');
  await page.goto('/audit');
  await page.waitForURL('**/sign-in?next=%2Faudit');
});

story('where a browser keeps no keys, the sign-in page says where to go and the link stays good', {}, async (world) => {
  const { port } = new URL(world.url);
  await world.stop();
  world.configure({ extra: `hosts = ["http://placet.test:${port}"]` });
  await world.start();
  const page = await world.window({ as: null, path: null });
  await page.goto(world.link);
  assert.equal(await page.evaluate(() => isSecureContext), false);
  await page.getByText(t('signIn.insecure')).waitFor();
  assert.equal(await page.locator('form').count(), 0);
  const local = await page.context().newPage();
  const link = new URL(world.link);
  link.hostname = '127.0.0.1';
  await local.goto(link.href);
  await local.locator('[data-empty]').waitFor();
});
