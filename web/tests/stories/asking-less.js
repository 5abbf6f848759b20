// Asking less: the four reaches of "don't ask again", suggestions, and a replay of the past under another file.

import assert from 'node:assert/strict';

import { t } from '../../app/i18n.js';
import { accessible, open, picture, story } from '../world.js';

const fetchUrl = (world, path, session) =>
  world.ask('fetch', { url: `https://example.com/${path}` }, { sessionId: session });

/** Answers with a person's token, as a program would. */
async function say(world, call, option, as = 'lin') {
  const response = await fetch(`${world.url}/v1/interactions/${call.requestId}/answer`, {
    method: 'POST',
    headers: { authorization: `Bearer token-of-${as}-0123456789abcdef`, 'content-type': 'application/json' },
    body: JSON.stringify({ selectedOptionId: option }),
  });
  assert.equal(response.status, 200, await response.text());
}

story('a rule is proposed with what it would have covered, counts everywhere, and is exported', {}, async (world) => {
  await say(world, await fetchUrl(world, 'a', 'one'), 'approve');
  const call = await fetchUrl(world, 'b', 'two');
  const page = await world.window();
  await open(page, call);
  await page.locator('[data-extra="remember"] summary').click();
  for (const reach of ['call', 'session', 'project', 'rule'])
    await page.locator(`[data-reach="${reach}"]`).first().waitFor();
  await page.locator('[data-reach="rule"] .choice').first().click();
  await page.locator('[data-preview] .toml', { hasText: 'host = ["example.com"]' }).waitFor();
  await page.locator('[data-preview] [data-covered="2"]').waitFor();
  assert.equal(await page.locator('[data-lasts]').inputValue(), String(365 * 24 * 3_600_000));
  await picture(page, 'rule');
  await accessible(page, 'the proposed rule');
  await page.locator('[data-option="approve"]').click();
  await page.locator('[data-outcome="good"]').waitFor();

  const again = await world.agent('POST', '/v1/calls', {
    sessionId: 'three',
    tool: 'fetch',
    args: { url: 'https://example.com/c' },
  });
  assert.equal(again.status, 'allowed', JSON.stringify(again.verdict));
  await page.goto('/grants');
  await page.locator('[data-grant] .toml', { hasText: 'effect = "allow"' }).waitFor();
  await picture(page, 'grants-rule');
  await page.locator('[data-revoke]').click();
  await page.locator('[data-toast="good"]').waitFor();
});

story('an approver who is no administrator is offered nothing beyond the conversation', {}, async (world) => {
  const call = await fetchUrl(world, 'a', 'one');
  const page = await world.window({ as: 'wei' });
  await open(page, call);
  await page.locator('[data-extra="remember"] summary').click();
  await page.locator('[data-reach="session"]').waitFor();
  assert.equal(await page.locator('[data-reach="project"], [data-reach="rule"]').count(), 0);
});

story('a rule that covers a refused call says so and is not stored', {}, async (world) => {
  await say(world, await fetchUrl(world, 'a', 'one'), 'reject');
  const call = await fetchUrl(world, 'b', 'two');
  const page = await world.window();
  await open(page, call);
  await page.locator('[data-extra="remember"] summary').click();
  await page.locator('[data-reach="project"] .choice').first().click();
  await page.getByText(t('remember.refusedBefore')).waitFor();
  await page.locator('[data-option="approve"]').click();
  await page.locator('[data-toast="bad"], [role="alert"]', { hasText: 'choose a narrower scope' }).first().waitFor();
  assert.equal((await world.agent('GET', `/v1/calls/${call.callId}`)).status, 'pending');
});

for (const [name, how] of [
  ['wide', {}],
  ['phone', { width: 390, height: 844, locale: 'zh-CN' }],
]) {
  story(`suggestions and a replay: ${name}`, {}, async (world) => {
    for (const path of ['a', 'b', 'c']) await say(world, await fetchUrl(world, path, `session-${path}`), 'approve');
    await say(world, await world.ask('fetch', { url: 'https://example.org/d' }, { sessionId: 'four' }), 'reject');
    const page = await world.window({ ...how, path: '/policy' });
    await page.locator('[data-tab="suggestions"]').click();
    await page.locator('[data-suggestion] .toml', { hasText: 'host = ["example.com"]' }).waitFor();
    await page.locator('[data-covered="3"]').waitFor();
    await picture(page, `suggestions-${name}`);
    await accessible(page, `suggestions, ${name}`);

    await page.locator('[data-tab="replay"]').click();
    await page.locator('[data-config]').fill('[[rules]]\nname = "open"\neffect = "allow"\nhost = "example.*"\n');
    await page.locator('main button[type="submit"]').click();
    await page.locator('[data-changed="4"]').waitFor();
    const first = page.locator('.change').first();
    assert.ok(await first.evaluate((element) => element.classList.contains('is-alarming')), 'the refused one is first');
    assert.match(await first.innerText(), /example\.org/);
    await picture(page, `replay-${name}`);
    await accessible(page, `replay, ${name}`);
    assert.ok((await page.evaluate(() => document.documentElement.scrollWidth)) <= (how.width ?? 1280));
    await page.locator('[data-config]').fill('[[rules]]\nnam = "open"\n');
    await page.locator('main button[type="submit"]').click();
    await page.locator('[data-replay] [role="alert"]', { hasText: 'nam' }).waitFor();
  });
}
