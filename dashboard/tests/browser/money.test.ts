import assert from 'node:assert/strict';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import path from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { after, before, suite, test } from 'node:test';
import { findChromium, startStand, visit, type Stand } from './support.ts';

const CHROMIUM = findChromium();
const REQUESTS = 10_000;
const AT_ONCE = 50;
const ANSWER = JSON.stringify({
  id: 'chatcmpl-1',
  object: 'chat.completion',
  created: 1,
  model: 'one',
  choices: [{ index: 0, message: { role: 'assistant', content: 'Hello' }, finish_reason: 'stop' }],
  usage: { prompt_tokens: 1_000, completion_tokens: 10, total_tokens: 1_010 },
});

suite('money', { skip: CHROMIUM === undefined }, () => {
  let stand: Stand;
  let upstream: Server;
  before(async () => {
    upstream = createServer((request, response) =>
      request.resume().on('end', () => response.writeHead(200, { 'content-type': 'application/json' }).end(ANSWER)),
    );
    upstream.listen(0, '127.0.0.1');
    await once(upstream, 'listening');
    const address = upstream.address();
    assert.ok(typeof address === 'object' && address !== null);
    stand = await startStand(CHROMIUM ?? '', {
      yaml: `
providers:
  own: { adapter: openai-compatible, base_url: 'http://127.0.0.1:${address.port}/v1', api_key: a }
models:
  acme/priced: { name: Priced, context_length: 8000, endpoints: [{ provider: own, model: one, price: { prompt: 1.0, completion: 2.0 } }] }
  acme/unpriced: { name: Unpriced, context_length: 8000, endpoints: [{ provider: own, model: one }] }
`,
    });
    for (let at = 0; at < REQUESTS; at += AT_ONCE)
      await Promise.all(Array.from({ length: AT_ONCE }, () => ask(stand, 'acme/priced', stand.apiKey)));
    await ask(stand, 'acme/unpriced', stand.apiKey);
  });
  after(async () => {
    await stand.close();
    upstream.close();
  });

  test('agrees to the nano-dollar, and names the request that differs', async () => {
    const { page, context } = await stand.open();
    await visit(page, `${stand.url}/ui/money?tab=reconcile`);
    await page.getByRole('button', { name: 'Check now' }).click();
    await page.getByText('both sides agree').waitFor();
    await page.getByText('0.000000000 USD').waitFor();
    await page.getByText(`10,000 generations, ${(REQUESTS * 0.001_02).toFixed(9)} USD`).waitFor();
    const [changed] = (await generations(stand)).filter(({ model }) => model === 'acme/priced');
    const database = new DatabaseSync(path.join(stand.dataDir, 'gateway.db'));
    database.prepare('update generations set cost_nano_usd = cost_nano_usd + 1 where id = ?').run(changed?.id ?? '');
    database.close();
    await page.getByRole('button', { name: 'Check now' }).click();
    await page.getByText('they differ').waitFor();
    await page.getByText('0.000000001 USD').waitFor();
    assert.deepEqual(await page.getByRole('table').getByRole('link').allTextContents(), [changed?.id]);
    await context.close();
  });

  test('is unknown where a price is, and sums with such a part are at least', async () => {
    const { page, context } = await stand.open();
    const [unpriced] = (await generations(stand)).filter(({ model }) => model === 'acme/unpriced');
    await visit(page, `${stand.url}/ui/requests/${unpriced?.id ?? ''}`);
    await page.getByText('unknown').first().waitFor();
    await visit(page, `${stand.url}/?range=1h`);
    await page.getByText(/^≥ \d+\.\d+ \$$/).waitFor();
    await page.getByText('1 of unknown price').waitFor();
    await context.close();
  });

  test('of one request is what its record says', async () => {
    const { page, context } = await stand.open();
    const [priced] = (await generations(stand)).filter(
      ({ model, total_cost: usd }) => model === 'acme/priced' && usd === 0.00102,
    );
    await visit(page, `${stand.url}/ui/requests/${priced?.id ?? ''}`);
    await page.getByText('0.001020000', { exact: true }).waitFor();
    await context.close();
  });

  test('is granted once, however often the form is sent', async () => {
    const { page, context } = await stand.open();
    const keys: (string | undefined)[] = [];
    await page.route('**/credits/grants', async (route) => {
      keys.push(route.request().headers()['idempotency-key']);
      const response = await route.fetch();
      // The first answer is lost on its way: the grant is made, and the form does not know.
      await (keys.length === 1 ? route.abort() : route.fulfill({ response }));
    });
    await visit(page, `${stand.url}/ui/money?grant=true`);
    const dialog = page.getByRole('dialog');
    await dialog.getByLabel('USD').fill('7');
    await dialog.getByLabel('Why').fill('twice');
    // Two submits in one task, faster than the button is drawn anew.
    await page.evaluate(
      '(() => { const form = document.querySelector("form"); form.requestSubmit(); form.requestSubmit(); })()',
    );
    await dialog.getByRole('alert').waitFor();
    assert.equal(keys.length, 1);
    await dialog.getByRole('button', { name: 'Grant' }).click();
    await dialog.waitFor({ state: 'detached' });
    const { data } = (await (await stand.call('/credits/entries?kind=grant')).json()) as { data: { note: string }[] };
    assert.deepEqual([keys.length, new Set(keys).size, data.filter(({ note }) => note === 'twice').length], [2, 1, 1]);
    await context.close();
  });

  test('leaves as rows for a spreadsheet, which runs nothing of them', async () => {
    const made = (await (await stand.call('/keys', { name: '=1+1' })).json()) as { readonly key: string };
    await ask(stand, 'acme/priced', made.key);
    const { page, context } = await stand.open();
    await visit(page, `${stand.url}/ui/analytics?range=1h&m=request_count&by=api_key_id`);
    const save = async (button: string): Promise<readonly string[]> => {
      const download = page.waitForEvent('download');
      await page.getByRole('button', { name: button }).click();
      return readFileSync(await (await download).path(), 'utf8')
        .trimEnd()
        .split(/\r?\n/);
    };
    const [note = '', head, ...rows] = await save('Download as CSV');
    assert.match(note, /^"# \{""query"":\{""metrics"":\[""request_count"",/);
    assert.match(note, /""row_count"":2,""truncated"":false\}"$/);
    assert.equal(head, 'api_key_id,api_key_id__id,request_count,unpriced_count');
    assert.ok(
      rows.some((line) => /^'=1\+1,[0-9a-f]{64},1,0$/.test(line)),
      rows.join('\n'),
    );
    const [query, ...lines] = await save('Download as lines of JSON');
    assert.match(query ?? '', /^\{"query":/);
    const counts = lines.map((line) => (JSON.parse(line) as { request_count: number }).request_count);
    assert.deepEqual(
      counts.toSorted((one, other) => one - other),
      [1, REQUESTS + 1],
    );
    await context.close();
  });
});

async function ask(stand: Stand, model: string, key: string): Promise<void> {
  const response = await stand.call(
    '/chat/completions',
    { model, messages: [{ role: 'user', content: 'Hello' }] },
    key,
  );
  assert.equal(response.status, 200, await response.text());
}

interface Row {
  readonly id: string;
  readonly model: string;
  readonly total_cost: number | null;
}

async function generations(stand: Stand): Promise<readonly Row[]> {
  return ((await (await stand.call('/generations')).json()) as { readonly data: readonly Row[] }).data;
}
