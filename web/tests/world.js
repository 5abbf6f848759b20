// A world for one story: a real `placet serve` in a folder of its own, an agent that calls over HTTP, people in Chromium.
//
// All stories share one browser process and get windows of their own. Nothing waits for longer than it must, and nothing
// waits forever.

import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';

import { speak } from './catalogue.js';

const ROOT = fileURLToPath(new URL('../..', import.meta.url));
const TARGET = resolve(process.env.PLACET_TARGET ?? join(ROOT, 'target'));
// Packages are installed by name into the build folder, not into the repository.
const require = createRequire(join(TARGET, 'npm', 'index.js'));
const { chromium } = require('playwright-core');
const AXE = readFileSync(require.resolve('axe-core/axe.min.js'), 'utf8');

// Stories name what they look for as the page does.
speak('en');

/** The longest any single step may take, in milliseconds. */
const PATIENCE = 10_000;
const FLAGS = [
  '--no-sandbox',
  '--disable-gpu',
  '--disable-quic',
  '--no-first-run',
  '--disable-background-networking',
  '--disable-component-update',
  '--disable-sync',
  // A name that browsers do not take for this machine.
  '--host-resolver-rules=MAP placet.test 127.0.0.1',
];

const bin = process.env.PLACET_BIN;
if (!bin) throw new Error('PLACET_BIN must name the placet program');

/** @type {Promise<import('playwright-core').Browser> | undefined} */
let launched;

/** The promise is shared, not the browser: stories that begin together must not launch one each. */
function sharedBrowser() {
  launched ??= chromium.launch({
    executablePath: process.env.CHROMIUM ?? '/usr/bin/chromium',
    args: FLAGS,
    headless: true,
  });
  return launched;
}

/** Closes the browser all stories share. */
export const closeBrowser = async () => (await launched)?.close();

/** What every story's server is configured with; `extra` is TOML put behind it. */
const config = (folder, { timeout, extra = '' }) => `
[approval]
timeout = "${timeout}"

[[rules]]
name = "deployments need both"
tool = "release"
effect = "ask"
approvers = ["lin", "wei"]
quorum = 2

[tools.deploy]
category = "network"
risk = "MEDIUM"
schema = { type = "object", required = ["target", "replicas"], additionalProperties = false, properties = { target = { enum = ["staging", "production"] }, replicas = { type = "integer", minimum = 1, maximum = 9 }, note = { type = "string", description = "For the log" }, hosts = { type = "array", items = { type = "string" } } } }

[[people]]
name = "lin"
token = "file:${join(folder, 'lin')}"

[[people]]
name = "wei"
token = "file:${join(folder, 'wei')}"

[server]
admins = ["lin"]

${extra}
`;

export class World {
  #server = null;
  #contexts = [];
  /** Every window that was opened. */
  pages = [];
  #listen = '127.0.0.1:0';

  constructor(folder) {
    this.folder = folder;
    this.data = join(folder, 'data');
  }

  static async open({ timeout = '10m', extra, files = {} } = {}) {
    const world = new World(mkdtempSync(join(tmpdir(), 'placet-web-')));
    for (const name of ['lin', 'wei'])
      writeFileSync(join(world.folder, name), `token-of-${name}-0123456789abcdef\n`, { mode: 0o600 });
    for (const [name, text] of Object.entries(files)) writeFileSync(join(world.folder, name), text);
    world.configure({ timeout, extra });
    await world.start();
    return world;
  }

  /** Writes the configuration for the next start. */
  configure({ timeout = '10m', extra } = {}) {
    writeFileSync(join(this.folder, 'placet.toml'), config(this.folder, { timeout, extra }));
  }

  /** Starts the server; the second time on the same address and with the same data. */
  async start() {
    const web = process.env.PLACET_WEB ? ['--web', process.env.PLACET_WEB] : [];
    const args = [
      'serve',
      '--json',
      '--listen',
      this.#listen,
      '--data',
      this.data,
      '--config',
      join(this.folder, 'placet.toml'),
      ...web,
    ];
    const server = spawn(bin, args, { cwd: this.folder, stdio: ['ignore', 'pipe', 'pipe'] });
    this.#server = server;
    this.log = '';
    server.stderr.on('data', (text) => (this.log += text));
    const lines = createInterface({ input: server.stdout });
    const died = once(server, 'exit').then(() => assert.fail(`placet serve ended: ${this.log}`));
    const [first] = await Promise.race([once(lines, 'line', { signal: AbortSignal.timeout(PATIENCE) }), died]);
    died.catch(() => {});
    const said = JSON.parse(first);
    this.url = said.url;
    this.link = said.signIn;
    this.#listen = said.listen;
    this.agentToken = /^agent = "(.*)"$/m.exec(readFileSync(join(this.data, 'tokens.toml'), 'utf8'))[1];
  }

