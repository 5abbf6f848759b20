// The modules that need no browser: the guard, the words, the stream, the form's reading of a schema, the order of the list.

import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';

import { needsConfirming, needsText, takesText } from '../app/answering.js';
import { query } from '../app/api.js';
import { faultsOf } from '../app/args-check.js';
import { hunksOf } from '../app/args-diff.js';
import { Guard, SETTLE_MS } from '../app/guard.js';
import { alikeIn, alikeOf } from '../app/alike.js';
import { fieldsOf, parseArgs, same, withField } from '../app/json-schema.js';
import { backoff } from '../app/live.js';
import { diffSize, difference, rowsOf } from '../app/parts/diff.js';
import { gist } from '../app/parts/document.js';
import { matches } from '../app/parts/inbox-list.js';
import { escapeHidden, pieces } from '../app/parts/text.js';
import { startOfDay } from '../app/pages/history.js';
import { everyDay } from '../app/pages/insights.js';
import { ceiling } from '../app/parts/chart.js';
import { nextIndex } from '../app/pages/inbox.js';
import { safeNext } from '../app/pages/sign-in.js';
import { match } from '../app/router.js';
import { EventParser } from '../app/sse.js';
import { byTurn, byUrgency, withDeadline } from '../app/store.js';
import { clock } from '../app/time.js';
import { sources, speak } from './catalogue.js';

speak('en');

/** A guard on a clock the test moves. */
function guardAt() {
  let now = 0;
  const guard = new Guard(() => now);
  return { guard, at: (ms) => (now = ms) };
}

test('a press within half a second of a question appearing decides nothing', () => {
  const { guard, at } = guardAt();
  at(1000);
  guard.appeared('q');
  at(1000 + SETTLE_MS - 1);
  guard.pressed();
  assert.equal(guard.judge('q'), 'too-soon');
  at(1000 + SETTLE_MS);
  guard.pressed();
  assert.equal(guard.judge('q'), 'ok');
});

test('a press that began before the question appeared decides nothing however late it ends', () => {
  const { guard, at } = guardAt();
  at(1000);
  guard.pressed();
  guard.appeared('q');
  at(9000);
  guard.released();
  assert.equal(guard.judge('q'), 'too-soon');
});

test('the click that brings the window forward decides nothing', () => {
  const { guard, at } = guardAt();
  guard.appeared('q');
  at(60_000);
  guard.focused();
  guard.pressed();
  assert.equal(guard.judge('q'), 'focus');
  at(60_000 + SETTLE_MS);
  guard.pressed();
  assert.equal(guard.judge('q'), 'ok');
});

test('a question that changes has appeared anew and one that is drawn again has not', () => {
  const { guard, at } = guardAt();
  guard.appeared('q', 'digest one');
  at(2000);
  guard.appeared('q', 'digest one');
  guard.pressed();
  assert.equal(guard.judge('q'), 'ok');
  guard.appeared('q', 'digest two');
  assert.equal(guard.judge('q'), 'too-soon');
});

test('a question that is not on the screen cannot be decided', () => {
  const { guard, at } = guardAt();
  guard.appeared('q');
  at(5000);
  guard.left('q');
  guard.pressed();
  assert.equal(guard.judge('q'), 'too-soon');
});

test('assistive technology that clicks without a press is judged by when it clicks', () => {
  const { guard, at } = guardAt();
  guard.pressed();
  guard.released();
  at(10_000);
  guard.appeared('q');
  at(10_100);
  assert.equal(guard.judge('q'), 'too-soon');
  at(12_000);
  assert.equal(guard.judge('q'), 'ok');
});

