import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { suite, test, type TestContext } from 'node:test';
import { setTimeout as wait } from 'node:timers/promises';
import type { JsonObject } from '../../src/lib/json.ts';
import { makeFolder, startGateway as startProcess } from '../support/cli/spawn-cli.ts';
import { startWithWorkers } from '../support/cli/workers.ts';
import { API_KEY, MANAGEMENT_KEY, startGateway, type RunningGateway } from '../support/gateway.ts';
import { redis, useRedis } from '../support/services/redis.ts';
import { checkStream, lastResponse } from '../support/wire/responses/stream-checker.ts';
import { ENGINES } from '../support/store/engines.ts';

const MODEL = 'sandbox/echo';
const SOON_MS = 10_000;

interface Result {
  readonly status: number;
  readonly body: JsonObject;
}

async function call(url: string, method: string, path: string, body?: object, key = API_KEY): Promise<Result> {
  const response = await fetch(`${url}/v1${path}`, {
    method,
    headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json', connection: 'close' },
    ...(body !== undefined && { body: JSON.stringify(body) }),
  });
  return { status: response.status, body: (await response.json()) as JsonObject };
}

const create = (url: string, body: object, key = API_KEY): Promise<Result> =>
  call(url, 'POST', '/responses', { model: MODEL, ...body }, key);

async function createId(url: string, body: object): Promise<string> {
  const { status, body: response } = await create(url, body);
  assert.equal(status, 200, JSON.stringify(response));
  assert.equal(response['store'], true);
  return textOf(response['id']);
}

function textOf(value: unknown): string {
  assert.ok(typeof value === 'string');
  return value;
}

function errorOf({ body }: Result): JsonObject {
  return body['error'] as JsonObject;
}

function itemsOf({ body }: Result): readonly JsonObject[] {
  return body['data'] as readonly JsonObject[];
}

async function issueKey(gateway: RunningGateway): Promise<string> {
  const { body } = await call(gateway.url, 'POST', '/keys', { name: 'other' }, MANAGEMENT_KEY);
  return textOf(body['key']);
}

async function until(isSo: () => Promise<boolean>, what: string): Promise<void> {
  const endMs = performance.now() + SOON_MS;
  while (!(await isSo())) {
    assert.ok(performance.now() < endMs, what);
    await wait(20);
  }
}

/** Gateways that keep responses in the database. */
const DATABASES = ENGINES.map(({ name, isPostgres, makePlace }) => ({
  name,
  start: async (t: TestContext): Promise<RunningGateway> => {
    const place = isPostgres ? await makePlace() : undefined;
    const env = place?.url === undefined ? {} : { DATABASE_URL: place.url, GATEWAY_SECRET: 'a secret of this test' };
    const gateway = await startGateway({ yaml: 'responses: { store: database }', env });
    t.after(async () => {
      await gateway.close();
      await place?.remove();
    });
    return gateway;
  },
}));

const PLACES = [
  {
    name: 'in memory',
    start: async (t: TestContext): Promise<RunningGateway> => {
      const gateway = await startGateway();
      t.after(() => gateway.close());
      return gateway;
    },
  },
  ...DATABASES,
];

