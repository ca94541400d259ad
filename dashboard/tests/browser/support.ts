import { spawn, spawnSync, type ChildProcess } from 'node:child_process';
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { chromium, type Browser, type BrowserContext, type Page, type Request } from 'playwright-core';

const ROOT = path.join(import.meta.dirname, '../../..');
/** The gateway under test: another checkout, while its routes and these pages are changed apart. */
const SERVER = process.env['GATEWAY_ROOT'] ?? ROOT;
const CHROMIUM = ['/usr/bin/chromium', '/usr/bin/chromium-browser', '/usr/bin/google-chrome'];
const MANAGEMENT_KEY = 'mgw-mgmt-browser-tests-0123456789abcdefghij';
const API_KEY = 'mgw-browser-tests-0123456789abcdefghijklmnop';
const START_MS_MAX = 120_000;
const AXE = readFileSync(fileURLToPath(import.meta.resolve('axe-core/axe.min.js')), 'utf8');

/** The Chromium of this machine. Without one browser tests are left out with a loud line; `REQUIRE_BROWSER=1` makes that a failure. */
export function findChromium(): string | undefined {
  const found = [process.env['CHROMIUM_PATH'], ...CHROMIUM].find((file) => file !== undefined && existsSync(file));
  if (found === undefined && process.env['REQUIRE_BROWSER'] === '1')
    throw new Error('There is no Chromium: apt-get install chromium, or set CHROMIUM_PATH.');
  if (found === undefined)
    console.error('BROWSER TESTS ARE LEFT OUT: there is no Chromium. apt-get install chromium, or set CHROMIUM_PATH.');
  return found;
}

export interface Stand {
  readonly url: string;
  readonly managementKey: string;
  readonly apiKey: string;
  /** Where the gateway keeps its database. */
  readonly dataDir: string;
  /** What the gateway printed so far. */
  readonly output: () => string;
  readonly browser: Browser;
  /** A browser of its own, signed in unless the options say otherwise. */
  readonly open: (options?: OpenOptions) => Promise<Visit>;
  readonly call: (pathname: string, body?: unknown, key?: string, method?: string) => Promise<Response>;
  readonly close: () => Promise<void>;
}

interface StandOptions {
  readonly withKeys?: boolean;
  readonly yaml?: string;
  /** Of the command, such as `--workers 2`. */
  readonly args?: readonly string[];
}

interface OpenOptions {
  readonly isSignedIn?: boolean;
  readonly theme?: 'dark' | 'light';
  readonly width?: number;
  /** Of the clock of the browser. */
  readonly timeZone?: string;
}

export interface Visit {
  readonly page: Page;
  readonly context: BrowserContext;
  /** What the page did that no page may do: errors, reports of its policy, calls of other hosts. */
  readonly problems: readonly string[];
}

