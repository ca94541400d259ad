import assert from 'node:assert/strict';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { after, before, suite, test, type TestContext } from 'node:test';
import { setTimeout as wait } from 'node:timers/promises';
import OpenAI from 'openai';
import { systemClock } from '../../src/lib/clock.ts';
import { openDatabase } from '../../src/store/database.ts';
import { createLedgerStore } from '../../src/store/ledger.ts';
import { redis, useRedis } from '../../src/store/shared/test-redis.ts';
import { POSTGRES_ENGINES } from '../../src/store/test-engines.ts';
import { API_KEY, MANAGEMENT_KEY } from '../support/gateway.ts';
import { makeFolder, ROOT, startCli, type CliProcess } from '../support/spawn-cli.ts';
import { chatAnswer, chatStream, json, startUpstream, type ScriptedUpstream } from '../support/upstream.ts';

const PROCESSES = 3;
const ANSWER_USD = 0.001;
const USAGE = { prompt_tokens: 0, completion_tokens: 100, total_tokens: 100 };
const REQUEST = { model: 'acme/one', max_tokens: 100, messages: [{ role: 'user' as const, content: 'hi' }] };
const [engine] = POSTGRES_ENGINES;

suite('three processes behind one address', { skip: engine === undefined || redis === undefined }, () => {
  const ends: (() => unknown)[] = [];
  const t = { after: (end: () => unknown): void => void ends.push(end) } as Pick<TestContext, 'after'>;
  let upstream: ScriptedUpstream;
  let cluster: CliProcess;
  let baseUrl = '';
  let databaseUrl = '';
  before(async () => {
    const place = await engine?.makePlace();
    assert.ok(place?.url !== undefined, 'there is a PostgreSQL');
    databaseUrl = place.url;
    t.after(() => place.remove());
    upstream = await startUpstream(answers());
    t.after(() => upstream.close());
    const { url, prefix } = useRedis(t);
    const folder = makeFolder(t);
    const config = join(folder, 'gateway.yaml');
    await writeFile(
      config,
      `
providers: { alpha: { adapter: openai-compatible, base_url: "${upstream.baseUrl}", api_key: a } }
models: { acme/one: { endpoints: [{ provider: alpha, model: one, price: { prompt: 0, completion: 10 } }] } }
`,
    );
    cluster = startCli(
      t,
      ['--processes', String(PROCESSES), '--port', '0', '--', '--config', config, '--data-dir', folder],
      {
        command: [process.execPath, join(ROOT, 'scripts/cluster.ts')],
        env: {
          DATABASE_URL: databaseUrl,
          REDIS_URL: url,
          REDIS_PREFIX: prefix.slice(1, -2),
          GATEWAY_API_KEY: API_KEY,
          GATEWAY_MANAGEMENT_KEY: MANAGEMENT_KEY,
        },
      },
    );
    const [, address = ''] = await cluster.until(/gateways behind (http:\S+)\n/);
    baseUrl = `${address}/v1`;
  });
  after(async () => {
    // Only by this signal it takes its gateways with it.
    cluster.child.kill('SIGTERM');
    await cluster.exited;
    for (const end of ends.toReversed()) await end();
  });

  function answers() {
    const whole = json(200, chatAnswer('ok', { usage: USAGE }));
    const streamed = chatStream('one two three');
    return (...[arrived, response, request]: Parameters<ReturnType<typeof json>>): void => {
      if (arrived.body['stream'] !== true) void whole(arrived, response, request);
      else response.writeHead(200, { 'content-type': 'text/event-stream' }).end(streamed);
    };
  }

  async function manage(method: string, path: string, body?: object): Promise<Record<string, unknown>> {
    const response = await fetch(baseUrl + path, {
      method,
      // A connection each: every process gets its share.
      headers: { authorization: `Bearer ${MANAGEMENT_KEY}`, 'content-type': 'application/json', connection: 'close' },
      ...(body !== undefined && { body: JSON.stringify(body) }),
    });
    const text = await response.text();
    assert.ok(response.ok, text);
    return JSON.parse(text) as Record<string, unknown>;
  }

  const ask = (key: string, changes: object = {}): Promise<Response> =>
    fetch(`${baseUrl}/chat/completions`, {
      method: 'POST',
      headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json', connection: 'close' },
      body: JSON.stringify({ ...REQUEST, ...changes }),
    });

  test('the official client is served, whichever process it reaches', async () => {
    const client = new OpenAI({ apiKey: API_KEY, baseURL: baseUrl, maxRetries: 0 });
    for (let round = 0; round < 2 * PROCESSES; round++) {
      const answer = await client.chat.completions.create(REQUEST);
      assert.equal(answer.choices[0]?.message.content, 'ok');
      const stream = await client.chat.completions.create({ ...REQUEST, stream: true });
      let text = '';
      for await (const chunk of stream) text += chunk.choices[0]?.delta.content ?? '';
      assert.equal(text, 'one two three');
    }
  });

  test('of 200 requests at once on a key with room for ten, ten reach the upstream over all processes', async () => {
    const { key } = await manage('POST', '/keys', { name: 'limited', limit: 10 * ANSWER_USD });
    const decided = Promise.withResolvers<void>();
    const usual = upstream.script;
    upstream.script = async (...all) => {
      await decided.promise;
      await usual(...all);
    };
    const arrivedBefore = upstream.arrived.length;
    let refusals = 0;
    const statuses = await Promise.all(
      Array.from({ length: 200 }, async () => {
        const response = await ask(String(key));
        await response.arrayBuffer();
        if (response.status === 402 && ++refusals === 190) decided.resolve();
        return response.status;
      }),
    );
    upstream.script = usual;
    assert.equal(upstream.arrived.length - arrivedBefore, 10);
    assert.equal(statuses.filter((status) => status === 200).length, 10);
    assert.equal((await ask(String(key))).status, 402);
  });

  test('a key that one process disables is refused by all', async () => {
    const { key, data } = await manage('POST', '/keys', { name: 'to be disabled' });
    for (let round = 0; round < 2 * PROCESSES; round++) assert.equal((await ask(String(key))).status, 200);
    await manage('PATCH', `/keys/${(data as { hash: string }).hash}`, { disabled: true });
    await wait(500);
    for (let round = 0; round < 2 * PROCESSES; round++) assert.equal((await ask(String(key))).status, 401);
  });

  test('replacing all processes under load fails no request and loses no charge', async () => {
    const over = new AbortController();
    const statuses: number[] = [];
    const failures: unknown[] = [];
    // With connections that stay open, as clients have them.
    const workers = Array.from({ length: 8 }, async (_, worker) => {
      while (!over.signal.aborted)
        try {
          const response = await fetch(`${baseUrl}/chat/completions`, {
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
    const replaced = cluster.until(/all gateways were replaced\n/);
    cluster.child.kill('SIGHUP');
    await replaced;
    over.abort();
    await Promise.all(workers);
    assert.deepEqual(failures, []);
    assert.ok(statuses.length > 50, `${statuses.length} requests were answered meanwhile`);
    assert.deepEqual([...new Set(statuses)], [200]);
    assert.ok((await spent()) > spentBefore);
    const database = await openDatabase({ path: '', url: databaseUrl, clock: systemClock });
    assert.deepEqual(await createLedgerStore({ database }).verify('default'), []);
    await database.close();
  });

  async function spent(): Promise<number> {
    const response = await fetch(`${baseUrl}/key`, { headers: { authorization: `Bearer ${API_KEY}` } });
    return ((await response.json()) as { data: { usage: number } }).data.usage;
  }
});
