// The page of a request: what would happen, to what and why, above the fold on every screen; edits before and after; what
// silence takes; what became of the call.

import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';

import { t } from '../../app/i18n.js';
import { open, picture, settled, story } from '../world.js';

const SCREENS = [
  ['phone', { width: 390, height: 844 }],
  ['wide', { width: 1280, height: 800 }],
];

/** Requests of many kinds: the tool, its arguments, and what must be read at once. */
const KINDS = [
  ['bash', { command: 'git push --force origin main' }, ['origin/main']],
  ['bash', { command: 'cd infra && terraform apply -auto-approve -var env=production' }, ['terraform']],
  ['data_modify', { sql: "DELETE FROM orders WHERE state = 'old'" }, ['orders']],
  ['write', { path: 'src/app.py', content: 'print(1)\n'.repeat(80) }, ['src/app.py']],
  [
    'send_email',
    { attachments: [], body: 'Dear all,\n\n'.repeat(40), subject: 'Prices', to: ['all-customers@example.com'] },
    ['all-customers@example.com'],
  ],
  [
    'roll_out',
    { canary: true, notes: 'x\n'.repeat(60), service: 'checkout', version: '2.14.0' },
    ['checkout', '2.14.0'],
  ],
  ['http_fetch', { url: 'https://api.example.com/v1/charge', method: 'POST' }, ['api.example.com']],
  ['bash', { command: `echo ${'很长的命令 '.repeat(60)} | tee log` }, ['echo']],
];

for (const [name, size] of SCREENS) {
  for (const locale of ['en-GB', 'zh-CN']) {
    story(`gist, target and reason are above the fold: ${name}, ${locale}`, {}, async (world) => {
      const calls = [];
      for (const [tool, args] of KINDS) calls.push(await world.ask(tool, args, { risk: 'MEDIUM' }));
      const page = await world.window({ ...size, locale, colorScheme: locale === 'zh-CN' ? 'dark' : 'light' });
      for (const [at, call] of calls.entries()) {
        await open(page, call);
        await picture(page, `request-${name}-${locale}-${at}`);
        const seen = await page.evaluate(() => {
          const box = (selector) => {
            const { top, bottom, left, right } = document.querySelector(selector).getBoundingClientRect();
            return { top, bottom, left, right };
          };
          return {
            heading: box('.question-heading'),
            text: document.querySelector('.question-heading').innerText.replaceAll('`', ''),
            why: box('.why-asked'),
            answer: box('[data-answer]'),
            meta: box('.question-meta'),
            wide: document.documentElement.scrollWidth,
            risks: [...document.querySelectorAll('.question .badge')].map((badge) => badge.innerText),
          };
        });
        for (const word of KINDS[at][2]) assert.ok(seen.text.includes(word), `${word} in “${seen.text}”`);
        assert.ok(seen.heading.top >= seen.meta.bottom - 1, `${seen.text}: the heading is under the risk and the time`);
        assert.ok(
          seen.why.top >= seen.heading.bottom && seen.why.bottom > seen.why.top,
          `${seen.text}: why comes next`,
        );
        assert.ok(seen.why.bottom <= seen.answer.top, `${seen.text}: the reason is above the fold`);
        assert.ok(seen.answer.bottom <= size.height + 1, `${seen.text}: the answer is on the screen`);
        assert.ok(seen.wide <= size.width, `${seen.text}: nothing is wider than the screen`);
      }
    });
  }
}

const SCALE = {
  extra:
    '[tools.scale]\ncategory = "network"\nrisk = "HIGH"\nschema = { type = "object", required = ["service"], additionalProperties = false, properties = { service = { type = "string" }, replicas = { type = "integer", minimum = 1, maximum = 50 }, zone = { enum = ["a", "b"] } } }\n',
};

