// Insights: what was asked and decided, drawn and in numbers.

import assert from 'node:assert/strict';

import { accessible, open, picture, story } from '../world.js';
import { t } from '../../app/i18n.js';

story('insights: charts with their tables, on a desktop and on a phone', {}, async (world) => {
  const page = await world.window();
  for (const [command, option] of [
    ['npm run build', 'approve'],
    ['npm test', 'approve'],
    ['git push origin main', 'skip'],
  ]) {
    const call = await world.askShell(command);
    await open(page, call);
    await page.locator(`[data-option="${option}"]`).click();
    await world.outcome(call);
  }
  await page.goto('/history');
  await page.getByRole('link', { name: t('insights.title') }).click();
  const number = (name) => page.locator(`[data-number="${name}"] dd`);
  await number('requests').waitFor();
  assert.equal(await number('requests').innerText(), '3');
  assert.match(await number('decided').innerText(), /^3 100%$/);
  const figure = (name) => page.locator(`[data-figure="${t(`insights.${name}`)}"]`);
  // Today is the last column: approved below, skipped on it.
  const bars = figure('perDay').locator('rect');
  assert.deepEqual(await bars.evaluateAll((all) => all.map((bar) => bar.getAttribute('class'))), [
    'series-approved',
    'series-rejected',
  ]);
  await figure('perDay').locator('summary').click();
  assert.match(await figure('perDay').locator('tbody tr').innerText(), /2\s+1$/);
  assert.match(await figure('tools').locator('tbody tr').innerText(), /^bash\s+3\s+2\s+0\s+0\s+0/);
  assert.match(await figure('people').locator('tbody tr').innerText(), /^lin\s+3/);
  await accessible(page, 'insights');
  await picture(page, 'insights');
  await page.setViewportSize({ width: 390, height: 844 });
  assert.ok((await page.evaluate(() => document.documentElement.scrollWidth)) <= 390);
  await picture(page, 'insights-phone');
  // A name leads to its requests.
  await figure('tools').getByRole('link', { name: 'bash' }).click();
  await page.locator('[data-settled-question]').nth(2).waitFor();
  assert.equal(await page.getByLabel(t('history.tool'), { exact: true }).inputValue(), 'bash');

  const wei = await world.window({ as: 'wei', path: '/history' });
  await wei.locator('[data-settled-question]').first().waitFor();
  assert.equal(await wei.getByRole('link', { name: t('insights.title') }).count(), 0, 'an approver has none');
});