  async stop(signal = 'SIGTERM') {
    const server = this.#server;
    this.#server = null;
    if (!server || server.exitCode !== null) return;
    const gone = once(server, 'exit');
    server.kill(signal);
    await gone;
  }

  async close() {
    await Promise.all(this.#contexts.map((context) => context.close()));
    await this.stop('SIGKILL');
    rmSync(this.folder, { recursive: true, force: true });
  }

  /** What an agent does: one request with its token. */
  async agent(method, path, body) {
    const response = await fetch(`${this.url}${path}`, {
      method,
      signal: AbortSignal.timeout(70_000),
      headers: { authorization: `Bearer ${this.agentToken}`, 'content-type': 'application/json' },
      body: body && JSON.stringify(body),
    });
    const answer = response.status === 204 ? {} : await response.json();
    assert.ok(response.ok, `${method} ${path}: ${response.status} ${JSON.stringify(answer)}`);
    return answer;
  }

  /** Proposes a call that waits for a person. */
  async ask(tool, args, more = {}) {
    const call = await this.agent('POST', '/v1/calls', { sessionId: 'release', tool, args, ...more });
    assert.equal(call.status, 'pending', JSON.stringify(call.verdict));
    return call;
  }

  /** A shell line that waits for a person; MEDIUM unless the line is worse. */
  askShell(command, more) {
    return this.ask('bash', { command }, more);
  }

  /** What became of a call, once it is known. */
  async outcome(call) {
    return this.agent('GET', `/v1/calls/${encodeURIComponent(call.callId)}?wait=20`);
  }

  /** A person's browser window, signed in unless `as` is null. Decisions are sent at once unless `undo` is true. */
  async window({ as = 'lin', width = 1280, height = 800, path = '/', undo = false, ...how } = {}) {
    const context = await (
      await sharedBrowser()
    ).newContext({ viewport: { width, height }, locale: 'en-GB', baseURL: this.url, ...how });
    this.#contexts.push(context);
    context.setDefaultTimeout(PATIENCE);
    if (!undo)
      await context.addInitScript(
        (ours) => location.origin === ours && localStorage.setItem('placet.undo', 'off'),
        new URL(this.url).origin,
      );
    if (as) await signIn(context, as);
    const page = await context.newPage();
    this.pages.push(page);
    page.faults = [];
    page.on('pageerror', (error) => page.faults.push(error.message));
    page.on(
      'console',
      (message) =>
        message.type() === 'error' &&
        /Content Security|Trusted/i.test(message.text()) &&
        page.faults.push(message.text()),
    );
    page.on('dialog', (dialog) => (page.faults.push(`dialog: ${dialog.message()}`), dialog.dismiss()));
    // Everything comes out of the program: the inbox works without a network.
    page.on(
      'request',
      (request) =>
        /^https?:/.test(request.url()) &&
        !request.url().startsWith(this.url) &&
        page.faults.push(`fetched ${request.url()}`),
    );
    if (path) await page.goto(path);
    return page;
  }
}

/** Signs a window in as its page does, on a page that is closed again. */
async function signIn(context, as) {
  const page = await context.newPage();
  await page.goto('/errors/unauthenticated');
  await page.evaluate(
    (token) => import('/app/api.js').then(({ api }) => api.signIn({ token })),
    `token-of-${as}-0123456789abcdef`,
  );
  await page.close();
}

/** Waits until the ways to answer count. */
export async function settled(page) {
  await page.locator('[data-answer][data-settled]').waitFor();
}

/** Opens a call's question and waits until it can be answered. */
export async function open(page, call) {
  await page.goto(`/q/${call.requestId}`);
  await settled(page);
}

/** Keeps a picture of the page among the artefacts. */
export async function picture(page, name, how = {}) {
  const folder = join(TARGET, 'screenshots');
  mkdirSync(folder, { recursive: true });
  await page.screenshot({ path: join(folder, `${name}.png`), ...how });
}

/** Lets axe look at the page: it finds nothing at all. */
export async function accessible(page, what) {
  await page.evaluate(AXE);
  const { violations } = await page.evaluate(() => globalThis.axe.run(document, { resultTypes: ['violations'] }));
  const words = violations.map(
    ({ id, impact, nodes }) =>
      `${id} (${impact}): ${nodes.map(({ target, failureSummary }) => `${target} (${failureSummary})`).join('; ')}`,
  );
  assert.deepEqual(words, [], what);
}

/** @type {{ name: string, options: object, tell: (world: World) => Promise<void> }[]} */
export const stories = [];

/**
 * One story: a test with a world of its own, which is gone afterwards. Pages must not have complained.
 * @param {string} name
 * @param {object} options for the world
 * @param {(world: World) => Promise<void>} tell
 */
export function story(name, options, tell) {
  stories.push({ name, options, tell });
}

/** Tells one story. */
export async function tellStory({ options, tell }) {
  const world = await World.open(options);
  try {
    await tell(world);
    for (const page of world.pages) assert.deepEqual(page.faults, []);
  } finally {
    await world.close();
  }
}
