// The sample agent: a newcomer sees a request without an agent of their own.

import assert from 'node:assert/strict';

import { sentencesOf } from '../catalogue.js';
import { accessible, picture, settled, story } from '../world.js';

const SAID = sentencesOf('en');

story('an empty inbox sends a sample request, and approving it executes nothing', {}, async (world) => {
  const page = await world.window();
  await accessible(page, 'the empty inbox');
  await page.locator('[data-sample]').click();
  await page.getByText(SAID['sample.note']).waitFor();
  await settled(page);
  await picture(page, 'sample');
  const asked = new URL(page.url()).pathname;
  await page.locator('[data-option="approve"]').click();
  await page.locator('[data-outcome="good"]').waitFor();
  await page.goto(asked);
  await page.locator('[data-ran="finished"]', { hasText: SAID['sample.result'] }).waitFor();
  await picture(page, 'sample-done');
});

story('a sample that is pending is shown again instead of a second one', {}, async (world) => {
  const [page, other] = [await world.window(), await world.window()];
  await page.locator('[data-sample]').waitFor();
  await other.locator('[data-sample]').waitFor();
  await Promise.all([page.locator('[data-sample]').click(), other.locator('[data-sample]').click()]);
  await Promise.all([settled(page), settled(other)]);
  assert.equal(new URL(page.url()).pathname, new URL(other.url()).pathname);
  await page.locator('.nav-badge', { hasText: '1' }).waitFor();
});
