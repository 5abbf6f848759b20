// Working through the inbox: the next request comes up, a decision can be undone, nothing jumps, nothing typed is lost.

import assert from 'node:assert/strict';

import { t } from '../../app/i18n.js';
import { open, picture, settled, story } from '../world.js';

const statusOf = async (world, call) => (await world.agent('GET', `/v1/calls/${call.callId}`)).status;

story('a decision can be undone while it is not sent, and the next request is there meanwhile', {}, async (world) => {
  const first = await world.askShell('npm install');
  const second = await world.askShell('npm run build');
  const page = await world.window({ path: `/q/${first.requestId}`, undo: true });
  await settled(page);
  await page.locator('[data-option="approve"]').click();
  await page.locator(`[data-question="${second.requestId}"]`).waitFor();
  await page.locator(`.held-bar [data-held="${first.requestId}"]`).waitFor();
  await picture(page, 'held');
  assert.equal(await page.locator('[data-nav="inbox"] .nav-badge').innerText(), '1\n1 pending');
  await page.locator(`[data-undo="${first.requestId}"]`).click();
  await page.locator(`[data-question="${first.requestId}"]`).waitFor();
  assert.equal(await page.locator('.held-bar').isVisible(), false);
  assert.equal(await statusOf(world, first), 'pending', 'nothing was sent');

  await settled(page);
  await page.locator('[data-option="approve"]').click();
  await page.locator(`[data-send-now="${first.requestId}"]`).click();
  assert.equal((await world.outcome(first)).status, 'approved');

  // Without a hand on it, it is sent when its time is over.
  await settled(page);
  await page.locator('[data-option="skip"]').click();
  await page.locator(`[data-held="${second.requestId}"]`).first().waitFor();
  assert.equal((await world.outcome(second)).status, 'skipped');
});

story('on a phone the undo bar has a place of its own, and u undoes without a pointer', {}, async (world) => {
  const [first, second] = [await world.askShell('npm install'), await world.askShell('npm run build')];
  const page = await world.window({ width: 390, height: 844, undo: true });
  const apart = async (...selectors) => {
    const boxes = [];
    for (const selector of selectors) boxes.push(await page.locator(selector).boundingBox());
    for (const [at, one] of boxes.entries())
      for (const other of boxes.slice(at + 1))
        assert.ok(
          one.y + one.height <= other.y + 1 || other.y + other.height <= one.y + 1,
          `${selectors.join(' and ')} overlap: ${JSON.stringify(boxes)}`,
        );
    assert.ok(boxes.every(({ y, height }) => y >= 0 && y + height <= 845));
  };
  await open(page, first);
  await page.locator('[data-option="approve"]').click();
  await page.locator(`[data-question="${second.requestId}"]`).waitFor();
  await apart('.held-bar', '[data-answer]', 'header.top');
  await picture(page, 'held-phone');
  await page.keyboard.press('u');
  await page.locator(`[data-question="${first.requestId}"]`).waitFor();
  await page.goto('/');
  await open(page, second);
  await page.locator('[data-option="skip"]').click();
  await page.locator(`[data-question="${first.requestId}"]`).waitFor();
  await page.locator('.back-link').click();
  await page.locator('.nav').waitFor();
  await apart('.held-bar', '.nav', 'header.top');
  await page.locator(`[data-send-now="${second.requestId}"]`).click();
  assert.equal((await world.outcome(second)).status, 'skipped');
  assert.equal(await statusOf(world, first), 'pending');
});

story('leaving the page drops a decision that is not sent, after asking', {}, async (world) => {
  const call = await world.askShell('npm install');
  const signedIn = await world.window({ undo: true, path: null });
  // A page of its own: this one may ask before it is left.
  const page = await signedIn.context().newPage();
  const dialogs = [];
  page.on('dialog', (dialog) => (dialogs.push(dialog.type()), dialog.accept()));
  await open(page, call);
  await page.locator('[data-option="approve"]').click();
  await page.locator('[data-held]').first().waitFor();
  await page.reload();
  assert.deepEqual(dialogs, ['beforeunload']);
  await page.locator(`[data-row="${call.requestId}"]`).waitFor();
  assert.equal(await page.locator('[data-held]').count(), 0);
  assert.equal(await statusOf(world, call), 'pending');
});

