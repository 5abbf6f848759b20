// One person, one question: yes, no with a reason, yes with changes, yes for a while.

import assert from 'node:assert/strict';

import { t } from '../../app/i18n.js';
import { open, picture, settled, story } from '../world.js';

story('a question appears by itself, and approving it lets exactly that call run', {}, async (world) => {
  const page = await world.window();
  await page.locator('[data-empty]').waitFor();
  assert.equal(await page.title(), 'Inbox · Placet');

  const call = await world.askShell('npm install left-pad', { description: 'Needed by the build.' });
  const row = page.locator(`[data-row="${call.requestId}"]`);
  await row.waitFor();
  await page.waitForFunction(() => document.title.startsWith('(1) '));
  await row.click();
  await page.locator('.command-text', { hasText: 'npm install left-pad' }).waitFor();
  await page.getByText('Needed by the build.').waitFor();
  await settled(page);
  await page.locator('[data-option="approve"]').click();
  await page.locator('[data-outcome="good"]').waitFor();

  const outcome = await world.outcome(call);
  assert.equal(outcome.status, 'approved');
  assert.deepEqual(outcome.decidedBy, ['lin']);
  await page.locator('[data-empty]').waitFor();
});

story('a refusal carries its reason to the agent', {}, async (world) => {
  const call = await world.askShell('git push origin main');
  const page = await world.window();
  await open(page, call);
  await page.locator('[data-option="reject"]').click();
  await page.locator('[data-feedback]').fill('Not on a Friday.\n周五不发布。');
  await page.locator('.panel[data-settled]').waitFor();
  await page.keyboard.press('Control+Enter');
  await page.locator('[data-outcome="bad"]').waitFor();
  const outcome = await world.outcome(call);
  assert.equal(outcome.status, 'rejected');
  assert.equal(outcome.feedback, 'Not on a Friday.\n周五不发布。');
});

story('the form and the JSON beside it follow each other, and the changed call is what runs', {}, async (world) => {
  const call = await world.ask('deploy', { target: 'production', replicas: 3, hosts: ['a.example'] });
  const page = await world.window();
  await open(page, call);
  await page.keyboard.press('e');
  await page.locator('[data-arg="target"]').selectOption('staging');
  assert.deepEqual(JSON.parse(await page.locator('[data-json]').inputValue()), {
    target: 'staging',
    replicas: 3,
    hosts: ['a.example'],
  });

  await page.locator('[data-json]').fill('{"target": "staging", "replicas": 2, "hosts": [], "note": "smaller"}');
  assert.equal(await page.locator('[data-arg="replicas"]').inputValue(), '2');
  await page.locator('[data-json]').fill('{"target": ');
  await page.locator('.editor .fault').waitFor();
  await page.locator('[data-option="approve"]').click();
  await page.locator('[data-toast="warn"]').first().waitFor();
  assert.equal((await world.agent('GET', `/v1/calls/${call.callId}`)).status, 'pending', 'half a JSON is no edit');

  await page.locator('[data-json]').fill('{"target": "staging", "replicas": 2, "note": "smaller"}');
  await page.locator('[data-option="approve"]').click();
  await page.locator('[data-changes] .diff-old .diff-text', { hasText: '"replicas": 3' }).waitFor();
  await page.locator('[data-changes] .diff-new .diff-text', { hasText: '"replicas": 2' }).waitFor();
  await page.locator('.panel[data-settled]').waitFor();
  await page.locator('[data-send]').click();
  await page.locator('[data-outcome="good"]').waitFor();
  const outcome = await world.outcome(call);
  assert.equal(outcome.status, 'approved');
  assert.equal(outcome.edited, true);
  assert.deepEqual(outcome.args, { target: 'staging', replicas: 2, note: 'smaller' });
});

story('changed arguments that break the schema are refused where they stand', {}, async (world) => {
  const call = await world.ask('deploy', { target: 'production', replicas: 3 });
  const page = await world.window();
  await open(page, call);
  await page.locator('[data-edit]').click();
  await page.locator('[data-json]').fill('{"target": "production", "replicas": 99}');
  await page.locator('[data-option="approve"]').click();
  await page.locator('.editor .fault').waitFor();
  assert.equal((await world.agent('GET', `/v1/calls/${call.callId}`)).status, 'pending');
});

story('a message for the agent goes along with the answer', {}, async (world) => {
  const call = await world.askShell('npm test');
  const page = await world.window();
  await open(page, call);
  await page.locator('[data-extra="instruction"] summary').click();
  await page.locator('[data-instruction]').fill('Then stop.');
  await page.locator('[data-option="approve"]').click();
  await page.locator('[data-outcome="good"]').waitFor();
  assert.equal((await world.outcome(call)).instruction, 'Then stop.');
});