for (const { name, start } of PLACES)
  suite(`a kept response: ${name}`, () => {
    // @spec responses-86
    test('is there at once, and is what its caller got', async (t) => {
      const { url } = await start(t);
      const { body: given } = await create(url, { input: 'Hello', instructions: 'Be brief.', metadata: { a: 'b' } });
      const read = await call(url, 'GET', `/responses/${textOf(given['id'])}`);
      assert.equal(read.status, 200);
      assert.deepEqual(read.body, given);
      const streamed = await fetch(`${url}/v1/responses`, {
        method: 'POST',
        headers: { authorization: `Bearer ${API_KEY}` },
        body: JSON.stringify({ model: MODEL, input: 'Hello', stream: true }),
      });
      const terminal = /data: (\{"type":"response\.completed".*\})/.exec(await streamed.text())?.[1] ?? '';
      const { response } = JSON.parse(terminal) as { response: JsonObject };
      const { output_text: text, ...object } = (await call(url, 'GET', `/responses/${textOf(response['id'])}`)).body;
      assert.deepEqual([object, text], [response, 'Hello']);
    });

    // @spec responses-87
    test('is streamed from its beginning, and not from a number on', async (t) => {
      const { url } = await start(t);
      const id = await createId(url, { input: 'Hello' });
      const stream = await fetch(`${url}/v1/responses/${id}?stream=true`, {
        headers: { authorization: `Bearer ${API_KEY}` },
      });
      assert.equal(stream.headers.get('content-type'), 'text/event-stream');
      const events = checkStream(await stream.text());
      const { output_text: text, ...object } = (await call(url, 'GET', `/responses/${id}`)).body;
      assert.deepEqual([lastResponse(events), text], [object, 'Hello']);
      for (const after of ['3', 'x', '-1']) {
        const refused = await call(url, 'GET', `/responses/${id}?stream=true&starting_after=${after}`);
        assert.deepEqual([refused.status, errorOf(refused)['param']], [400, 'starting_after']);
      }
    });

    // @spec responses-88, responses-90, responses-pains-37
    test('is continued with all that it continues itself, and lists that as its input', async (t) => {
      const { url } = await start(t);
      const first = await createId(url, { input: 'My name is Ann.' });
      const second = await createId(url, { input: 'I am nine.', previous_response_id: first });
      const third = await createId(url, { input: 'Who am I?', previous_response_id: second });
      const page = await call(url, 'GET', `/responses/${third}/input_items?order=asc&limit=3`);
      assert.deepEqual([page.status, page.body['has_more']], [200, true]);
      const rest = await call(
        url,
        'GET',
        `/responses/${third}/input_items?order=asc&after=${textOf(page.body['last_id'])}`,
      );
      const texts = [...itemsOf(page), ...itemsOf(rest)].map(({ role, content }) => {
        const [part] = content as readonly JsonObject[];
        return `${textOf(role)}: ${textOf(part?.['text'])}`;
      });
      assert.deepEqual(texts, [
        'user: My name is Ann.',
        'assistant: My name is Ann.',
        'user: I am nine.',
        'assistant: I am nine.',
        'user: Who am I?',
      ]);
      assert.ok(itemsOf(page).every(({ id }) => typeof id === 'string'));
    });

    // @spec responses-91, responses-pains-37
    test('is unknown to other keys, by one text for unknown and foreign', async (t) => {
      const gateway = await start(t);
      const { url } = gateway;
      const key = await issueKey(gateway);
      const id = await createId(url, { input: 'Hello' });
      const foreign = await create(url, { input: 'x', previous_response_id: id }, key);
      const unknown = await create(url, { input: 'x', previous_response_id: 'resp_none' }, key);
      assert.deepEqual([foreign.status, unknown.status], [400, 400]);
      assert.deepEqual(errorOf(foreign), errorOf(unknown));
      assert.equal(errorOf(foreign)['param'], 'previous_response_id');
      assert.equal((errorOf(foreign)['metadata'] as JsonObject)['reason'], 'previous_response_not_found');
      for (const [method, path] of [
        ['GET', `/responses/${id}`],
        ['GET', `/responses/${id}/input_items`],
        ['DELETE', `/responses/${id}`],
        ['POST', `/responses/${id}/cancel`],
      ] as const) {
        const refused = await call(url, method, path, undefined, key);
        assert.deepEqual([refused.status, refused.body['error_type']], [404, 'not_found']);
        assert.equal((await call(url, method, path, undefined, MANAGEMENT_KEY)).status, 403);
      }
    });

    // @spec responses-93, responses-pains-40
    test('is gone when it is deleted, for what continues it, too', async (t) => {
      const { url } = await start(t);
      const first = await createId(url, { input: 'Hello' });
      const second = await createId(url, { input: 'Again', previous_response_id: first });
      const deleted = await call(url, 'DELETE', `/responses/${first}`);
      assert.deepEqual([deleted.status, deleted.body], [200, { id: first, object: 'response', deleted: true }]);
      assert.equal((await call(url, 'DELETE', `/responses/${first}`)).status, 404);
      assert.equal((await call(url, 'GET', `/responses/${first}`)).status, 404);
      const broken = await create(url, { input: 'x', previous_response_id: second });
      assert.equal(broken.status, 400);
      assert.match(textOf(errorOf(broken)['message']), /1 steps before it/);
    });

    // @spec responses-94, responses-95, responses-pains-38
    test('gives its items to references, also when its stream was hung up in the middle', async (t) => {
      const { url } = await start(t);
      const { body: whole } = await create(url, { input: 'Hello' });
      const [said] = whole['output'] as readonly JsonObject[];
      const reference = { type: 'item_reference', id: said?.['id'] };
      const next = [{ role: 'user', content: 'Hello' }, reference, { role: 'user', content: 'And?' }];
      assert.equal((await create(url, { input: next })).status, 200);

      const hangUp = new AbortController();
      const stream = await fetch(`${url}/v1/responses`, {
        method: 'POST',
        headers: { authorization: `Bearer ${API_KEY}` },
        body: JSON.stringify({ model: 'sandbox/long', input: 'tokens=2000 every=20', stream: true }),
        signal: hangUp.signal,
      });
      let text = '';
      const decoder = new TextDecoder();
      for await (const piece of stream.body ?? []) {
        text += decoder.decode(piece as Uint8Array, { stream: true });
        if (text.split('response.output_text.delta').length > 10) break;
      }
      hangUp.abort();
      const id = /"id":"(resp_\w+)"/.exec(text)?.[1] ?? '';
      const itemId = /"item_id":"(\w+)"/.exec(text)?.[1] ?? '';
      await until(async () => (await call(url, 'GET', `/responses/${id}`)).status === 200, 'it is kept');
      const { body: kept } = await call(url, 'GET', `/responses/${id}`);
      assert.deepEqual([kept['status'], kept['error']], ['cancelled', null]);
      assert.notEqual(kept['output_text'], '');
      const after = await create(url, {
        input: [
          { type: 'item_reference', id: itemId },
          { role: 'user', content: 'Go on.' },
        ],
      });
      assert.equal(after.status, 200, JSON.stringify(after.body));
      assert.equal((await create(url, { input: 'Go on.', previous_response_id: id })).status, 200);
    });

    // @spec responses-83
    test('is not kept on request, and then is unknown', async (t) => {
      const { url } = await start(t);
      const { body } = await create(url, { input: 'Hello', store: false });
      assert.equal(body['store'], false);
      assert.equal((await call(url, 'GET', `/responses/${textOf(body['id'])}`)).status, 404);
      const insists = await create(url, { input: 'Hello', store: true, provider: { zdr: true } });
      assert.deepEqual([insists.status, errorOf(insists)['param']], [400, 'store']);
    });
  });