test('an event stream is read the same however it is cut', () => {
  const text = ': hello\nid: 7\nevent: asked\ndata: {"a":1}\n\nid: 8\r\ndata: one\r\ndata: two\r\n\r\nevent: empty\n\n';
  const whole = new EventParser().push(text);
  const hello = new EventParser();
  assert.deepEqual(hello.push('retry: 1000\nid: 42\n\n'), []);
  assert.equal(hello.id, '42', 'an id without an event is where to resume, too');
  assert.deepEqual(whole, [
    { id: '7', event: 'asked', data: '{"a":1}' },
    { id: '8', event: 'message', data: 'one\ntwo' },
  ]);
  for (let cut = 0; cut <= text.length; cut += 1) {
    const parser = new EventParser();
    assert.deepEqual([...parser.push(text.slice(0, cut)), ...parser.push(text.slice(cut))], whole, `cut at ${cut}`);
  }
});

test('the page tries again soon, then ever more rarely, and never at the same moment as everybody else', () => {
  assert.equal(backoff(0, 0.5), 500);
  assert.ok(backoff(1, 0) < backoff(1, 1));
  assert.equal(backoff(40, 0.5), 15_000);
});

test('the most urgent is first, and without a deadline the riskiest', () => {
  const list = [
    { requestId: 'late', deadline: 900, risk: 'HIGH' },
    { requestId: 'soon', deadline: 100, risk: 'LOW' },
    { requestId: 'open low', risk: 'LOW' },
    { requestId: 'open high', risk: 'HIGH' },
  ];
  assert.deepEqual(
    list.sort(byUrgency).map(({ requestId }) => requestId),
    ['soon', 'late', 'open high', 'open low'],
  );
});

test('calls of one turn stand together where the most urgent of them stands', () => {
  const turns = byTurn([{ requestId: 'a', group: 't' }, { requestId: 'b' }, { requestId: 'c', group: 't' }]);
  assert.deepEqual(
    turns.map(({ questions }) => questions.map(({ requestId }) => requestId)),
    [['a', 'c'], ['b']],
  );
});

test('time left is counted from when the answer came, not by the wall clock', () => {
  assert.equal(withDeadline({ status: 'pending', remainingMs: 60_000 }, { now: 5 }).deadline, 60_005);
  assert.equal(withDeadline({ status: 'answered', remainingMs: 60_000 }, { now: 5 }).deadline, undefined);
  // Each question of a list was made at a moment of its own; the list's moment holds for all.
  const question = { status: 'pending', remainingMs: 60_000, expiresAt: '2026-01-01T00:01:00.000Z' };
  assert.equal(withDeadline(question, { now: 5, sentAt: '2026-01-01T00:00:01.000Z' }).deadline, 59_005);
});

test('a clock that shows 0:00 has really run out', () => {
  assert.equal(clock(1), '0:01');
  assert.equal(clock(0), '0:00');
  assert.equal(clock(-5), '0:00');
  assert.equal(clock(59_001), '1:00');
  assert.equal(clock(3_600_000 * 3 + 60_000 * 20), '3 h 20 min');
  assert.equal(clock(86_400_000 * 2 + 3_600_000 * 4), '2 d 4 h');
});

test('a form has a field for every argument, the schema’s first', () => {
  const schema = {
    required: ['path'],
    properties: {
      path: { type: 'string' },
      mode: { enum: ['a', 'b'] },
      depth: { type: 'integer', minimum: 1 },
      deep: { type: 'object', properties: { x: { type: 'boolean' } } },
    },
  };
  const fields = fieldsOf(schema, { extra: [1], path: 'x' });
  assert.deepEqual(
    fields.map(({ name, kind, required }) => [name, kind, required]),
    [
      ['path', 'text', true],
      ['mode', 'choice', false],
      ['depth', 'number', false],
      ['deep', 'object', false],
      ['extra', 'json', false],
    ],
  );
});

test('a field of a secret is typed as a password', () => {
  const properties = {
    key: { type: 'string', writeOnly: true },
    word: { type: 'string', format: 'password' },
    name: { type: 'string' },
  };
  assert.deepEqual(
    fieldsOf({ properties }, {}).map(({ kind }) => kind),
    ['secret', 'secret', 'text'],
  );
});

test('without a schema the fields come from the arguments', () => {
  const value = { text: 'a', long: 'a\nb', count: 2, yes: true, list: ['a'], any: null, mixed: ['a', 1] };
  assert.deepEqual(
    fieldsOf(undefined, value).map(({ kind }) => kind),
    ['text', 'lines', 'number', 'boolean', 'texts', 'json', 'json'],
  );
});