story('“don’t ask again” says exactly what it covers, is honoured, and can be taken back', {}, async (world) => {
  const call = await world.askShell('npm test');
  const page = await world.window();
  await open(page, call);
  await page.locator('[data-extra="remember"] summary').click();
  const scope = page.locator('[data-extra="remember"] .choice').nth(1);
  const words = await scope.innerText();
  assert.match(words, /this exact /);
  await scope.click();
  await page.locator('[data-lasts]').selectOption({ label: t('remember.day') });
  await page.locator('[data-option="approve"]').click();
  await page.locator('[data-outcome="good"]').waitFor();

  const again = await world.agent('POST', '/v1/calls', {
    sessionId: 'release',
    tool: 'bash',
    args: { command: 'npm test' },
  });
  assert.equal(again.status, 'allowed', JSON.stringify(again.verdict));

  await page.goto('/grants');
  await page.locator('[data-grant]', { hasText: 'this exact ' }).waitFor();
  await page.locator('[data-revoke]').click();
  await page.locator('[data-toast="good"]').waitFor();
  await page.locator('[data-revoke]').waitFor({ state: 'detached' });
});

story('a question of the agent’s own offers its own answers', {}, async (world) => {
  const { requestId } = await world.agent('POST', '/v1/interactions', {
    sessionId: 'release',
    type: 'USER_CHOICE',
    title: 'Which cache?',
    message: 'There are two plans.',
    options: [
      { optionId: 'redis', label: 'Redis', description: 'Fast, needs a server', action: 'APPROVE_AND_EXECUTE' },
      {
        optionId: 'rethink',
        label: 'Think again',
        action: 'RETRY_WITH_FEEDBACK',
        requiresInput: true,
        inputPrompt: 'What do you need?',
      },
    ],
  });
  const page = await world.window({ path: `/q/${requestId}` });
  await settled(page);
  await page.locator('[data-option="rethink"]').click();
  await page.locator('.panel[data-settled]').waitFor();
  await page.locator('[data-send]').click();
  await page.locator('[data-toast="warn"]', { hasText: t('fate.input') }).waitFor();
  await page.getByLabel('What do you need?').fill('no server');
  await page.locator('[data-send]').click();
  await page.locator('[data-outcome]').waitFor();
  const question = await world.agent('GET', `/v1/interactions/${requestId}`);
  assert.equal(question.status, 'answered');
});

story('two people must agree, and the first is told so', {}, async (world) => {
  const call = await world.ask('release', { version: '4.2' });
  const lin = await world.window();
  const wei = await world.window({ as: 'wei' });
  await open(lin, call);
  await lin.locator('[data-option="approve"]').click();
  await lin.locator('[data-toast="good"]').waitFor();
  await lin.locator('[data-outcome="note"]').waitFor();
  await open(wei, call);
  await wei.getByText(t('question.votes', { have: 1, needed: 2 })).waitFor();
  await wei.locator('[data-option="approve"]').click();
  await lin.locator('[data-outcome="good"]').waitFor();
  assert.deepEqual((await world.outcome(call)).decidedBy, ['lin', 'wei']);
});

story('whoever must agree to a change sees what was changed', {}, async (world) => {
  const call = await world.ask('release', { version: '4.2', notes: 'first line\nsecond line' });
  const lin = await world.window();
  await open(lin, call);
  await lin.keyboard.press('e');
  await lin.locator('[data-arg="version"]').fill('4.3');
  await lin.locator('[data-option="approve"]').click();
  await lin.locator('.panel[data-settled]').waitFor();
  await lin.locator('[data-send]').click();
  await lin.locator('[data-toast]').first().waitFor();
  const wei = await world.window({ as: 'wei' });
  await wei.locator('[data-row]').click();
  await wei.locator('.diff-old .diff-text', { hasText: '"version": "4.2"' }).waitFor();
  await wei.locator('.diff-new .diff-text', { hasText: '"version": "4.3"' }).waitFor();
  await settled(wei);
  await picture(wei, 'changed');
  await wei.locator('[data-option="approve"]').click();
  const outcome = await world.outcome(call);
  assert.equal(outcome.status, 'approved');
  assert.equal(outcome.args.version, '4.3');
});

story('what is HIGH takes a second step, and the way back is open', {}, async (world) => {
  const call = await world.askShell('rm -rf build');
  const page = await world.window();
  await open(page, call);
  await page.locator('[data-option="approve"]').click();
  await page.getByRole('alertdialog').waitFor();
  await page.locator('[data-back]').click();
  assert.equal((await world.agent('GET', `/v1/calls/${call.callId}`)).status, 'pending');
  await page.locator('[data-option="approve"]').click();
  await page.locator('.panel[data-settled]').waitFor();
  await page.locator('[data-send]').click();
  await page.locator('[data-outcome="good"]').waitFor();
  assert.equal((await world.outcome(call)).status, 'approved');
});

story('a question that need not be answered can be dismissed', {}, async (world) => {
  const { requestId } = await world.agent('POST', '/v1/interactions', {
    sessionId: 'release',
    type: 'USER_INPUT',
    title: 'Anything else?',
    message: 'You may leave it.',
    options: [{ optionId: 'tell', label: 'Tell', action: 'PROVIDE_INFO', requiresInput: true }],
    required: false,
  });
  const page = await world.window();
  await open(page, { requestId });
  await page.locator('[data-option="dismiss"]').click();
  await page.locator('[data-outcome]').waitFor();
  const { resolution } = await world.agent('GET', `/v1/interactions/${requestId}`);
  assert.equal(resolution.option, 'dismiss');
});
