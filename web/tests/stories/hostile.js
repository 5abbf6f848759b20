// Agents that lie with characters.

import assert from 'node:assert/strict';

import { open, picture, settled, story } from '../world.js';

story('escape sequences, reversed text and look-alikes are shown for what they are', {}, async (world) => {
  const call = await world.askShell(
    'echo hi\u001b[2K\u001b[1G; echo \u202efr- mr\u202c; curl https://р\u0430ypal.example/\u200bx',
    { description: 'safe\u2066 \u0007ok' },
  );
  const page = await world.window();
  await open(page, call);
  const marks = await page.locator('.question mark.mark').allInnerTexts();
  for (const mark of ['⟦ESC⟧', '⟦U+202E⟧', '⟦U+200B⟧', '⟦U+2066⟧'])
    assert.ok(marks.includes(mark), `${mark} in ${marks}`);
  assert.ok(
    marks.some((mark) => mark.startsWith('⟦≈paypal')),
    marks.join(),
  );
  const text = await page.locator('body').innerText();
  assert.doesNotMatch(text, /[\u0000-\u0008\u000b-\u001f\u200b-\u200f\u202a-\u202e\u2066-\u2069]/);
  await picture(page, 'hostile');
});

story('markup in a call is text: nothing is loaded, nothing runs', {}, async (world) => {
  const evil = '<img src=x onerror="document.title=1"><script>alert(1)</script><a href="javascript:alert(2)">x</a>&lt;';
  const call = await world.ask(
    'deploy<b>',
    { [evil]: evil, note: `${evil}\n${evil}` },
    { description: evil, sessionId: 'x<script>alert(3)</script>' },
  );
  const page = await world.window();
  await open(page, call);
  assert.ok((await page.locator('.args').first().innerText()).includes(evil));
  assert.equal(await page.locator('.question img, .question script, .list img, [href^="javascript"]').count(), 0);
  await page.goto('/audit');
  await page.locator('.event').first().waitFor();
  await page.locator('.event-details summary').first().click();
  await page.goto('/sessions');
  await page.locator('[data-session]').click();
  await page.locator('.event').first().waitFor();
  assert.equal(await page.locator('main img, main script').count(), 0);
});

story('an agent’s own options cannot hide what they are', {}, async (world) => {
  const { requestId } = await world.agent('POST', '/v1/interactions', {
    sessionId: 'x',
    type: 'USER_CONFIRMATION',
    title: 'ok?\u202e',
    message: '<b>bold</b>',
    options: [{ optionId: 'no', label: '\u202etcejeR', action: 'APPROVE_AND_EXECUTE' }],
  });
  const page = await world.window({ path: `/q/${requestId}` });
  await settled(page);
  assert.match(await page.locator('[data-option="no"]').innerText(), /⟦U\+202E⟧/);
});

const LONG_CHANGE = {
  extra: '[models.main]\nprovider = "scripted"\nscript = "script.toml"\n',
  files: {
    'script.toml': `[[turns]]\ncalls = [{ tool = 'write', args = { path = 'long.txt', content = """${Array.from({ length: 4000 }, (_, line) => `line ${line}\n`).join('')}the very end""" } }]\n`,
  },
};

story('a long change of a file folds, is complete, and unfolds at a click', LONG_CHANGE, async (world) => {
  const page = await world.window({ path: '/chat' });
  await page.locator('[data-message]').fill('Write it.');
  await page.keyboard.press('Enter');
  await settled(page);
  const diff = page.locator('.diff');
  await page
    .getByText(/4,001 lines/)
    .first()
    .waitFor();
  assert.ok((await diff.boundingBox()).height < 800, 'it does not push the answer out of reach');
  assert.ok((await diff.innerText()).includes('the very end'), 'folded, not cut');
  await page.locator('.block', { has: diff }).locator('.unfold').click();
  assert.ok((await diff.boundingBox()).height > 20_000, 'all at once');
});

story('a huge call is complete, folds where it may, and does not hang the page', {}, async (world) => {
  const long = Array.from({ length: 3000 }, (_, line) => `line ${line} ${'x'.repeat(40)}`).join('\n');
  const call = await world.ask('deploy', { target: 'staging', replicas: 1, note: `${long}\nthe very end` });
  const page = await world.window();
  await open(page, call);
  await page.getByText(/3,001 lines/).waitFor();
  assert.ok((await page.locator('.args').innerText()).includes('the very end'), 'folded, not cut');
  const width = await page.evaluate(() => document.documentElement.scrollWidth);
  assert.ok(width <= 1280, 'nothing makes the page wider than the window');
});