test('an argument whose value does not fit its schema is edited as JSON rather than lost', () => {
  const schema = { properties: { count: { type: 'integer' }, name: { type: 'string' } } };
  assert.deepEqual(
    fieldsOf(schema, { count: 'three', name: { a: 1 } }).map(({ kind }) => kind),
    ['json', 'json'],
  );
});

test('names of arguments are only names', () => {
  const value = JSON.parse('{"__proto__": "a", "constructor": "b"}');
  assert.deepEqual(
    fieldsOf({ properties: {} }, value).map(({ name }) => name),
    ['__proto__', 'constructor'],
  );
  const changed = withField(value, '__proto__', 'c');
  assert.equal(JSON.stringify(changed), '{"__proto__":"c","constructor":"b"}');
  assert.equal(JSON.stringify(withField(changed, 'constructor', undefined)), '{"__proto__":"c"}');
});

test('changed means changed, not written in another order', () => {
  assert.ok(same({ a: [1, { b: 2 }], c: null }, { c: null, a: [1, { b: 2 }] }));
  assert.ok(!same({ a: 1 }, { a: 1, b: undefined }));
  assert.ok(!same([1, 2], [2, 1]));
  assert.equal(parseArgs('[1]').error, 'object');
  assert.ok(parseArgs('{').error);
});

test('marks of the server stand out and nothing is decoded', () => {
  const text = 'ls⟦ESC⟧[2K⏎rm <b>x</b> &lt; раypal⟦≈paypal U+0440⟧';
  assert.equal(
    pieces(text)
      .map((piece) => piece.text)
      .join(''),
    text,
  );
  assert.deepEqual(
    pieces(text)
      .filter(({ mark }) => mark)
      .map((piece) => piece.text),
    ['⟦ESC⟧', '⏎', '⟦≈paypal U+0440⟧'],
  );
});

test('raw journal text hides nothing', () => {
  assert.equal(
    escapeHidden('a\u202eb\u200b\u00a0\u001b[2K\ud800⟦x⟧\n c'),
    'a⟦U+202E⟧b⟦U+200B⟧⟦U+00A0⟧⟦U+001B⟧[2K⟦U+D800⟧⟦U+27E6⟧x⟦U+27E7⟧\n c',
  );
});

test('what goes and what comes stand on one row with their own numbers', () => {
  const line = (change, text) => ({ change, text });
  const rows = rowsOf({
    header: '@@ -3,3 +3,4 @@',
    lines: [line('kept', 'a'), line('removed', 'b'), line('added', 'B'), line('added', 'C'), line('kept', 'd')],
  });
  assert.deepEqual(
    rows.map((row) => [row.old?.number, row.new?.number]),
    [
      [3, 3],
      [4, 4],
      [undefined, 5],
      [5, 6],
    ],
  );
});

test('only the part of a line that differs is singled out, and never half a mark', () => {
  assert.deepEqual(difference('retries = 3', 'retries = 5'), ['retries = ', '3', '']);
  assert.deepEqual(difference('a⟦ESC⟧', 'a⟦NUL⟧'), ['a⟦ESC⟧', '', '']);
});

test('what is HIGH is confirmed twice, and a reason may be given for every no', () => {
  const approve = { action: 'APPROVE_AND_EXECUTE' };
  assert.ok(needsConfirming({ risk: 'HIGH' }, approve));
  assert.ok(!needsConfirming({ risk: 'MEDIUM' }, approve));
  assert.ok(needsConfirming({ risk: 'LOW' }, { action: 'TERMINATE', isDangerous: true }));
  assert.ok(takesText({ action: 'REJECT_WITH_REASON' }));
  assert.ok(!takesText(approve));
  // A reason is asked for and may stay empty; directions may not.
  assert.ok(!needsText({ action: 'REJECT_WITH_REASON', requiresInput: true, inputOptional: true }));
  assert.ok(needsText({ action: 'RETRY_WITH_FEEDBACK', requiresInput: true }));
});

