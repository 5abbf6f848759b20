// The gallery: forty requests on a phone and on a desktop, light and dark, in English and in Chinese, in the terminal and in a chat.
// What would happen, to what and why must be read without scrolling; nothing lies on anything else. Contact sheets of all of it
// are in `target/screenshots` afterwards: look at them.

import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { createServer } from 'node:http';
import { once } from 'node:events';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import { promisify } from 'node:util';

import { measure } from './gallery/geometry.js';
import { REQUESTS } from './gallery/requests.js';
import { World, closeBrowser, picture } from './world.js';

const SCREENS = [
  ['phone', { width: 390, height: 844 }],
  ['wide', { width: 1280, height: 800 }],
];
const SCHEMES = ['light', 'dark'];
const LANGUAGES = [
  ['en', 'en-GB'],
  ['zh', 'zh-CN'],
];
/** Lines of a text that are read first, in a terminal and in a chat. */
const FIRST_LINES = 8;

/** Puts a request to people; `sessionId` says where. */
function put(world, { call, question, more }, sessionId) {
  return question
    ? world.agent('POST', '/v1/interactions', { sessionId, timeoutSeconds: 3600, ...question })
    : world.ask(call.tool, call.args, { sessionId, risk: 'MEDIUM', ...more });
}

/** A chat platform on this machine: keeps the texts it is to show. */
async function platform() {
  const texts = new Map();
  const waiting = new Map();
  const server = createServer(async (request, response) => {
    const chunks = await Array.fromAsync(request);
    const { type, requestId, text } = JSON.parse(Buffer.concat(chunks));
    if (type === 'question') {
      texts.set(requestId, text);
      waiting.get(requestId)?.();
    }
    response.end();
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    url: `http://127.0.0.1:${server.address().port}/`,
    text: async (requestId) => {
      if (!texts.has(requestId)) await new Promise((arrived) => waiting.set(requestId, arrived));
      return texts.get(requestId);
    },
    close: () => server.close(),
  };
}

const channel = (name, url, locale) => `
[channels.${name}]
type = "webhook"
url = "${url}"
secret = "env:GALLERY_SECRET"
locale = "${locale}"

[[people]]
name = "reader-${locale}"
${name} = "account-${locale}"
`;

/** Every request by itself, with what is wrong with it: one run names everything that is to be mended. */
const report = (faults) => assert.deepEqual(faults, []);

const words = (text) => text.replace(/[`\s]+/g, ' ');

describe('the gallery', () => {
  let world;
  let chat;
  let asked;

  before(async () => {
    process.env.GALLERY_SECRET = 'secret-of-the-gallery-0123456789';
    chat = await platform();
    const extra = channel('ops', chat.url, 'en') + channel('ops-zh', chat.url, 'zh');
    world = await World.open({ timeout: '1h', extra });
    asked = [];
    for (const [at, request] of REQUESTS.entries()) asked.push(await put(world, request, `gallery-${at}`));
  });

  after(async () => {
    await closeBrowser();
    await world?.close();
    chat?.close();
  });

  for (const [language, locale] of LANGUAGES) {
    test(`pages in ${language}: gist, target and reason are above the fold, and nothing overlaps`, async () => {
      const page = await world.window({ locale, reducedMotion: 'reduce', path: '/' });
      const faults = [];
      const pictures = new Map(SCREENS.flatMap(([screen]) => SCHEMES.map((scheme) => [`${screen}-${scheme}`, []])));
      for (const [at, { requestId }] of asked.entries()) {
        await page.evaluate((path) => {
          history.pushState(null, '', path);
          dispatchEvent(new PopStateEvent('popstate'));
        }, `/q/${requestId}`);
        await page.locator(`[data-question="${requestId}"]`).waitFor();
        await page.locator('[data-answer][data-settled]').waitFor();
        for (const [screen, size] of SCREENS) {
          await page.setViewportSize(size);
          const seen = await page.evaluate(measure);
          for (const fault of faultsOf(REQUESTS[at], seen, size))
            faults.push(`${REQUESTS[at].name}, ${screen}: ${fault}`);
          for (const colorScheme of SCHEMES) {
            await page.emulateMedia({ colorScheme });
            const shot = await page.screenshot({ type: 'jpeg', quality: 55 });
            pictures.get(`${screen}-${colorScheme}`).push(shot);
          }
        }
      }
      for (const [screen, size] of SCREENS)
        for (const scheme of SCHEMES)
          await sheet(page, `${screen}-${scheme}-${language}`, size, pictures.get(`${screen}-${scheme}`));
      report(faults);
      assert.deepEqual(page.faults, []);
    });

    test(`the terminal in ${language}: gist and target are in the first lines`, async () => {
      const faults = [];
      const env = { ...process.env, PLACET_APPROVAL__LOCALE: language, NO_COLOR: '1' };
      for (const [at, { requestId }] of asked.entries()) {
        const where = ['--data', world.data, '--config', join(world.folder, 'placet.toml')];
        const { stdout } = await promisify(execFile)(process.env.PLACET_BIN, ['inbox', 'show', requestId, ...where], {
          env,
        });
        for (const fault of faultsOfText(REQUESTS[at], stdout)) faults.push(fault);
      }
      report(faults);
    });

    // Questions of agents that come over HTTP have no person to be brought to in a chat.
    test(`a chat in ${language}: gist and target are in the first lines`, async () => {
      const faults = [];
      for (const [at, request] of REQUESTS.entries()) {
        if (!request.call) continue;
        const more = { ...request.more, userId: `reader-${language}` };
        const { requestId } = await put(world, { ...request, more }, `chat-${language}-${at}`);
        for (const fault of faultsOfText(request, await chat.text(requestId))) faults.push(fault);
      }
      report(faults);
    });
  }
});

function faultsOf(request, seen, { width }) {
  const missing = request.seen
    .filter((word) => !seen.text.includes(word))
    .map((word) => `“${word}” is not above the fold`);
  if (request.call && !seen.reason) missing.push('the reason is not above the fold');
  if (seen.wide > width) missing.push(`the page is ${seen.wide} wide`);
  return [...missing, ...seen.faults];
}

function faultsOfText(request, text) {
  const first = words(text.split('\n').filter(Boolean).slice(0, FIRST_LINES).join('\n'));
  return request.seen
    .filter((word) => !first.includes(word))
    .map((word) => `${request.name}: “${word}” is not in the first lines: ${first.slice(0, 300)}`);
}

/** One picture of many, beside each other. */
async function sheet(page, name, { width, height }, pictures) {
  const shown = width < height ? 195 : 320;
  const columns = width < height ? 10 : 8;
  const blank = await page.context().newPage();
  await blank.setViewportSize({ width: columns * (shown + 8) + 8, height: 600 });
  await blank.setContent(
    `<body style="margin:8px;display:grid;gap:8px;grid-template-columns:repeat(${columns},${shown}px);font:11px sans-serif;background:#888">${pictures
      .map(
        (shot, at) =>
          `<figure style="margin:0"><img width="${shown}" height="${Math.round((shown * height) / width)}" src="data:image/jpeg;base64,${shot.toString('base64')}"><figcaption>${REQUESTS[at].name}</figcaption></figure>`,
      )
      .join('')}</body>`,
  );
  await blank.evaluate(() => Promise.all([...document.images].map((image) => image.decode())));
  await picture(blank, `gallery-${name}`, { fullPage: true });
  await blank.close();
}