story('every invalid field is named at once, before the HIGH confirmation', SCALE, async (world) => {
  const call = await world.ask('scale', { service: 'checkout', replicas: 3, zone: 'a' });
  const page = await world.window();
  await open(page, call);
  await page.locator('[data-edit]').click();
  await page.locator('[data-json]').fill('{"replicas": 99, "zone": "c", "speed": 1}');
  await page.locator('[data-option="approve"]').click();
  const fault = page.locator('.editor .fault');
  await fault.waitFor();
  const words = await fault.innerText();
  for (const [rule, values] of [
    ['required', { field: 'service' }],
    ['max', { field: 'replicas', limit: 50 }],
    ['choice', { field: 'zone', limit: 'a, b' }],
    ['unknown', { field: 'speed' }],
  ])
    assert.ok(words.includes(t(`invalid.${rule}`, values)), `${rule} in ${words}`);
  assert.equal(await page.getByRole('alertdialog').count(), 0, 'nothing is confirmed that cannot be sent');

  await page.locator('[data-json]').fill('{"service": "checkout", "replicas": 9, "zone": "a"}');
  await page.locator('[data-option="approve"]').click();
  await page.getByRole('alertdialog').waitFor();
  await page.locator('[data-changes] .diff-new .diff-text', { hasText: '"replicas": 9' }).waitFor();
  await picture(page, 'confirm-changes');
  await page.locator('.panel[data-settled]').waitFor();
  await page.locator('[data-send]').click();
  await page.locator('[data-outcome="good"]', { hasText: 'with changes' }).waitFor();
  // From then on: the closed page has both.
  await page.goto(`/q/${call.requestId}`);
  await page.locator('.question .diff-old .diff-text', { hasText: '"replicas": 3' }).waitFor();
  await page.locator('.question .diff-new .diff-text', { hasText: '"replicas": 9' }).waitFor();
});

story('the closed page follows the call: running, finished, its output', {}, async (world) => {
  const call = await world.askShell('npm run build');
  const page = await world.window({ as: 'wei' });
  await open(page, call);
  await page.locator('[data-option="approve"]').click();
  await world.outcome(call);
  await page.goto(`/q/${call.requestId}`);
  await page.locator('[data-ran="waiting"]').waitFor();
  await world.agent('POST', `/v1/calls/${call.callId}/claim`);
  await page.locator('[data-ran="running"]').waitFor();
  await world.agent('POST', `/v1/calls/${call.callId}/result`, { ok: true, output: 'built in 3 s\n'.repeat(50) });
  await page.locator('[data-ran="finished"] .code', { hasText: 'built in 3 s' }).waitFor();
  await picture(page, 'ran');
  const { height } = await page.locator('[data-outcome="good"]').boundingBox();
  assert.ok(height <= 400, `the outcome leaves room for the request: ${height}`);

  const fails = await world.askShell('npm test');
  await open(page, fails);
  await page.locator('[data-option="approve"]').click();
  await world.outcome(fails);
  await world.agent('POST', `/v1/calls/${fails.callId}/claim`);
  await world.agent('POST', `/v1/calls/${fails.callId}/result`, { ok: false, output: '2 tests failed' });
  await page.goto(`/q/${fails.requestId}`);
  await page.locator('[data-ran="failed"] .code', { hasText: '2 tests failed' }).waitFor();
});

story('what silence takes is said while it is open, and what it took once it is closed', {}, async (world) => {
  const asked = (more) =>
    world.agent('POST', '/v1/interactions', {
      sessionId: 'release',
      type: 'USER_CONFIRMATION',
      title: 'Release it?',
      message: 'All tests passed.',
      options: [
        { optionId: 'go', label: 'Release it', action: 'APPROVE_AND_EXECUTE', isDefault: true },
        { optionId: 'wait', label: 'Wait', action: 'SKIP' },
      ],
      ...more,
    });
  const first = await asked({ timeoutSeconds: 600 });
  const page = await world.window({ path: `/q/${first.requestId}` });
  await page.locator('[data-silence="go"]', { hasText: 'Release it' }).waitFor();
  assert.equal(await page.locator('.question-meta .badge').count(), 0, 'no risk where none is stated');
  const brief = await asked({ timeoutSeconds: 1, title: 'Release that?' });
  await page.goto(`/q/${brief.requestId}`);
  await page.locator('[data-outcome="warn"]', { hasText: /Default taken: Release it/ }).waitFor();

  const call = await world.askShell('npm run build');
  await open(page, call);
  await page.locator('[data-silence]', { hasText: 'Reject' }).waitFor();
});

