import assert from 'node:assert/strict';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { after, before, suite, test } from 'node:test';
import { findChromium, findWithAxe, startStand, visit, type Stand } from './support.ts';

const CHROMIUM = findChromium();
const MESSAGES = [{ role: 'user', content: 'Hello' }];

function startAnswering(): Promise<Server> {
  const server = createServer((request, response) => {
    request.resume();
    if (request.url?.startsWith('/limited') === true) {
      response.writeHead(429, { 'content-type': 'application/json', 'retry-after': '20' });
      response.end(JSON.stringify({ error: { message: 'Slow down.' } }));
      return;
    }
    const [choice, usage] = [
      { index: 0, finish_reason: 'stop', message: { role: 'assistant', content: 'Hello' } },
      {
        prompt_tokens: 1_234,
        completion_tokens: 567,
        total_tokens: 1_801,
        prompt_tokens_details: { cached_tokens: 234 },
      },
    ];
    response.writeHead(200, { 'content-type': 'application/json' });
    response.end(JSON.stringify({ id: 'c', object: 'chat.completion', choices: [choice], usage }));
  });
  return new Promise((resolve) => server.listen(0, '127.0.0.1', () => resolve(server)));
}

suite('why a request went where it went', { skip: CHROMIUM === undefined }, () => {
  let stand: Stand;
  let upstream: Server;
  before(async () => {
    upstream = await startAnswering();
    const { port } = upstream.address() as AddressInfo;
    const serving = `http://127.0.0.1:${port}/v1`;
    const limited = `http://127.0.0.1:${port}/limited`;
    stand = await startStand(CHROMIUM ?? '', {
      yaml: `
providers:
  alpha: { adapter: openai-compatible, name: Alpha, base_url: '${limited}', api_key: a }
  beta: { adapter: openai-compatible, name: Beta, base_url: '${serving}', api_key: b }
  gamma: { adapter: openai-compatible, name: Gamma, base_url: '${serving}', api_key: c, data_policy: { training: true } }
models:
  acme/one:
    endpoints:
      - { provider: alpha, model: one, price: { prompt: 0.1, completion: 0.2 } }
      - { provider: beta, model: one, price: { prompt: 0.7, completion: 1.3, cache_read: 0.07 } }
      - { provider: gamma, model: one, price: { prompt: 9, completion: 9 } }
  acme/two: { endpoints: [{ provider: gamma, model: two, price: { prompt: 9, completion: 9 } }] }
`,
    });
  });
  after(async () => {
    await stand.close();
    upstream.close();
  });

  const send = async (body: object): Promise<Record<string, unknown>> => {
    const reply = await stand.call('/chat/completions', { messages: MESSAGES, ...body }, stand.apiKey);
    return (await reply.json()) as Record<string, unknown>;
  };

  const savedUsd = async (): Promise<number> => {
    const { data } = (await (await stand.call('/analytics/query', { metrics: ['usage_cache'] })).json()) as {
      readonly data: { readonly data: readonly { readonly usage_cache: number }[] };
    };
    return data.data[0]?.usage_cache ?? 0;
  };

  test('shows both attempts, each endpoint that was left out as explain has it, and lines that add up', async () => {
    const provider = { sort: 'price', max_price: { prompt: 1, completion: 2 } };
    const { id } = await send({ model: 'acme/one', provider });
    const { page, context, problems } = await stand.open();
    await visit(page, `${stand.url}/ui/requests/${String(id)}`);
    await page
      .getByRole('listitem')
      .filter({ hasText: 'refused, so the next one was tried' })
      .getByText('Alpha')
      .waitFor();
    await page.getByRole('listitem').filter({ hasText: 'served' }).getByText('Beta').first().waitFor();
    await page.getByText('costs more than the request allows').waitFor();
    const explained = (await (
      await stand.call('/route/explain', { model: 'acme/one', messages: MESSAGES, provider }, stand.apiKey)
    ).json()) as { readonly excluded: readonly { readonly tag: string; readonly reason: string }[] };
    assert.deepEqual(
      explained.excluded.map(({ tag, reason }) => [tag, reason]),
      [['gamma', 'max_price']],
    );
    const line = async (name: string): Promise<number> => {
      const text = await page
        .locator('dt', { hasText: new RegExp(`^${name}$`) })
        .locator('xpath=following-sibling::dd')
        .first()
        .textContent();
      return Math.round(Number(text) * 1e9);
    };
    const section = page.getByRole('heading', { name: 'Cost in USD' });
    await section.waitFor();
    const [prompt, completion, other, charged] = [
      await line('Prompt'),
      await line('Completion'),
      await line('Searches, files, tools'),
      await line('Charged'),
    ];
    assert.equal(charged, 1_000 * 700 + 234 * 70 + 567 * 1_300);
    assert.equal(prompt + completion + other, charged);
    const { data: record } = (await (await stand.call(`/generation?id=${String(id)}`)).json()) as {
      readonly data: { readonly total_cost: number };
    };
    assert.equal(Math.round(record.total_cost * 1e9), charged);
    assert.deepEqual(await findWithAxe(page), []);
    // The endpoint that wants a pause rests while the next request is planned.
    await send({ model: 'acme/one', provider: { only: ['alpha'] } });
    const { data: failed } = (await (await stand.call('/generations?status=error')).json()) as {
      readonly data: readonly { readonly id: string }[];
    };
    await visit(page, `${stand.url}/ui/requests/${failed[0]?.id ?? ''}`);
    const resting = page.getByRole('listitem').filter({ hasText: /for \d+ s more/ });
    await resting.getByText('alpha').waitFor();
    assert.deepEqual(problems, []);
    await context.close();
  });

  test('counts what the cache saved under the money that was not spent', async () => {
    const earlier = await savedUsd();
    await send({ model: 'acme/one', provider: { only: ['beta'] } });
    const { page, context, problems } = await stand.open();
    await visit(page, `${stand.url}/ui/money?tab=saved`);
    // 234 tokens at 0.07 in place of 0.7 USD a million.
    await page.getByRole('heading', { name: 'By prompt caches, 30 days' }).waitFor();
    await page
      .getByRole('link', { name: 'acme/one' })
      .getByText((earlier + 0.000_147_42).toFixed(6))
      .waitFor();
    assert.deepEqual(await findWithAxe(page), []);
    assert.deepEqual(problems, []);
    await context.close();
  });

  test('names a change of a refused request that lets it pass', async () => {
    await send({ model: 'acme/two', provider: { data_collection: 'deny' } });
    const { data } = (await (await stand.call('/generations?status=error')).json()) as {
      readonly data: readonly { readonly id: string; readonly requested_model: string }[];
    };
    const { page, context } = await stand.open();
    await visit(page, `${stand.url}/ui/requests/${data.find((row) => row.requested_model === 'acme/two')?.id ?? ''}`);
    await page.getByText('What would have let it pass').waitFor();
    await page.getByText('then it may serve').waitFor();
    const change = (await page.getByText(/^\{"provider"/).textContent()) ?? '';
    const body = await send({ model: 'acme/two', ...(JSON.parse(change) as object) });
    assert.equal(body['provider'], 'Gamma');
    await context.close();
  });
});
