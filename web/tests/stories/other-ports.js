// A hostile page on another port of the same host, where cookies would reach it: it can neither read nor decide.

import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer } from 'node:http';

import { open, settled, story } from '../world.js';

/** A page of the agent's on the same host; `heard` has the headers of every request that reached it. */
async function hostilePort() {
  const heard = [];
  const server = createServer((request, response) => {
    heard.push(request.headers);
    response.setHeader('content-type', 'text/html');
    response.end('<!doctype html><title>preview</title>');
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return { heard, url: `http://127.0.0.1:${server.address().port}`, close: () => server.close() };
}

const answerPath = (call) => `/v1/interactions/${call.requestId}/answer`;
const APPROVE = JSON.stringify({ selectedOptionId: 'approve' });

/** Sends a request from outside of any browser, with whatever was stolen and a forged origin. */
function replay(world, path, headers, method = 'GET') {
  return fetch(world.url + path, {
    method,
    headers: { ...headers, origin: world.url, 'content-type': 'application/json' },
    body: method === 'POST' ? APPROVE : undefined,
  });
}

async function isPending(world, call) {
  assert.equal((await world.agent('GET', `/v1/calls/${call.callId}`)).status, 'pending');
}

story('a page on another port of the same host gets nothing that reads or decides', {}, async (world) => {
  const call = await world.askShell('npm run build');
  const page = await world.window();
  await open(page, call);
  const hostile = await hostilePort();
  try {
    const preview = await page.context().newPage();
    await preview.goto(hostile.url);
    await preview.evaluate(() => fetch('/collect', { credentials: 'include' }));
    assert.equal(hostile.heard.length >= 2, true);

    // What reached the other port is replayed as it is.
    for (const { host: _, ...stolen } of hostile.heard) {
      assert.equal(stolen.cookie, undefined, 'no cookie is set at all');
      assert.equal((await replay(world, '/v1/me', stolen)).status, 401);
      assert.equal((await replay(world, '/v1/interactions', stolen)).status, 401);
      assert.equal((await replay(world, '/v1/events', stolen)).status, 401);
      assert.equal((await replay(world, answerPath(call), stolen, 'POST')).status, 401);
    }

    // From inside the browser, with everything a page may ask for.
    const tried = await preview.evaluate(
      async ([url, path, body]) => {
        const attempt = async (at, init) => {
          try {
            return (await fetch(url + at, { credentials: 'include', ...init })).type;
          } catch {
            return 'refused';
          }
        };
        const json = { 'content-type': 'application/json' };
        const framed = document.createElement('iframe');
        framed.src = url;
        document.body.append(framed);
        const databases = await indexedDB.databases();
        return {
          read: await attempt('/v1/interactions'),
          readBlind: await attempt('/v1/interactions', { mode: 'no-cors' }),
          decide: await attempt(path, { method: 'POST', headers: json, body }),
          decideBlind: await attempt(path, { method: 'POST', mode: 'no-cors', body }),
          decideAsPage: await attempt(path, { method: 'POST', headers: { ...json, 'placet-proof': 'x' }, body }),
          databases: databases.length,
          stored: localStorage.length,
        };
      },
      [world.url, answerPath(call), APPROVE],
    );
    // `opaque`: it was sent without a credential, and the page sees nothing of the answer.
    assert.ok(['opaque', 'refused'].includes(tried.readBlind) && ['opaque', 'refused'].includes(tried.decideBlind));
    assert.deepEqual([tried.read, tried.decide, tried.decideAsPage], ['refused', 'refused', 'refused']);
    assert.deepEqual([tried.databases, tried.stored], [0, 0], 'keys and tickets belong to the other origin');
    await isPending(world, call);
  } finally {
    hostile.close();
  }
  await page.locator('[data-option="approve"]').click();
  assert.equal((await world.outcome(call)).status, 'approved');
});

story(
  'a stolen ticket and stolen proofs are worth nothing without the key, which cannot be taken',
  {},
  async (world) => {
    const call = await world.askShell('npm run build');
    const page = await world.window({ path: null });
    const proofs = [];
    page.on('request', (request) => proofs.push([new URL(request.url()), request.headers()['placet-proof']]));
    await open(page, call);
    const signed = proofs.filter(([url]) => url.pathname.startsWith('/v1/'));
    assert.ok(signed.length > 2 && signed.some(([url]) => url.pathname === '/v1/events'));
    for (const [url, proof] of signed) {
      assert.ok(proof, `${url.pathname} carries a proof`);
      const [ticket] = proof.split(' ');
      for (const headers of [{ 'placet-proof': proof }, { 'placet-proof': ticket }, { cookie: `placet=${ticket}` }]) {
        assert.equal((await replay(world, url.pathname + url.search, headers)).status, 401);
        assert.equal((await replay(world, answerPath(call), headers, 'POST')).status, 401);
      }
    }
    assert.equal(new Set(signed.map(([, proof]) => proof)).size, signed.length, 'each request has its own');
    await isPending(world, call);

    const taken = await page.evaluate(async () => {
      const opened = indexedDB.open('placet');
      await new Promise((done) => (opened.onsuccess = done));
      const got = opened.result.transaction('sign-in').objectStore('sign-in').get('current');
      await new Promise((done) => (got.onsuccess = done));
      const { key } = got.result;
      const formats = ['pkcs8', 'jwk', 'raw'];
      const tries = formats.map((format) => crypto.subtle.exportKey(format, key).then(() => format));
      const results = await Promise.allSettled(tries);
      return { extractable: key.extractable, exported: results.filter(({ status }) => status === 'fulfilled').length };
    });
    assert.deepEqual(taken, { extractable: false, exported: 0 });
  },
);

story(
  'the real page goes on through a reload, in several tabs and after a restart of the server',
  {},
  async (world) => {
    const [first, second, third] = [
      await world.askShell('npm run one'),
      await world.askShell('npm run two'),
      await world.askShell('npm run three'),
    ];
    const page = await world.window();
    await open(page, first);
    await page.reload();
    await settled(page);
    await page.locator('[data-option="approve"]').click();
    assert.equal((await world.outcome(first)).status, 'approved');

    const tab = await page.context().newPage();
    await open(tab, second);
    await tab.locator('[data-option="approve"]').click();
    assert.equal((await world.outcome(second)).status, 'approved');

    await world.stop();
    await page.locator('.line-banner:not([hidden])').waitFor();
    await world.start();
    await page.locator('.line-banner').waitFor({ state: 'hidden' });
    await tab.locator('.line-banner').waitFor({ state: 'hidden' });
    await open(page, third);
    await page.locator('[data-option="approve"]').click();
    assert.equal((await world.outcome(third)).status, 'approved');
  },
);
