import assert from 'node:assert/strict';
import { after, before, suite, test } from 'node:test';
import { systemClock } from '../../src/lib/clock.ts';
import { openDatabase } from '../../src/store/engine/database.ts';
import { createLedgerStore } from '../../src/store/usage/ledger.ts';
import { canCluster, startCluster, type Cluster } from '../support/cluster/cluster.ts';
import { API_KEY } from '../support/gateway.ts';
import { chatAnswer, chatStream, json, startUpstream, type ScriptedUpstream } from '../support/upstream.ts';

const PROCESSES = 3;
const HEARD_MS_MAX = 3_000;
const ANSWER_USD = 0.001;
const USAGE = { prompt_tokens: 0, completion_tokens: 100, total_tokens: 100 };
const REQUEST = { model: 'acme/one', max_tokens: 100, messages: [{ role: 'user' as const, content: 'hi' }] };
/** Requests a minute of all callers of `:free` models together. */
const FREE_A_MINUTE = 15;

suite('three processes behind one address', { skip: !canCluster }, () => {
  let upstream: ScriptedUpstream;
  let cluster: Cluster;
  before(async () => {
    upstream = await startUpstream(answers());
    cluster = await startCluster(`
rate_limits: { free: { requests_per_minute: ${FREE_A_MINUTE} } }
providers: { alpha: { adapter: openai-compatible, base_url: "${upstream.baseUrl}", api_key: a } }
models:
  acme/one: { endpoints: [{ provider: alpha, model: one, price: { prompt: 0, completion: 10 } }] }
  'acme/one:free': { endpoints: [{ provider: alpha, model: one, price: { prompt: 0, completion: 0 } }] }
`);
    // What a process does for the first time takes it long, and longest where all of them start on a busy machine.
    for (let round = 0; round < 2 * PROCESSES; round++) assert.equal((await ask(API_KEY)).status, 200);
  });
  after(async () => {
    await cluster.close();
    await upstream.close();
  });

  function answers() {
    const whole = json(200, chatAnswer('ok', { usage: USAGE }));
    const streamed = chatStream('one two three');
    return (...[arrived, response, request]: Parameters<ReturnType<typeof json>>): void => {
      if (arrived.body['stream'] !== true) void whole(arrived, response, request);
      else response.writeHead(200, { 'content-type': 'text/event-stream' }).end(streamed);
    };
  }

  const ask = (key: string, changes: object = {}): Promise<Response> =>
    fetch(`${cluster.baseUrl}/chat/completions`, {
      method: 'POST',
      headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json', connection: 'close' },
      body: JSON.stringify({ ...REQUEST, ...changes }),
    });

  test('admit ten of 200 concurrent requests on a key with room for ten, over all processes', async () => {
    const { key } = await cluster.manage('POST', '/keys', { name: 'limited', limit: 10 * ANSWER_USD });
    // The ones that are let through are answered once all are decided: until then what they hold is held.
    const allDecided = Promise.withResolvers<void>();
    let undecided = 200;
    const decide = (): void => {
      if (--undecided === 0) allDecided.resolve();
    };
    const usual = upstream.script;
    upstream.script = async (...all) => {
      decide();
      await allDecided.promise;
      await usual(...all);
    };
    const arrivedBefore = upstream.arrived.length;
    const statuses = await Promise.all(
      Array.from({ length: 200 }, async () => {
        let status = 0;
        try {
          const response = await ask(String(key));
          await response.arrayBuffer();
          status = response.status;
        } finally {
          if (status !== 200) decide();
        }
        return status;
      }),
    );
    upstream.script = usual;
    assert.equal(upstream.arrived.length - arrivedBefore, 10);
    const count = (status: number): number => statuses.filter((each) => each === status).length;
    assert.deepEqual([count(200), count(402)], [10, 190]);
    assert.equal((await ask(String(key))).status, 402);
  });

  test('admit as many of 60 requests in a minute as the rate limit allows, over all processes', async () => {
    const arrivedBefore = upstream.arrived.length;
    const responses = await Promise.all(Array.from({ length: 60 }, () => ask(API_KEY, { model: 'acme/one:free' })));
    const refused = responses.filter(({ status }) => status === 429);
    for (const response of responses) await response.arrayBuffer();
    assert.deepEqual(new Set(responses.map(({ status }) => status)), new Set([200, 429]));
    assert.equal(refused.length, 60 - FREE_A_MINUTE);
    assert.equal(upstream.arrived.length - arrivedBefore, FREE_A_MINUTE);
    for (const { headers } of refused) assert.ok(Number(headers.get('retry-after')) >= 1);
  });

  test('refuse a key everywhere that one process disabled', async () => {
    const { key, data } = await cluster.manage('POST', '/keys', { name: 'to be disabled' });
    for (let round = 0; round < 2 * PROCESSES; round++) assert.equal((await ask(String(key))).status, 200);
    await cluster.manage('PATCH', `/keys/${(data as { hash: string }).hash}`, { disabled: true });
    // Each process hears of it by itself; on a busy machine that takes a moment.
    const endMs = performance.now() + HEARD_MS_MAX;
    for (let refused = 0; refused < 2 * PROCESSES;) {
      const { status } = await ask(String(key));
      refused = status === 401 ? refused + 1 : 0;
      assert.ok(status === 401 || performance.now() < endMs, 'it is still served');
    }
  });

  test('fail no request and lose no charge while all are replaced under load', async () => {
    const over = new AbortController();
    const statuses: number[] = [];
    const failures: unknown[] = [];
    // With connections that stay open, as clients have them.
    const workers = Array.from({ length: 8 }, async (_, worker) => {
      while (!over.signal.aborted)
        try {
          const response = await fetch(`${cluster.baseUrl}/chat/completions`, {
            method: 'POST',
            headers: { authorization: `Bearer ${API_KEY}`, 'content-type': 'application/json' },
            body: JSON.stringify({ ...REQUEST, stream: worker % 2 === 0 }),
          });
          const text = await response.text();
          assert.ok(response.status !== 200 || worker % 2 !== 0 || text.endsWith('data: [DONE]\n\n'), 'a cut stream');
          statuses.push(response.status);
        } catch (error) {
          failures.push(error);
        }
    });
    const spentBefore = await spent();
    await cluster.replaceAll();
    over.abort();
    await Promise.all(workers);
    assert.deepEqual(failures, []);
    assert.ok(statuses.length > 50, `${statuses.length} requests were answered meanwhile`);
    assert.deepEqual([...new Set(statuses)], [200]);
    assert.ok((await spent()) > spentBefore);
    const database = await openDatabase({ path: '', url: cluster.databaseUrl, clock: systemClock });
    assert.deepEqual((await createLedgerStore({ database }).verify('default')).differences, []);
    await database.close();
  });

  async function spent(): Promise<number> {
    const response = await fetch(`${cluster.baseUrl}/key`, { headers: { authorization: `Bearer ${API_KEY}` } });
    return ((await response.json()) as { data: { usage: number } }).data.usage;
  }
});