story('j and k go to the neighbour, also when the chosen request has left the list', {}, async (world) => {
  const calls = [];
  for (const name of ['one', 'two', 'three', 'four']) calls.push(await world.askShell(`npm run ${name}`));
  const page = await world.window();
  await page.locator('[data-row]').nth(3).waitFor();
  const order = await page.locator('[data-row]').evaluateAll((rows) => rows.map((row) => row.dataset.row));
  const at = () => page.evaluate(() => decodeURIComponent(location.pathname.slice('/q/'.length)));
  await page.keyboard.press('j');
  await page.keyboard.press('j');
  await page.locator(`[data-question="${order[1]}"]`).waitFor();

  const wei = await world.window({ as: 'wei', path: `/q/${order[1]}` });
  await settled(wei);
  await wei.locator('[data-option="skip"]').click();
  await page.locator(`[data-row="${order[1]}"]`).waitFor({ state: 'detached' });
  assert.equal(await at(), order[1], 'what is read stays');
  await page.keyboard.press('a');
  await page.keyboard.press('j');
  assert.equal(await at(), order[2]);
  await page.keyboard.press('k');
  assert.equal(await at(), order[0]);
  await page.keyboard.press('k');
  assert.equal(await at(), order[0], 'the first is the first');
  for (const call of calls.filter(({ requestId }) => requestId !== order[1]))
    assert.equal(await statusOf(world, call), 'pending');
});

story('the counts agree everywhere, and a filter that hides rows says so', {}, async (world) => {
  await world.askShell('npm run one');
  await world.askShell('npm run two');
  const wipe = await world.askShell('rm -rf build');
  const page = await world.window();
  await page.locator('[data-row]').nth(2).waitFor();
  const counts = async () => [
    await page.locator('.nav-badge [aria-hidden]').innerText(),
    (await page.title()).match(/^\((\d+)\)/)?.[1],
    (await page.locator('.list-count').innerText()).match(/\d+/)?.[0],
  ];
  assert.deepEqual(await counts(), ['3', '3', '3']);
  assert.equal(await page.locator('[data-hidden]').isVisible(), false);
  await page.getByLabel(t('inbox.search')).fill('build');
  await page.locator('[data-hidden]', { hasText: t('inbox.hidden', { n: 2 }) }).waitFor();
  assert.deepEqual(await counts(), ['3', '3', '3']);
  await page.locator('[data-clear]').click();
  assert.equal(await page.locator('[data-row]').count(), 3);
  await open(page, wipe);
  await page.locator('[data-option="skip"]').click();
  await page.locator('[data-row]').nth(2).waitFor({ state: 'detached' });
  assert.deepEqual(await counts(), ['2', '2', '2']);
});

story('what is typed survives a reload', {}, async (world) => {
  const call = await world.ask('deploy', { target: 'production', replicas: 3 });
  const page = await world.window();
  await open(page, call);
  await page.locator('[data-extra="instruction"] summary').click();
  await page.locator('[data-instruction]').fill('Then stop.');
  await page.locator('[data-edit]').click();
  await page.locator('[data-arg="replicas"]').fill('5');
  await page.locator('[data-option="reject"]').click();
  await page.locator('[data-feedback]').fill('Not on a Friday.');
  await page.reload();
  await settled(page);
  assert.equal(await page.locator('[data-instruction]').inputValue(), 'Then stop.');
  assert.equal(await page.locator('[data-arg="replicas"]').inputValue(), '5');
  await page.locator('[data-option="reject"]').click();
  assert.equal(await page.locator('[data-feedback]').inputValue(), 'Not on a Friday.');
  await page.locator('.panel[data-settled]').waitFor();
  await page.locator('[data-send]').click();
  await page.locator('[data-outcome="bad"]').waitFor();
  const outcome = await world.outcome(call);
  assert.deepEqual([outcome.feedback, outcome.instruction], ['Not on a Friday.', 'Then stop.']);
  const kept = await page.evaluate(() => Object.keys(sessionStorage).filter((key) => key.startsWith('placet.draft')));
  assert.deepEqual(kept, [], 'what was sent is no draft');
});

story('a quorum names who is still missing, in the list and on the page', {}, async (world) => {
  const call = await world.ask('release', { version: '4.2' });
  const lin = await world.window();
  await open(lin, call);
  await lin.locator('[data-option="approve"]').click();
  await lin.locator('[data-toast="good"]', { hasText: 'wei' }).waitFor();
  await lin.locator('[data-outcome="note"]', { hasText: 'wei' }).waitFor();
  const wei = await world.window({ as: 'wei', width: 390, height: 844 });
  await wei.locator('[data-row] .votes', { hasText: 'wei' }).waitFor();
  await open(wei, call);
  await wei.locator('.question-meta .votes', { hasText: 'wei' }).waitFor();
  await picture(wei, 'quorum-phone');
  // The line of the quorum, the head and the answer bar each have their own place.
  const boxes = await wei.evaluate(() =>
    ['.question-meta .votes', '.question-meta .badge', '.question-heading', '[data-answer]'].map((selector) => {
      const { top, bottom, left, right } = document.querySelector(selector).getBoundingClientRect();
      return { selector, top, bottom, left, right };
    }),
  );
  for (const [at, one] of boxes.entries())
    for (const other of boxes.slice(at + 1)) {
      const apart =
        one.bottom <= other.top + 1 ||
        other.bottom <= one.top + 1 ||
        one.right <= other.left ||
        other.right <= one.left;
      assert.ok(apart, `${one.selector} and ${other.selector} overlap: ${JSON.stringify([one, other])}`);
    }
});
