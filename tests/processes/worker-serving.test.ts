import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { after, before, suite, test } from 'node:test';
import { setTimeout as wait } from 'node:timers/promises';
import { textAt } from '../support/byok.ts';
import { makeFolder } from '../support/cli/spawn-cli.ts';
import { startWithWorkers, type Connection, type GatewayWithWorkers } from '../support/cli/workers.ts';
import { upload } from '../support/files/upload.ts';
import { API_KEY, MANAGEMENT_KEY } from '../support/gateway.ts';
import { parsePrometheus } from '../support/http/prometheus.ts';
import { chatAnswer, json, startUpstream, type ScriptedUpstream } from '../support/upstream.ts';

const ANSWER_USD = 0.001;
const USAGE = { prompt_tokens: 0, completion_tokens: 100, total_tokens: 100 };
const REQUEST = { model: 'acme/one', max_tokens: 100, messages: [{ role: 'user', content: 'hi' }] };
/** So many connections lead to both workers, but for one time in a million. */
const CONNECTIONS = 20;
/** Requests a minute of all callers of `:free` models together. */
const FREE_A_MINUTE = 15;
const SOON_MS = 15_000;
/** The gateway may be writing at this moment. */
const LOCK_MS_MAX = 5_000;

suite('a gateway with two workers', () => {
  const ends: (() => unknown)[] = [];
  const t = { after: (end: () => unknown): void => void ends.push(end) };
  let upstream: ScriptedUpstream;
  let gateway: GatewayWithWorkers;
  let connections: readonly Connection[];
  let configPath = '';
  let dataDir = '';

  const configure = (aliases: string): void =>
    writeFileSync(
      configPath,
      `
rate_limits: { free: { requests_per_minute: ${FREE_A_MINUTE} } }
providers: { alpha: { adapter: openai-compatible, base_url: "${upstream.baseUrl}", api_key: a } }
models:
  acme/one: { endpoints: [{ provider: alpha, model: one, price: { prompt: 0, completion: 10 } }] }
  'acme/one:free': { endpoints: [{ provider: alpha, model: one, price: { prompt: 0, completion: 0 } }] }
${aliases}
`,
    );

  before(async () => {
    upstream = await startUpstream(json(200, chatAnswer('ok', { usage: USAGE })));
    configPath = join(makeFolder(t), 'gateway.yaml');
    configure('');
    dataDir = makeFolder(t);
    gateway = await startWithWorkers(t, ['--config', configPath], { dataDir });
    connections = Array.from({ length: CONNECTIONS }, () => gateway.connect());
    // What a process does for the first time takes it long.
    await everywhere(API_KEY);
  });
  after(async () => {
    for (const connection of connections) connection.close();
    for (const end of ends.toReversed()) await end();
    await upstream.close();
  });

  const manage = async (method: string, path: string, body?: object): Promise<Record<string, unknown>> => {
    const caller = gateway.connect();
    const { status, text } = await caller.call(method, `/v1${path}`, body, MANAGEMENT_KEY);
    caller.close();
    assert.ok(status < 300, text);
    return JSON.parse(text) as Record<string, unknown>;
  };

  /** Statuses of one request on each connection. */
  const everywhere = async (key: string, changes: object = {}): Promise<readonly number[]> => {
    const asked = { ...REQUEST, ...changes };
    const answers = await Promise.all(
      connections.map((connection) => connection.call('POST', '/v1/chat/completions', asked, key)),
    );
    return answers.map(({ status }) => status);
  };

  test('admits ten of 200 concurrent requests on a key with room for ten', async () => {
    const { key } = await manage('POST', '/keys', { name: 'limited', limit: 10 * ANSWER_USD });
    // Those that are admitted are answered once all are decided: until then what they reserve is reserved.
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
    const callers = Array.from({ length: 200 }, () => gateway.connect());
    const statuses = await Promise.all(
      callers.map(async (caller) => {
        const { status } = await caller.call('POST', '/v1/chat/completions', REQUEST, String(key));
        if (status !== 200) decide();
        return status;
      }),
    );
    upstream.script = usual;
    for (const caller of callers) caller.close();
    const count = (status: number): number => statuses.filter((each) => each === status).length;
    assert.deepEqual([count(200), count(402)], [10, 190]);
    assert.deepEqual(new Set(await everywhere(String(key))), new Set([402]));
    const { data } = await manage('GET', '/keys');
    const limited = (data as { name: string; usage: number }[]).find(({ name }) => name === 'limited');
    assert.equal(limited?.usage, 10 * ANSWER_USD, 'the records of both workers are in the store');
  });

  test('admits as many of 60 requests in a minute as the rate limit allows', async () => {
    const statuses: number[] = [];
    for (let round = 0; round < 3; round++) statuses.push(...(await everywhere(API_KEY, { model: 'acme/one:free' })));
    assert.equal(statuses.filter((status) => status === 200).length, FREE_A_MINUTE);
    assert.deepEqual(new Set(statuses), new Set([200, 429]));
  });

  // @spec operation-11
  test('knows in each worker of a change as soon as its author does', async () => {
    const { key, data } = await manage('POST', '/keys', { name: 'changing' });
    const path = `/keys/${(data as { hash: string }).hash}`;
    for (let round = 0; round < 3; round++) {
      assert.deepEqual(new Set(await everywhere(String(key))), new Set([200]));
      await manage('PATCH', path, { disabled: true });
      assert.deepEqual(new Set(await everywhere(String(key))), new Set([401]));
      await manage('PATCH', path, { disabled: false });
    }
    await manage('DELETE', path);
    assert.deepEqual(new Set(await everywhere(String(key))), new Set([401]));
  });

  test('serves what is no generation on the same connection, and finds there what was just generated', async () => {
    for (const connection of connections.slice(0, 6)) {
      const models = await connection.call('GET', '/v1/models');
      assert.match(models.text, /"acme\/one"/);
      const generated = await connection.call('POST', '/v1/chat/completions', REQUEST);
      const { id } = JSON.parse(generated.text) as { id: string };
      const found = await connection.call('GET', `/v1/generation?id=${id}`);
      assert.deepEqual([found.status, found.text.includes(id)], [200, true], found.text);
    }
  });

  test('takes uploads, which every worker can read', async () => {
    const stored = await upload({ baseUrl: `${gateway.url}/v1` }, 'A file of text.'.repeat(100_000));
    assert.equal(stored.status, 200, JSON.stringify(stored.body));
    const content = [{ type: 'file', file: { file_id: textAt(stored.body, 'id') } }];
    assert.deepEqual(new Set(await everywhere(API_KEY, { messages: [{ role: 'user', content }] })), new Set([200]));
  });

  test('lists how fast endpoints are by the answers of all workers', async () => {
    for (let round = 0; round < 3; round++) await everywhere(API_KEY);
    const endMs = performance.now() + SOON_MS;
    const listed = async (): Promise<string> =>
      (await connections[0]?.call('GET', '/v1/models/acme/one/endpoints'))?.text ?? '';
    while (!/"latency_last_30m":\{/.test(await listed())) {
      assert.ok(performance.now() < endMs, await listed());
      await wait(50);
    }
  });

  // @spec operation-8
  test('is not ready once a worker refused a caller since sums lack charges, until they are stored', async () => {
    const readiness = async () => (await fetch(`${gateway.url}/health/ready`)).json() as Promise<object>;
    const { key } = await manage('POST', '/keys', { name: 'unread', limit: 1 });
    // A writer elsewhere: reads go on, writes wait.
    const locker = new DatabaseSync(join(dataDir, 'gateway.db'), { timeout: LOCK_MS_MAX });
    locker.exec('begin immediate');
    assert.deepEqual(new Set(await everywhere(API_KEY)), new Set([200]), 'callers without a limit are served');
    assert.deepEqual(new Set(await everywhere(String(key))), new Set([503]));
    assert.deepEqual(await readiness(), { status: 'unavailable', reason: 'what was spent cannot be read' });
    locker.exec('rollback');
    locker.close();
    const endMs = performance.now() + SOON_MS;
    for (let ready = await readiness(); !('status' in ready && ready.status === 'ok'); ready = await readiness()) {
      assert.ok(performance.now() < endMs, JSON.stringify(ready));
      await wait(50);
    }
    assert.deepEqual(new Set(await everywhere(String(key))), new Set([200]));
  });

  // @spec operation-12
  test('sums up the metrics of all processes', async () => {
    const sample = async (wanted: string) => {
      const samples = parsePrometheus(await (await fetch(`${gateway.url}/metrics`)).text());
      return samples.filter(({ name }) => name === wanted);
    };
    const requests = async (): Promise<number> => {
      const of = (await sample('gateway_requests_total')).filter(({ labels }) => labels['model'] === 'acme/one');
      return of.filter(({ labels }) => labels['status'] === '200').reduce((sum, { value }) => sum + value, 0);
    };
    const beforehand = await requests();
    await everywhere(API_KEY);
    assert.equal((await requests()) - beforehand, CONNECTIONS);
    const processes = (await sample('process_cpu_seconds_total')).map(({ labels }) => labels['worker']);
    assert.deepEqual(
      processes.toSorted((one, other) => String(one).localeCompare(String(other))),
      ['1', '2', 'first'],
    );
  });

  test('takes over a changed configuration in each worker', async () => {
    assert.deepEqual(new Set(await everywhere(API_KEY, { model: 'short' })), new Set([400]));
    configure('aliases: { short: acme/one }');
    gateway.child.kill('SIGHUP');
    const endMs = performance.now() + SOON_MS;
    while (new Set(await everywhere(API_KEY, { model: 'short' })).has(400)) {
      assert.ok(performance.now() < endMs, 'some worker has the old configuration');
      await wait(50);
    }
  });

  test('writes into the log which worker served a request', async () => {
    const endMs = performance.now() + SOON_MS;
    const served = (): number => new Set(gateway.log().match(/"worker":\d,"id":"gen-/g)).size;
    while (served() < 2) {
      assert.ok(performance.now() < endMs, gateway.log().slice(0, 2_000));
      await wait(50);
    }
  });
});
