import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer } from 'node:http';
import { after, before, suite, test } from 'node:test';
import { chromium } from 'playwright-core';
import { findChromium, startStand, visit, type Stand } from './support.ts';

const CHROMIUM = findChromium();
const WRONG_KEYS = 5;

suite('other origins', { skip: CHROMIUM === undefined }, () => {
  let stand: Stand;
  before(async () => void (stand = await startStand(CHROMIUM ?? '')));
  after(() => stand.close());

  test('on another port read and change nothing with the cookie of the user', async () => {
    const { page, context } = await stand.open();
    const keysBefore = await countKeys(stand);
    const server = createServer((_request, response) =>
      response.writeHead(200, { 'content-type': 'text/html' }).end('<!doctype html><title>other</title>'),
    );
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    const address = server.address();
    assert.ok(typeof address === 'object' && address !== null);
    const token = await page.evaluate<string>(`localStorage.getItem('gateway.console-token')`);
    await page.goto(`http://127.0.0.1:${address.port}/`);
    const call = (init: string): Promise<string> =>
      page.evaluate(
        `fetch('${stand.url}/ui/api/v1/keys', ${init}).then((response) => response.type + response.status, (error) => error.name)`,
      );
    assert.equal(await call(`{ credentials: 'include' }`), 'TypeError');
    assert.equal(await call(`{ credentials: 'include', headers: { 'X-Console-Token': '${token}' } }`), 'TypeError');
    const form = `{ method: 'POST', mode: 'no-cors', credentials: 'include', body: '{"name":"planted"}' }`;
    assert.match(await call(form), /^opaque|TypeError/);
    assert.equal(await countKeys(stand), keysBefore);
    server.close();
    await context.close();
  });

  test('that lead a foreign name to this address get no page', async () => {
    const { port } = new URL(stand.url);
    const browser = await chromium.launch({
      executablePath: CHROMIUM ?? '',
      args: ['--no-sandbox', '--host-resolver-rules=MAP rebound.example 127.0.0.1'],
    });
    const page = await browser.newPage();
    const response = await page.goto(`http://rebound.example:${port}/`);
    assert.equal(response?.status(), 403);
    assert.equal(await page.locator('h1').count(), 0);
    await browser.close();
  });

  test('are sent no page of the dashboard for a path that is none of its own', async () => {
    const { page, context } = await stand.open();
    for (const path of ['/models', '/foo', '/v1/foo']) {
      const response = await page.request.get(stand.url + path, { headers: { accept: 'text/html' } });
      assert.equal(response.status(), 404, path);
      assert.match(response.headers()['content-type'] ?? '', /^application\/json/);
    }
    assert.equal((await page.request.head(stand.url)).status(), 200);
    await visit(page, `${stand.url}/ui/nothing`);
    await page.getByText('There is no page at this address.').waitFor();
    await context.close();
  });

  test('do not guess keys: after five wrong ones the page says when to try again', async () => {
    const { page, context } = await stand.open({ isSignedIn: false });
    await page.goto(stand.url);
    const statuses: number[] = [];
    page.on('response', (response) => {
      if (response.request().method() === 'POST') statuses.push(response.status());
    });
    for (let tries = 0; tries <= WRONG_KEYS; tries += 1) {
      await page.getByLabel('Management key or API key').fill(`mgw-wrong-${tries}`);
      const answered = page.waitForResponse((response) => response.url().endsWith('/ui/api/session'));
      await page.getByRole('button', { name: 'Sign in' }).click();
      await answered;
    }
    assert.deepEqual(statuses, [...Array<number>(WRONG_KEYS).fill(401), 429]);
    await page.getByText(/limit of failed sign-ins is reached.*Try again in \d+ s/).waitFor();
    await context.close();
  });
});

async function countKeys(stand: Stand): Promise<number> {
  const { data } = (await (await stand.call('/keys?include_disabled=true')).json()) as {
    readonly data: readonly unknown[];
  };
  return data.length;
}