/** A gateway as its operator starts it, with the sandbox alone, and a browser. */
export async function startStand(
  executablePath: string,
  { withKeys = true, yaml = '', args = [] }: StandOptions = {},
): Promise<Stand> {
  build();
  const dataDir = mkdtempSync(path.join(tmpdir(), 'browser-'));
  writeFileSync(path.join(dataDir, 'gateway.yaml'), yaml);
  const env = {
    PATH: process.env['PATH'] ?? '',
    ...(withKeys && { GATEWAY_API_KEY: API_KEY, GATEWAY_MANAGEMENT_KEY: MANAGEMENT_KEY }),
  };
  const command = [path.join(SERVER, 'src/main.ts'), '--port', '0', '--data-dir', dataDir, ...args];
  const child = spawn(process.execPath, command, {
    cwd: dataDir,
    env,
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let output = '';
  child.stdout.setEncoding('utf8').on('data', (text: string) => (output += text));
  child.stderr.setEncoding('utf8').on('data', (text: string) => (output += text));
  const url = await until(
    child,
    () => /listening on (http:\/\/127\.0\.0\.1:\d+)/.exec(output)?.[1],
    () => output,
  );
  const browser = await chromium.launch({ executablePath, args: ['--no-sandbox'] });
  return {
    url,
    managementKey: MANAGEMENT_KEY,
    apiKey: API_KEY,
    dataDir,
    output: () => output,
    browser,
    open: (options) => open(browser, url, options),
    call: (pathname, body, key = MANAGEMENT_KEY, method = 'POST') =>
      fetch(`${url}/v1${pathname}`, {
        headers: { Authorization: `Bearer ${key}`, 'Content-Type': 'application/json' },
        ...(body !== undefined && { method, body: JSON.stringify(body) }),
      }),
    async close() {
      await browser.close();
      const exited = new Promise((resolve) => child.once('exit', resolve));
      child.kill('SIGTERM');
      await exited;
      rmSync(dataDir, { recursive: true, force: true });
    },
  };
}

/** Once for all files: a build that fits is left as it is. */
function build(): void {
  const { status, stdout } = spawnSync(process.execPath, [path.join(ROOT, 'dashboard/build.js')], { encoding: 'utf8' });
  if (status !== 0 || existsSync(path.join(ROOT, 'dashboard/dist/failed.txt')))
    throw new Error(`The dashboard was not built: ${stdout}`);
}

async function until(child: ChildProcess, find: () => string | undefined, output: () => string): Promise<string> {
  for (const endMs = Date.now() + START_MS_MAX; Date.now() < endMs;) {
    const found = find();
    if (found !== undefined) return found;
    if (child.exitCode !== null) throw new Error(`The gateway ended: ${output()}`);
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
  // A child that is left behind keeps the run from ending.
  child.kill('SIGKILL');
  throw new Error(`The gateway does not listen: ${output()}`);
}

async function open(
  browser: Browser,
  url: string,
  { isSignedIn = true, theme = 'dark', width = 1280, timeZone = 'UTC' }: OpenOptions = {},
): Promise<Visit> {
  const context = await browser.newContext({
    viewport: { width, height: 800 },
    colorScheme: theme,
    reducedMotion: 'reduce',
    timezoneId: timeZone,
    permissions: ['clipboard-read', 'clipboard-write'],
  });
  context.on('page', followCalls);
  const page = await context.newPage();
  const problems: string[] = [];
  page.on('pageerror', (error) => problems.push(`error: ${error.message}`));
  page.on(
    'console',
    (message) =>
      message.type() === 'error' && !isRefusal(message.text()) && problems.push(`console: ${message.text()}`),
  );
  page.on(
    'request',
    (request) =>
      !request.url().startsWith(url) &&
      !/^(?:data|blob):/.test(request.url()) &&
      problems.push(`foreign: ${request.url()}`),
  );
  if (isSignedIn) {
    await page.goto(`${url}/`);
    await page.getByLabel('Management key or API key').fill(MANAGEMENT_KEY);
    await page.getByRole('button', { name: 'Sign in' }).click();
    await page.getByRole('heading', { level: 1, name: 'Overview' }).waitFor();
  }
  return { page, context, problems };
}

/** Chromium writes a line for every response that is no 2xx: its message is on the page. */
function isRefusal(text: string): boolean {
  return /^Failed to load resource: the server responded with a status of 4\d\d/.test(text);
}

/** Goes to a page, and waits until its reads are over. */
export async function visit(page: Page, address: string): Promise<void> {
  await page.goto(address);
  await page.locator('h1').first().waitFor();
  await settle(page);
}

const QUIET_MS = 300;
const QUIET_MS_MAX = 20_000;
const OF_WORKER = /\/ui\/(?:api\/live|assets\/worker-)/;
/** Calls of each page that have no response yet. */
const openCalls = new WeakMap<Page, Set<Request>>();

/** Follows the calls of a page, but for those of the worker, whose end no page sees. */
function followCalls(page: Page): void {
  const calls = new Set<Request>();
  openCalls.set(page, calls);
  page.on('request', (request) => !OF_WORKER.test(request.url()) && calls.add(request));
  for (const event of ['requestfinished', 'requestfailed'] as const)
    page.on(event as 'requestfinished', (request) => calls.delete(request));
  page.on('framenavigated', (frame) => frame === page.mainFrame() && calls.clear());
}

/** Waits until no call was open for a moment. */
async function untilQuiet(page: Page): Promise<void> {
  const calls = openCalls.get(page);
  let quietSinceMs = Date.now();
  for (const endMs = Date.now() + QUIET_MS_MAX; Date.now() - quietSinceMs < QUIET_MS;) {
    if (Date.now() > endMs)
      throw new Error(`${page.url()} still waits for ${[...(calls ?? [])].map((call) => call.url()).join(', ')}`);
    await new Promise((resolve) => setTimeout(resolve, 25));
    if (calls === undefined || calls.size > 0) quietSinceMs = Date.now();
  }
}

export async function settle(page: Page): Promise<void> {
  await untilQuiet(page);
  await page.getByRole('status', { name: 'Loading' }).first().waitFor({ state: 'detached' });
}

/** What axe finds by WCAG 2.2 A and AA and its best practices, a line each. */
export async function findWithAxe(page: Page): Promise<readonly string[]> {
  await page.evaluate(AXE);
  const result = await page.evaluate<AxeResult>(
    `axe.run(document, { resultTypes: ['violations'], runOnly: ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa', 'best-practice'] })`,
  );
  return result.violations.flatMap(({ id, nodes }) =>
    nodes
      .slice(0, 3)
      .map(
        ({ html, failureSummary }) =>
          `${id}: ${html.slice(0, 160)} ${failureSummary.replaceAll('\n', ' ').slice(0, 220)}`,
      ),
  );
}

interface AxeResult {
  readonly violations: readonly {
    readonly id: string;
    readonly nodes: readonly { readonly html: string; readonly failureSummary: string }[];
  }[];
}