test('a search finds what a person would see, every word of it', () => {
  const question = {
    risk: 'HIGH',
    agent: 'deployer',
    document: { head: [{ block: 'commands', commands: [{ text: 'git push --force', under: ['sudo'] }] }] },
  };
  assert.ok(matches(question, { text: 'PUSH deployer sudo', risk: '' }));
  assert.ok(!matches(question, { text: 'push nobody', risk: '' }));
  assert.ok(!matches(question, { text: '', risk: 'LOW' }));
});

test("a call is summed up by its title, and an agent's question by its words", () => {
  const heading = { block: 'heading', text: 'Force-push to `origin/main`' };
  const head = [heading, { block: 'line', text: 'git push --force origin main' }];
  assert.deepEqual(gist({ call: {}, document: { head } }), { mono: false, text: heading.text });
  const asked = [
    { block: 'heading', text: 'Which?' },
    { block: 'text', text: 'Two plans.' },
  ];
  assert.equal(gist({ document: { head: asked } }).text, 'Two plans.');
});

test('how long a change is to read counts every line of it', () => {
  const lines = [
    { change: 'removed', text: 'ab' },
    { change: 'added', text: 'abc' },
  ];
  assert.deepEqual(
    diffSize([
      { header: '@@', lines },
      { header: '@@', lines },
    ]),
    { lines: 4, chars: 10 },
  );
});

test('addresses name pages, and what they say is decoded', () => {
  assert.deepEqual(match('/q/int_1', '?together='), { page: 'inbox', together: '', requestId: 'int_1' });
  assert.deepEqual(match('/sessions/feishu%3Aa%2Fb'), { page: 'session', sessionId: 'feishu:a/b' });
  assert.equal(match('/sessions/%').sessionId, '%');
  assert.equal(match('/nowhere').page, 'notFound');
  assert.equal(match('/q/a', '?page=audit&requestId=b').requestId, 'a', 'a query cannot name another question');
  assert.equal(match('/q/a', '?page=audit').page, 'inbox', 'nor another page');
});

test('after signing in one is sent nowhere but here', () => {
  assert.equal(safeNext('/q/int_1?together='), '/q/int_1?together=');
  for (const bad of [
    '//evil.example',
    '/\\evil.example',
    'https://evil.example',
    'javascript:alert(1)',
    '/sign-in',
    null,
  ])
    assert.equal(safeNext(bad), '/', String(bad));
});

test('parameters that are not given are not sent', () => {
  assert.equal(query('/v1/audit', { q: '', after: undefined, type: 'asked' }), '/v1/audit?type=asked');
  assert.equal(query('/v1/audit', {}), '/v1/audit');
});

