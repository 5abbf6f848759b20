// What happens when another approver is faster, time runs out, the page is loaded again, or the server goes away.

import assert from 'node:assert/strict';

import { t } from '../../app/i18n.js';
import { open, settled, story } from '../world.js';

story('whoever looks on sees at once that somebody else decided', {}, async (world) => {
  const call = await world.askShell('npm run build');
  const lin = await world.window();
  const wei = await world.window({ as: 'wei' });
  await open(lin, call);
  await open(wei, call);
  await wei.locator('[data-option="approve"]').click();
  await lin.locator('[data-outcome="good"]', { hasText: 'Approved by wei' }).waitFor();
  assert.equal(await lin.locator('[data-option]').count(), 0, 'nothing is left to press');
  await lin.locator('.command-text', { hasText: 'npm run build' }).waitFor();
});

story('the loser of a race is told who decided, what and when', {}, async (world) => {
  const call = await world.askShell('npm run build');
  const lin = await world.window({ path: null });
  // Lin's page does not learn of it in time: the live line is held back.
  await lin.route('**/v1/events**', (route) => route.abort());
  await open(lin, call);
  const wei = await world.window({ as: 'wei' });
  await open(wei, call);
  await wei.locator('[data-option="reject"]').click();
  await wei.locator('.panel[data-settled]').waitFor();
  await wei.locator('[data-send]').click();
  await wei.locator('[data-outcome="bad"]').waitFor();

  await lin.locator('[data-option="approve"]').click();
  await lin.locator('[data-toast="warn"]', { hasText: /Reject by wei, today \d\d:\d\d/ }).waitFor();
  await lin.locator('[data-outcome="bad"]', { hasText: 'wei' }).waitFor();
  assert.equal((await world.outcome(call)).status, 'rejected');
});

story(
  'time that runs out while one looks closes the question, and says that nothing ran',
  { timeout: '3s' },
  async (world) => {
    // Signed in first: the time runs from the question on.
    const page = await world.window();
    const call = await world.askShell('npm run build');
    await page.goto(`/q/${call.requestId}`);
    await page.locator('.countdown').first().waitFor();
    await page.locator('[data-outcome="warn"]', { hasText: /Expired.*Not run/ }).waitFor();
    assert.equal(await page.locator('[data-option]').count(), 0);
    assert.equal((await world.outcome(call)).status, 'expired');
  },
);

story(
  'a page that is loaded again shows what still waits, with the time that is left',
  { timeout: '5m' },
  async (world) => {
    const call = await world.askShell('npm run build');
    const page = await world.window();
    await open(page, call);
    await page.reload();
    await settled(page);
    const left = await page.locator('.question .countdown-figure').innerText();
    assert.match(left, /^[45]:\d\d$/);
    await page.locator('[data-option="approve"]').click();
    assert.equal((await world.outcome(call)).status, 'approved');
  },
);

story('a lost connection is said, and when the server is back nothing is missing', {}, async (world) => {
  const call = await world.askShell('npm run build');
  const page = await world.window();
  await open(page, call);
  await world.stop('SIGKILL');
  await page.locator('.line-banner:not([hidden])').waitFor();
  await page.locator('[data-option="approve"]').click();
  await page.locator('[data-toast="warn"]', { hasText: t('fate.unreachable') }).waitFor();

  await world.start();
  await page.locator('.line-banner').waitFor({ state: 'hidden' });
  const later = await world.askShell('npm audit fix');
  await page.locator(`[data-row="${later.requestId}"]`).waitFor();
  await page.locator(`[data-question="${call.requestId}"][data-status="pending"]`).waitFor();
  await page.locator('[data-option="approve"]').click();
  await page.locator('[data-outcome="good"]').waitFor();
  assert.equal((await world.outcome(call)).status, 'approved');
});

story('a question that nobody may see any more says so', {}, async (world) => {
  const page = await world.window({ path: '/q/int_none' });
  await page.getByText(t('fate.gone')).waitFor();
});

story('many tabs are live at once, and stay so when the one that keeps the line is closed', {}, async (world) => {
  const first = await world.window();
  const tabs = [first];
  // More than the six connections a browser opens to one server.
  while (tabs.length < 9) {
    const tab = await first.context().newPage();
    await tab.goto('/');
    await tab.locator('[data-nav="inbox"]').first().waitFor();
    tabs.push(tab);
  }
  const hears = (tab, call) => tab.locator(`[data-row="${call.requestId}"]`).first().waitFor({ state: 'attached' });
  const one = await world.askShell('npm run one');
  await Promise.all(tabs.map((tab) => hears(tab, one)));
  await first.close();
  const two = await world.askShell('npm run two');
  await Promise.all(tabs.slice(1).map((tab) => hears(tab, two)));
});
