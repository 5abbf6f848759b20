// Several questions: those of one turn, and finding one among many.

import assert from 'node:assert/strict';

import { t } from '../../app/i18n.js';
import { settled, story } from '../world.js';

story('the calls of one turn are decided together, each on its own', {}, async (world) => {
  const turn = { group: 'turn-1' };
  const [install, push, wipe] = [
    await world.askShell('npm install', turn),
    await world.askShell('git push origin main', turn),
    await world.askShell('rm -rf build', turn),
  ];
  const page = await world.window();
  await page.locator('[data-together="turn-1"]').click();
  for (const call of [install, push, wipe])
    await page.locator(`[data-item="${call.requestId}"] .command-text`).waitFor();
  await settled(page);

  await page.locator('[data-approve-all]').click();
  const wipeChoices = page.locator(`[data-item="${wipe.requestId}"] .segment`);
  assert.ok(await wipeChoices.nth(0).locator('input').isChecked(), 'what is HIGH is not approved along with the rest');
  await page.locator(`[data-item="${push.requestId}"] .segment`, { hasText: 'Reject' }).click();
  await wipeChoices.filter({ hasText: 'Approve' }).click();
  await page.locator('[data-answer] [data-send]').click();
  await page.locator('.panel[data-settled]').waitFor();
  await page.locator('[data-confirm]').click();
  await page.locator('[data-outcome="good"]').waitFor();

  assert.equal((await world.outcome(install)).status, 'approved');
  assert.equal((await world.outcome(push)).status, 'rejected');
  assert.equal((await world.outcome(wipe)).status, 'approved');
});

story(
  'alike requests of several turns and sessions are decided together, HIGH ones with a confirmation each',
  {},
  async (world) => {
    const [first, second, third] = [
      await world.askShell('npm install left-pad', { group: 'turn-1' }),
      await world.askShell('npm install right-pad', { group: 'turn-2' }),
      await world.askShell('npm install middle-pad', { sessionId: 'other' }),
    ];
    const other = await world.askShell('git push origin main');
    const page = await world.window();
    await page.locator('[data-alike-row]').click();
    const items = page.locator('[data-item]');
    await items.nth(2).waitFor();
    const shown = await items.evaluateAll((all) => all.map((item) => item.dataset.item));
    assert.deepEqual(shown.sort(), [first, second, third].map(({ requestId }) => requestId).sort());
    await settled(page);
    await page.locator('[data-approve-all]').click();
    await page.locator(`[data-item="${third.requestId}"] .segment`, { hasText: 'Reject' }).click();
    await page.locator('[data-answer] [data-send]').click();
    await page.locator('[data-outcome="good"]', { hasText: t('alike.done') }).waitFor();
    assert.deepEqual(
      await Promise.all([first, second, third].map(async (call) => (await world.outcome(call)).status)),
      ['approved', 'approved', 'rejected'],
    );
    assert.equal(
      (await world.agent('GET', `/v1/calls/${other.callId}`)).status,
      'pending',
      'another kind is left alone',
    );

    const risky = [
      await world.askShell('rm -rf build', { group: 'turn-3' }),
      await world.askShell('rm -rf dist', { group: 'turn-4' }),
    ];
    await page.goto(`/q/${risky[0].requestId}`);
    await page.locator('[data-alike]').click();
    await items.nth(1).waitFor();
    await settled(page);
    await page.locator('[data-approve-all]').click();
    for (const call of risky) {
      const choices = page.locator(`[data-item="${call.requestId}"] .segment`);
      assert.ok(await choices.nth(0).locator('input').isChecked(), 'what is HIGH is not approved along with the rest');
      await choices.filter({ hasText: 'Approve' }).click();
    }
    await page.locator('[data-answer] [data-send]').click();
    for (const call of risky) {
      await page.locator('.panel[data-settled]').waitFor();
      await page.locator(`[data-confirm="${call.requestId}"]`).click();
    }
    for (const call of risky) assert.equal((await world.outcome(call)).status, 'approved');
  },
);

story('the most urgent is first, and search and filter find the rest', {}, async (world) => {
  const slow = await world.ask('release', { version: '1' });
  const quick = await world.agent('POST', '/v1/interactions', {
    sessionId: 'other',
    type: 'USER_CONFIRMATION',
    title: 'Quick one',
    message: 'Go on?',
    timeoutSeconds: 120,
    options: [{ optionId: 'ok', label: 'Go on', action: 'APPROVE_AND_EXECUTE' }],
  });
  const wipe = await world.askShell('rm -rf /srv/data');
  const page = await world.window();
  await page.locator(`[data-row="${wipe.requestId}"]`).waitFor();
  const rows = () => page.locator('[data-row]').evaluateAll((links) => links.map((link) => link.dataset.row));
  assert.deepEqual(await rows(), [quick.requestId, slow.requestId, wipe.requestId]);

  await page.keyboard.press('/');
  await page.keyboard.type('srv');
  await page.locator(`[data-row="${slow.requestId}"]`).waitFor({ state: 'detached' });
  assert.deepEqual(await rows(), [wipe.requestId]);
  await page.getByLabel(t('inbox.search')).fill('');
  await page.getByLabel('Risk', { exact: true }).selectOption('HIGH');
  await page.locator(`[data-row="${quick.requestId}"]`).waitFor({ state: 'detached' });
  assert.deepEqual(await rows(), [wipe.requestId]);
});

story(
  'after a decision the next question comes up, and a hand still pressing does not decide it',
  {},
  async (world) => {
    const first = await world.askShell('npm install');
    const second = await world.askShell('npm run build');
    const page = await world.window({ path: `/q/${first.requestId}` });
    await settled(page);
    // Inside the page, so that no machine is too slow for the second press to be too soon.
    await page.evaluate(async (next) => {
      const press = () => {
        const option = document.querySelector('[data-option="approve"]');
        option.dispatchEvent(new PointerEvent('pointerdown', { bubbles: true }));
        option.click();
      };
      const shown = () =>
        document.querySelector(`[data-question="${next}"]`) && document.querySelector('[data-option]');
      press();
      while (!shown()) await new Promise(requestAnimationFrame);
      press();
    }, second.requestId);
    await page.locator('[data-toast="warn"]', { hasText: t('guard.soon') }).waitFor();
    assert.equal((await world.agent('GET', `/v1/calls/${second.callId}`)).status, 'pending');
  },
);
