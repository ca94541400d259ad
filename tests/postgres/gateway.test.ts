import assert from 'node:assert/strict';
import { after, before, suite, test } from 'node:test';
import OpenAI from 'openai';
import { openDatabase } from '../../src/store/engine/database.ts';
import { systemClock as clock } from '../../src/lib/clock.ts';
import { createLedgerStore } from '../../src/store/usage/ledger.ts';
import { POSTGRES_ENGINES, type Place } from '../support/store/engines.ts';
import { API_KEY, MANAGEMENT_KEY, startGateway, type RunningGateway } from '../support/gateway.ts';
import { chatAnswer, json, startUpstream, type ScriptedUpstream } from '../support/upstream.ts';

/** 10 USD a million tokens each way. */
const configuration = (baseUrl: string): string => `
providers:
  alpha: { adapter: openai-compatible, base_url: ${baseUrl}, api_key: k }
models:
  acme/one:
    endpoints: [{ provider: alpha, model: one, price: { prompt: 10, completion: 10 } }]
`;

for (const { makePlace } of POSTGRES_ENGINES)
  suite('a gateway on PostgreSQL', () => {
    let place: Place;
    let gateway: RunningGateway;
    let upstream: ScriptedUpstream;
    let client: OpenAI;
    before(async () => {
      place = await makePlace();
      upstream = await startUpstream(json(200, chatAnswer('Hello.')));
      gateway = await startGateway({ yaml: configuration(upstream.baseUrl), env: { DATABASE_URL: place.url ?? '' } });
      client = new OpenAI({ baseURL: gateway.baseUrl, apiKey: API_KEY, maxRetries: 0 });
    });
    after(async () => {
      await gateway.close();
      await upstream.close();
      await place.remove();
    });

    const read = async (path: string, key = API_KEY): Promise<Record<string, unknown>> => {
      const answer = await fetch(gateway.baseUrl + path, { headers: { authorization: `Bearer ${key}` } });
      assert.equal(answer.status, 200, path);
      const body: unknown = await answer.json();
      assert.ok(typeof body === 'object' && body !== null && 'data' in body);
      assert.ok(typeof body.data === 'object' && body.data !== null);
      return { ...body.data };
    };

    test('serves a client library, streamed and not', async () => {
      const messages = [{ role: 'user' as const, content: 'Say it again.' }];
      const whole = await client.chat.completions.create({ model: 'sandbox/echo', messages });
      assert.equal(whole.choices[0]?.message.content, 'Say it again.');
      let text = '';
      const stream = await client.chat.completions.create({ model: 'sandbox/echo', messages, stream: true });
      for await (const chunk of stream) text += chunk.choices[0]?.delta.content ?? '';
      assert.equal(text, 'Say it again.');
    });

    test('records the cost of a response in its record, the counters of its key and the ledger', async () => {
      const answer = await client.chat.completions.create({
        model: 'acme/one',
        messages: [{ role: 'user', content: 'Hi' }],
      });
      const tokens = answer.usage?.total_tokens ?? 0;
      assert.ok(tokens > 0);
      const cost = (tokens * 10) / 1e6;
      const record = await read(`/generation?id=${answer.id}`);
      assert.equal(record['total_cost'], cost);
      const key = await read('/key');
      assert.deepEqual([key['usage'], key['usage_daily'], key['byok_usage']], [cost, cost, 0]);
      const database = await openDatabase({ ...place, clock });
      const ledger = createLedgerStore({ database });
      assert.deepEqual(await ledger.totals('default'), { credits: 0, usage: tokens * 10_000 });
      assert.deepEqual((await ledger.verify('default')).differences, []);
      await database.close();
    });

    test('creates, lists, changes and deletes keys, and accepts a name that the database cannot store', async () => {
      const ask = async (method: string, path: string, body?: object) => {
        const answer = await fetch(gateway.baseUrl + path, {
          method,
          headers: { authorization: `Bearer ${MANAGEMENT_KEY}`, 'content-type': 'application/json' },
          ...(body !== undefined && { body: JSON.stringify(body) }),
        });
        return { status: answer.status, text: await answer.text() };
      };
      const made = await ask('POST', '/keys', { name: 'a\0b', limit: 1.5, limit_reset: 'daily' });
      assert.equal(made.status, 201, made.text);
      const hash = /"hash":"([0-9a-f]{64})"/.exec(made.text)?.[1] ?? '';
      assert.match((await ask('GET', '/keys')).text, new RegExp(hash));
      const changed = await ask('PATCH', `/keys/${hash}`, { disabled: true });
      assert.match(changed.text, /"disabled":true/);
      assert.equal((await ask('DELETE', `/keys/${hash}`)).status, 200);
      assert.equal((await ask('GET', `/keys/${hash}`)).status, 404);
    });
  });