story('history: one line each, searched and filtered by the server', {}, async (world) => {
  const page = await world.window();
  const build = await world.askShell('npm run build');
  await open(page, build);
  await page.locator('[data-option="approve"]').click();
  await world.outcome(build);
  const deploy = await world.ask('deploy', { target: 'production', replicas: 3 });
  await open(page, deploy);
  await page.locator('[data-edit]').click();
  await page.locator('[data-arg="replicas"]').fill('5');
  await page.locator('[data-option="approve"]').click();
  await page.locator('.panel[data-settled]').waitFor();
  await page.locator('[data-send]').click();
  await world.outcome(deploy);
  const wei = await world.window({ as: 'wei' });
  const push = await world.askShell('git push origin main');
  await open(wei, push);
  await wei.locator('[data-option="skip"]').click();
  await world.outcome(push);

  await page.goto('/history');
  const lines = page.locator('[data-settled-question]');
  await lines.nth(2).waitFor();
  await picture(page, 'history');
  const line = (call) => page.locator(`[data-settled-question="${call.requestId}"]`);
  const words = await line(deploy).innerText();
  for (const part of ['deploy', 'Approved', 'lin', t('history.edited')])
    assert.ok(words.includes(part), `${part}: ${words}`);
  assert.match(words, /\d\d:\d\d (UTC|GMT)/);
  const { height } = await line(deploy).boundingBox();
  assert.ok(height <= 48, `one line is ${height} high`);

  const only = async (call) => {
    await page.waitForFunction(() => document.querySelectorAll('[data-settled-question]').length === 1);
    await line(call).waitFor();
  };
  await page.getByLabel(t('history.search')).fill('push');
  await only(push);
  await page.getByLabel(t('history.search')).fill('');
  await lines.nth(2).waitFor();
  for (const [field, value, call] of [
    ['person', 'wei', push],
    ['tool', 'deploy', deploy],
  ]) {
    await page.getByLabel(t(`history.${field}`), { exact: true }).fill(value);
    await only(call);
    await page.getByLabel(t(`history.${field}`), { exact: true }).fill('');
    await lines.nth(2).waitFor();
  }
  await page.getByLabel(t('history.state')).selectOption('skipped');
  await only(push);
  const [download] = await Promise.all([page.waitForEvent('download'), page.locator('[data-export="csv"]').click()]);
  const saved = readFileSync(await download.path(), 'utf8')
    .trim()
    .split('\r\n');
  assert.equal(saved.length, 2, 'the file has the rows of the filter, and a head');
  assert.ok(saved[1].includes(push.requestId) && saved[1].includes('"skipped"'), saved[1]);
  await page.getByLabel(t('history.state')).selectOption('');
  await lines.nth(2).waitFor();
  await page.locator('[data-edited-only]').check();
  await only(deploy);
  await page.locator('[data-edited-only]').uncheck();
  await page.getByLabel(t('audit.to'), { exact: true }).fill('2020-01-01');
  await page.getByText(t('history.empty')).waitFor();
  await page.setViewportSize({ width: 390, height: 844 });
  await page.getByLabel(t('audit.to'), { exact: true }).fill('');
  await lines.nth(2).waitFor();
  assert.ok((await page.evaluate(() => document.documentElement.scrollWidth)) <= 390);
  await picture(page, 'history-phone');
});

story('the page can be installed: a manifest with icons of the right sizes', {}, async (world) => {
  const page = await world.window();
  const manifest = await page.evaluate(async () => {
    const link = document.querySelector('link[rel="manifest"]');
    const response = await fetch(link.href);
    return { type: response.headers.get('content-type'), body: await response.json() };
  });
  assert.match(manifest.type, /manifest\+json/);
  assert.equal(manifest.body.display, 'standalone');
  for (const { src, sizes } of manifest.body.icons) {
    const size = await page.evaluate(
      (src) =>
        new Promise((done, fail) => {
          const image = new Image();
          image.onload = () => done([image.naturalWidth, image.naturalHeight]);
          image.onerror = () => fail(new Error(src));
          image.src = src;
        }),
      src,
    );
    if (sizes !== 'any') assert.equal(size.join('x'), sizes, src);
  }
  const client = await page.context().newCDPSession(page);
  const { errors } = await client.send('Page.getAppManifest');
  assert.deepEqual(errors, []);
  const { installabilityErrors } = await client.send('Page.getInstallabilityErrors');
  const ours = installabilityErrors.filter(({ errorId }) => errorId !== 'in-incognito');
  assert.deepEqual(ours, []);
});