suite('responses that are not kept at all', () => {
  // @spec responses-83, responses-pains-38
  test('are refused where a request needs them, with the key of the configuration', async (t) => {
    const gateway = await startGateway({ yaml: 'responses: { store: off }' });
    t.after(() => gateway.close());
    const { url } = gateway;
    const { status, body } = await create(url, { input: 'Hello' });
    assert.deepEqual([status, body['store']], [200, false]);
    const insists = await create(url, { input: 'Hello', store: true });
    assert.deepEqual([insists.status, errorOf(insists)['param']], [400, 'store']);
    assert.match(textOf(errorOf(insists)['message']), /responses\.store/);
    const refers = await create(url, { input: [{ type: 'item_reference', id: 'msg_1' }] });
    assert.deepEqual([refers.status, errorOf(refers)['param']], [400, 'input[0].id']);
    assert.match(textOf(errorOf(refers)['message']), /store/);
    const read = await call(url, 'GET', `/responses/${textOf(body['id'])}`);
    assert.equal(read.status, 404);
    assert.match(textOf(errorOf(read)['message']), /responses\.store/);
  });
});

suite('responses that several processes keep', () => {
  for (const store of ['memory', 'database'])
    // @spec responses-86, responses-pains-37
    test(`are continued and read by every worker at once: ${store}`, async (t) => {
      const config = join(makeFolder(t), 'gateway.yaml');
      writeFileSync(config, `responses: { store: ${store} }`);
      const gateway = await startWithWorkers(t, ['--config', config]);
      const ids: string[] = [];
      for (let round = 0; round < 8; round++) {
        const previous = ids.at(-1);
        ids.push(await createId(gateway.url, { input: `round ${round}`, previous_response_id: previous }));
      }
      const reads = await Promise.all(ids.map((id) => call(gateway.url, 'GET', `/responses/${id}`)));
      assert.deepEqual(
        reads.map(({ status }) => status),
        ids.map(() => 200),
      );
    });

  // @spec responses-pains-37
  test('are continued by another gateway with the same Redis', { skip: redis === undefined }, async (t) => {
    const { url, prefix } = useRedis(t);
    const config = join(makeFolder(t), 'gateway.yaml');
    writeFileSync(config, '');
    const env = { REDIS_URL: url, REDIS_PREFIX: prefix.slice(1, -2), GATEWAY_API_KEY: API_KEY };
    const options = { args: ['--config', config], env: { ...env, GATEWAY_MANAGEMENT_KEY: MANAGEMENT_KEY } };
    const [one, other] = await Promise.all([startProcess(t, options), startProcess(t, options)]);
    const first = await createId(one.url, { input: 'Hello' });
    const second = await createId(other.url, { input: 'Again', previous_response_id: first });
    assert.equal((await call(one.url, 'GET', `/responses/${second}`)).status, 200);
    assert.equal((await call(other.url, 'DELETE', `/responses/${first}`)).status, 200);
    assert.equal((await create(one.url, { input: 'x', previous_response_id: second })).status, 400);
  });
});
