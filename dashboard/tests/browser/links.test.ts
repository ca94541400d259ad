import assert from 'node:assert/strict';
import { after, before, suite, test } from 'node:test';
import type { Page } from 'playwright-core';
import { findChromium, settle, startStand, visit, type Stand } from './support.ts';

const CHROMIUM = findChromium();
const YAML = `
providers:
  alpha: { adapter: openai-compatible, base_url: 'http://127.0.0.1:9/v1', api_key: a }
  beta: { adapter: openai-compatible, base_url: 'http://127.0.0.1:9/v1', api_key: b }
models:
  acme/one: { endpoints: [{ provider: alpha, model: one, price: { prompt: 0.1, completion: 0.2 } }, { provider: beta, model: one, price: { prompt: 0.2, completion: 0.4 } }] }
`;

interface Case {
  readonly address: string;
  /** Two steps, each of which the address holds. */
  readonly steps: readonly [(page: Page) => Promise<void>, (page: Page) => Promise<void>];
}

const CASES: Readonly<Record<string, Case>> = {
  Requests: {
    address: '/ui/requests?range=1h&cols=status,model,session&peek=PEEK',
    steps: [
      async (page) => {
        await page.getByLabel(/^Filter requests/).fill('model:sandbox/*');
        await page.keyboard.press('Enter');
        await page.waitForURL(/model=/);
      },
      async (page) => {
        await page.getByRole('button', { name: 'errors' }).click();
        await page.waitForURL(/status=error/);
      },
    ],
  },
  Analytics: {
    address: '/ui/analytics?range=24h&by=model&kind=table',
    steps: [
      async (page) => {
        await page.getByLabel('Metric').selectOption('request_count');
        await page.waitForURL(/m=request_count/);
      },
      async (page) => {
        await page.getByLabel('Second dimension').selectOption('provider');
        await page.waitForURL(/by=model%2Cprovider|by=model,provider/);
      },
    ],
  },
  Models: {
    address: '/ui/models?q=sandbox/e',
    steps: [
      async (page) => {
        await page.getByRole('button', { name: 'price' }).click();
        await page.waitForURL(/sort=price/);
      },
      async (page) => {
        await page.getByRole('button', { name: 'newest' }).click();
        await page.waitForURL(/sort=newest/);
      },
    ],
  },
  Routing: {
    address: '/ui/routing?model=acme/one',
    steps: [
      async (page) => {
        await page
          .getByRole('group', { name: 'Pretend that alpha is' })
          .getByRole('button', { name: 'down', exact: true })
          .click();
        await page.getByText('1 of 2 endpoints may serve it').waitFor();
      },
      async (page) => {
        await page.getByRole('button', { name: 'latency' }).click();
        await page.waitForURL(/sort=latency/);
      },
    ],
  },
};

suite('a link', { skip: CHROMIUM === undefined }, () => {
  let stand: Stand;
  let first = '';
  before(async () => {
    stand = await startStand(CHROMIUM ?? '', { yaml: YAML });
    for (const [model, session] of [
      ['sandbox/echo', 'first'],
      ['sandbox/error-429', 'second'],
    ] as const) {
      const body = { model, session_id: session, messages: [{ role: 'user', content: 'Hello' }] };
      await (await stand.call('/chat/completions', body, stand.apiKey)).text();
      const { data } = (await (await stand.call('/generations')).json()) as {
        readonly data: readonly { id: string }[];
      };
      first ||= data[0]?.id ?? '';
    }
  });
  after(() => stand.close());

  for (const [name, { address, steps }] of Object.entries(CASES))
    test(`to ${name} shows the same after a reload, back, forward and in a second browser`, async () => {
      const { page, context, problems } = await stand.open();
      // Twice, since the first question of a session makes its key, which lists then have.
      for (let at = 0; at < 2; at += 1) await visit(page, stand.url + address.replace('PEEK', first));
      const seen: (readonly string[])[] = [];
      for (const step of steps) {
        await step(page);
        seen.push(await pictureOf(page));
      }
      assert.notDeepEqual(seen[0], seen[1]);
      await page.reload();
      assert.deepEqual(await pictureOf(page), seen[1]);
      await page.goBack();
      assert.deepEqual(await pictureOf(page), seen[0]);
      await page.goForward();
      assert.deepEqual(await pictureOf(page), seen[1]);
      const second = await stand.open();
      await visit(second.page, page.url());
      assert.deepEqual(await pictureOf(second.page), seen[1]);
      assert.deepEqual([...problems, ...second.problems], []);
      await second.context.close();
      await context.close();
    });
});

/** What the page shows: rows, fields, pressed buttons and the panel, without what a clock changes. */
async function pictureOf(page: Page): Promise<readonly string[]> {
  await settle(page);
  const texts = await page.evaluate<string[]>(`[...document.querySelectorAll(
    'main [role=row], main tr, main select, main input, main [aria-pressed], main aside'
  )].map((element) => (element.value ?? '') + ' ' + (element.getAttribute('aria-pressed') ?? '') + ' ' + element.textContent)`);
  return texts.map((text) => text.replaceAll(/\d+ (?:s|min) ago|now/g, 'then'));
}