test('no source makes markup out of text, and none is too long to read', () => {
  for (const file of sources()) {
    const text = readFileSync(file, 'utf8');
    assert.doesNotMatch(text, /innerHTML|outerHTML|insertAdjacentHTML|document\.write|\beval\(|new Function/, file);
    assert.match(text, /^\/\/ /, `${file} begins by saying what it is for`);
    assert.ok(text.split('\n').length <= 300, `${file} is too long`);
  }
});

test('an edit shows what goes and what comes, and a name that only moved is not a change', () => {
  const changed = (before, after) =>
    hunksOf(before, after)[0]
      .lines.filter(({ change }) => change !== 'kept')
      .map(({ change, text }) => `${change} ${text.trim()}`);
  assert.deepEqual(changed({ a: 1, b: 2 }, { b: 2, a: 1 }), []);
  assert.deepEqual(changed({ a: 1, b: 'x' }, { b: 'y', a: 1 }), ['removed "b": "x"', 'added "b": "y"']);
  assert.deepEqual(changed({}, { a: 1 }), ['removed {}', 'added {', 'added "a": 1', 'added }']);
});

test('every fault of edited arguments is found at once, and what the schema leaves open is none', () => {
  const schema = {
    type: 'object',
    required: ['to', 'count'],
    additionalProperties: false,
    properties: {
      to: { type: 'string', minLength: 2, pattern: '^[a-z]+$' },
      count: { type: 'integer', minimum: 1, maximum: 9 },
      zone: { enum: ['a', 'b'] },
      hosts: { type: 'array', items: { type: 'string' } },
      deep: { type: 'object', properties: { on: { type: 'boolean' } } },
    },
  };
  const rules = (value) => faultsOf(schema, value).map(({ field, rule }) => `${field} ${rule}`);
  assert.deepEqual(rules({ to: 'ab', count: 3 }), []);
  assert.deepEqual(rules({ count: 99, zone: 'c', more: 1 }), [
    'to required',
    'count max',
    'zone choice',
    'more unknown',
  ]);
  assert.deepEqual(rules({ to: 'A', count: 1.5, hosts: ['x', 7], deep: { on: 1 } }), [
    'to minLength',
    'to pattern',
    'count type',
    'hosts/1 type',
    'deep/on type',
  ]);
  assert.deepEqual(faultsOf(undefined, { anything: 1 }), []);
});

test('the neighbour is the neighbour also when the chosen request is gone', () => {
  const ids = ['a', 'b', 'c'];
  assert.equal(nextIndex(ids, undefined, 0, 1), 0);
  assert.equal(nextIndex(ids, undefined, 0, -1), 2);
  assert.equal(nextIndex(ids, 'b', 1, 1), 2);
  assert.equal(nextIndex(ids, 'c', 2, 1), 2);
  assert.equal(nextIndex(ids, 'gone', 1, 1), 1, 'what stood behind it is now in its place');
  assert.equal(nextIndex(ids, 'gone', 1, -1), 0);
  assert.equal(nextIndex(ids, 'gone', 3, 1), 2);
});

test('requests are alike by agent, tool and what their commands run', () => {
  const runs = (text) => ({ head: [{ block: 'commands', commands: [{ text }] }] });
  const asked = (requestId, more) => ({
    requestId,
    agent: 'builder',
    call: { tool: 'bash' },
    document: runs('npm install left-pad'),
    ...more,
  });
  const all = [
    asked('a', { group: 'one' }),
    asked('b', { group: 'two', document: runs('npm install right-pad') }),
    asked('c', { document: runs('npm test') }),
    asked('d', { agent: 'other' }),
    asked('e', { mayAnswer: false }),
    asked('f', { document: runs('rm -rf build') }),
    asked('g', { document: runs('rm -rf dist') }),
    asked('h', { document: runs('git push') }),
  ];
  const ids = (questions) => questions.map(({ requestId }) => requestId).join('');
  assert.equal(ids(alikeOf(all[0], all)), 'ab');
  assert.equal(ids(alikeOf(all[5], all)), 'fg');
  assert.deepEqual(
    [...alikeIn(all)],
    [
      ['a', 2],
      ['f', 2],
    ],
  );
  const turn = [asked('x', { group: 'one' }), asked('y', { group: 'one' })];
  assert.deepEqual([...alikeIn(turn)], [], 'a turn has its own frame');
});

test('a day of the filter begins where it begins here', () => {
  assert.equal(startOfDay('2026-11-03'), new Date(2026, 10, 3).toISOString());
  assert.equal(startOfDay('2026-12-31', 1), new Date(2027, 0, 1).toISOString());
  assert.equal(startOfDay(''), undefined);
});

test('a chart has a column for every day and a round scale', () => {
  const days = everyDay([{ day: '2026-11-02', outcomes: { approved: 2 } }], 3, new Date(2026, 10, 3, 12));
  assert.deepEqual(
    days.map(({ day, outcomes }) => [day, outcomes.approved ?? 0]),
    [
      ['2026-11-01', 0],
      ['2026-11-02', 2],
      ['2026-11-03', 0],
    ],
  );
  assert.deepEqual([[], [1], [3], [7, 5], [11], [99], [100]].map(ceiling), [2, 2, 4, 8, 20, 100, 100]);
});
