// Notifications on a device: switched on in the page, sent by the server to a push service, shown by the service worker, and a
// click that opens the request. The browser's own push service is not reachable from here, so one on this machine stands in for it:
// it gives out the subscription and decrypts what it gets.

import assert from 'node:assert/strict';
import { createDecipheriv, createECDH, createPublicKey, hkdfSync, randomBytes, verify } from 'node:crypto';
import { once } from 'node:events';
import { createServer } from 'node:http';
import { buffer } from 'node:stream/consumers';

import { picture, story } from '../world.js';

/** A push service for one device: takes messages and decrypts them as the browser would (RFC 8291). */
async function pushService() {
  const keys = createECDH('prime256v1');
  keys.generateKeys();
  const auth = randomBytes(16);
  const messages = [];
  let arrived = () => {};
  let status = 201;
  const server = createServer(async (request, response) => {
    const body = await buffer(request);
    if (status === 201) messages.push({ headers: request.headers, text: decrypt(body, keys, auth) });
    response.writeHead(status).end();
    arrived();
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const endpoint = `http://127.0.0.1:${server.address().port}/send/device-1`;
  return {
    messages,
    subscription: {
      endpoint,
      expirationTime: null,
      keys: { p256dh: keys.getPublicKey().toString('base64url'), auth: auth.toString('base64url') },
    },
    next: () => new Promise((resolve) => (arrived = resolve)),
    answer: (with_) => (status = with_),
    close: () => server.close(),
  };
}

function decrypt(body, keys, auth) {
  const [salt, sender, record] = [body.subarray(0, 16), body.subarray(21, 86), body.subarray(86)];
  const shared = keys.computeSecret(sender);
  const info = Buffer.concat([Buffer.from('WebPush: info\0'), keys.getPublicKey(), sender]);
  const input = Buffer.from(hkdfSync('sha256', shared, auth, info, 32));
  const derive = (name, bytes) =>
    Buffer.from(hkdfSync('sha256', input, salt, Buffer.from(`Content-Encoding: ${name}\0`), bytes));
  const cipher = createDecipheriv('aes-128-gcm', derive('aes128gcm', 16), derive('nonce', 12));
  cipher.setAuthTag(record.subarray(-16));
  const text = Buffer.concat([cipher.update(record.subarray(0, -16)), cipher.final()]);
  assert.equal(text.at(-1), 2, 'one record, and the last one');
  return text.subarray(0, -1).toString();
}

/** The push service checks who sends (RFC 8292). */
function checkSender({ authorization }, service, publicKey) {
  const [, token, key] = /^vapid t=([^,]+), k=(.+)$/.exec(authorization);
  assert.equal(key, publicKey);
  const [head, claims, signature] = token.split('.');
  const point = Buffer.from(key, 'base64url');
  const jwk = {
    kty: 'EC',
    crv: 'P-256',
    x: point.subarray(1, 33).toString('base64url'),
    y: point.subarray(33).toString('base64url'),
  };
  const signed = verify(
    'sha256',
    Buffer.from(`${head}.${claims}`),
    { key: createPublicKey({ key: jwk, format: 'jwk' }), dsaEncoding: 'ieee-p1363' },
    Buffer.from(signature, 'base64url'),
  );
  assert.ok(signed, 'the statement is signed with the key it shows');
  assert.equal(JSON.parse(Buffer.from(claims, 'base64url')).aud, new URL(service).origin);
}

const PUSH = { extra: '[push]\nservices = ["127.0.0.1"]\n' };

story('a device is told of a new request, and a click opens it', PUSH, async (world) => {
  const service = await pushService();
  try {
    const page = await world.window({ path: null });
    const context = page.context();
    await context.grantPermissions(['notifications'], { origin: world.url });
    await page.addInitScript((subscription) => {
      const given = { toJSON: () => subscription, unsubscribe: () => Promise.resolve(true) };
      PushManager.prototype.subscribe = async function subscribe({ applicationServerKey }) {
        globalThis.subscribedWith = applicationServerKey;
        return given;
      };
      PushManager.prototype.getSubscription = () => Promise.resolve(given);
    }, service.subscription);
    await page.goto('/');
    const client = await context.newCDPSession(page);
    const registration = new Promise((resolve) =>
      client.on('ServiceWorker.workerRegistrationUpdated', ({ registrations }) =>
        registrations.forEach(({ registrationId }) => resolve(registrationId)),
      ),
    );
    await client.send('ServiceWorker.enable');
    await page.locator('[data-menu]').click();
    await page.locator('[data-push="off"]').click();
    await page.locator('[data-push="on"]').waitFor();
    await picture(page, 'push-on');
    await page.keyboard.press('Escape');

    const arrived = service.next();
    const call = await world.askShell('git push origin main --token=ghp_abcdefghijklmnopqrstuvwxyz0123456789');
    await arrived;
    const [{ headers, text }] = service.messages;
    checkSender(headers, service.subscription.endpoint, await page.evaluate(() => globalThis.subscribedWith));
    assert.equal(headers.urgency, 'high');
    assert.ok(Number(headers.ttl) > 0 && Number(headers.ttl) <= 600, headers.ttl);
    assert.deepEqual(JSON.parse(text), {
      requestId: call.requestId,
      url: `/q/${call.requestId}`,
      title: 'A request needs your approval',
      body: null,
    });

    // What the browser would do with it.
    const [serviceWorker] = context.serviceWorkers();
    await client.send('ServiceWorker.deliverPushMessage', {
      origin: world.url,
      registrationId: await registration,
      data: text,
    });
    // Seen and clicked in one step: the browser may take a notification away again.
    await serviceWorker.evaluate(async () => {
      let notification;
      while (!notification) [notification] = await self.registration.getNotifications();
      self.dispatchEvent(new NotificationEvent('notificationclick', { notification }));
    });
    await page.locator(`[data-question="${call.requestId}"]`).waitFor();
    assert.equal(new URL(page.url()).pathname, `/q/${call.requestId}`);

    // A device that is gone is forgotten.
    service.answer(410);
    const refused = service.next();
    await world.askShell('npm install');
    await refused;
    await page.waitForFunction(async () => {
      const { api } = await import('/app/api.js');
      return (await api.push()).devices.length === 0;
    });
  } finally {
    service.close();
  }
});

story('the page opens while the server is away, and keeps no data', {}, async (world) => {
  const call = await world.askShell('npm install');
  const page = await world.window();
  await page.locator(`[data-row="${call.requestId}"]`).waitFor();
  await page.evaluate(() => navigator.serviceWorker.ready);
  await page.waitForFunction(() => Boolean(navigator.serviceWorker.controller));
  await page.reload();
  await page.locator(`[data-row="${call.requestId}"]`).waitFor();
  const kept = await page.evaluate(async () => {
    const shell = await caches.open('placet-shell-1');
    return (await shell.keys()).map(({ url }) => new URL(url).pathname);
  });
  assert.ok(kept.includes('/') && kept.includes('/app/main.js'), kept.join(' '));
  assert.deepEqual(
    kept.filter((path) => path !== '/' && !path.startsWith('/app/')),
    [],
  );
  await world.stop();
  await page.reload();
  await page.locator('.gate').waitFor();
  assert.equal(await page.locator('[data-row]').count(), 0);
  await world.start();
});
