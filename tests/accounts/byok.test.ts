import assert from 'node:assert/strict';
import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { suite, test, type TestContext } from 'node:test';
import { pino } from 'pino';
import { hashKey } from '../../src/accounts/keys/key-format.ts';
import { isJsonObject, type JsonObject } from '../../src/lib/json.ts';
import { bring, byKey, keysSeen, manage, textAt } from '../support/byok.ts';
import { API_KEY, type RunningGateway } from '../support/gateway.ts';
import { startTwoProviders, type TwoProviders } from '../support/two-providers.ts';
import { chatAnswer, chatStream, json, stream } from '../support/upstream.ts';

const OWN = 'sk-own-canary-0123456789abcdefghijklmnop';
const OTHER = 'sk-other-canary-0123456789abcdefghijklmnop';
const LABEL = 'sk-...mnop';
const SHARED_1 = 'upstream-secret-1';
const SHARED_2 = 'upstream-secret-2';

const fine = json(200, chatAnswer('fine'));
const requested = (model: string, more: object = {}): object => ({
  model,
  messages: [{ role: 'user', content: 'hi' }],
  ...more,
});

function setUp(t: TestContext, options: Partial<Parameters<typeof startTwoProviders>[1]> = {}): Promise<TwoProviders> {
  return startTwoProviders(t, { first: fine, second: fine, ...options });
}

async function ask(
  gateway: RunningGateway,
  body: object,
  key: string = API_KEY,
): Promise<{ readonly status: number; readonly body: JsonObject; readonly text: string; readonly id: string }> {
  const response = await gateway.post('/chat/completions', body, {
    authorization: `Bearer ${key}`,
    'x-service-metadata': 'enabled',
  });
  const text = await response.text();
  const parsed: unknown = JSON.parse(text);
  assert.ok(isJsonObject(parsed), text);
  return { status: response.status, body: parsed, text, id: response.headers.get('x-generation-id') ?? '' };
}

async function explain(
  gateway: RunningGateway,
  model: string,
): Promise<{ readonly status: number; readonly text: string }> {
  const response = await gateway.post('/route/explain', requested(model));
  return { status: response.status, text: await response.text() };
}

function objectAt(body: JsonObject, member: string): JsonObject {
  const value = body[member];
  assert.ok(isJsonObject(value), JSON.stringify(body));
  return value;
}

suite('the choice of a credential', () => {
  test("uses the account's own credential before the gateway's, and falls back to the gateway's when it fails", async (t) => {
    const { gateway, first } = await setUp(t);
    await bring(gateway, 'first', OWN);
    assert.equal((await ask(gateway, requested('acme/first'))).status, 200);
    assert.deepEqual(keysSeen(first), [OWN]);
    for (const status of [401, 403, 429, 500]) {
      first.arrived.length = 0;
      first.script = byKey({ [OWN]: json(status, { error: { message: 'no' } }), [SHARED_1]: fine });
      const { status: answered, body, text } = await ask(gateway, requested('acme/first'));
      assert.equal(answered, 200, text);
      assert.deepEqual(keysSeen(first).at(-1), SHARED_1);
      assert.equal(objectAt(body, 'usage')['is_byok'], false);
    }
  });

  // @spec route-28
  test('uses all BYOK credentials before any shared endpoint, whatever the order of providers', async (t) => {
    const { gateway, first, second } = await setUp(t, { second: json(500, {}) });
    await bring(gateway, 'second', OWN);
    await ask(gateway, requested('acme/both', { provider: { order: ['first', 'second'] } }));
    assert.deepEqual([keysSeen(second), keysSeen(first)], [[OWN], [SHARED_1]]);
  });

  // @spec byok-7
  test('uses the credentials of one provider in their sort order, and fallback ones last', async (t) => {
    const { gateway, first, second } = await setUp(t, { first: json(500, {}), second: json(500, {}) });
    await bring(gateway, 'first', 'sk-fallback-0123456789', { is_fallback: true, sort_order: 0 });
    await bring(gateway, 'first', 'sk-late-0123456789', { sort_order: 5 });
    await bring(gateway, 'first', 'sk-early-0123456789', { sort_order: 1 });
    const { body } = await ask(gateway, requested('acme/both'));
    assert.deepEqual(keysSeen(first), [
      'sk-early-0123456789',
      'sk-late-0123456789',
      SHARED_1,
      'sk-fallback-0123456789',
    ]);
    assert.deepEqual(keysSeen(second), [SHARED_2]);
    const attempts = objectAt(body, 'service_metadata')['attempts'];
    assert.ok(Array.isArray(attempts));
    assert.deepEqual(
      attempts.map((attempt) => attempt.credential),
      ['...', '...', undefined, undefined, '...'],
    );
  });

  // @spec byok-9
  test("skips the gateway's own credential of the provider with always_use", async (t) => {
    const { gateway, first } = await setUp(t, { first: json(429, { error: { message: 'slow down' } }) });
    await bring(gateway, 'first', OWN, { always_use: true });
    const { status } = await ask(gateway, requested('acme/first'));
    assert.equal(status, 429);
    assert.ok(keysSeen(first).every((key) => key === OWN));
  });

  // @spec byok-12
  test("returns the provider's error when a BYOK credential is refused and no other may serve", async (t) => {
    for (const [status, type] of [
      [401, 'authentication'],
      [403, 'permission_denied'],
    ] as const) {
      const { gateway } = await setUp(t, { first: json(status, { error: { message: `bad key ${OWN}` } }) });
      await bring(gateway, 'first', OWN, { always_use: true });
      const { status: answered, body, text } = await ask(gateway, requested('acme/first'));
      const error = objectAt(body, 'error');
      assert.equal(answered, status, text);
      assert.equal(objectAt(error, 'metadata')['error_type'], type);
      assert.match(textAt(error, 'message'), /account's own credential/);
      assert.ok(!text.includes(OWN));
    }
  });

  // @spec byok-11
  test('keeps the other credentials of a provider out of cooldown when one fails', async (t) => {
    const { gateway, first } = await setUp(t);
    first.script = byKey({ [OWN]: json(429, {}, { 'retry-after': '60' }), [OTHER]: fine, [SHARED_1]: fine });
    await bring(gateway, 'first', OWN);
    await bring(gateway, 'first', OTHER);
    for (let request = 0; request < 3; request++)
      assert.equal((await ask(gateway, requested('acme/first'))).status, 200);
    // The first one sent `Retry-After`, so it is not called before that.
    assert.deepEqual(keysSeen(first), [OWN, OTHER, OTHER, OTHER]);
  });

  test('tries only the BYOK credentials of the first endpoint without fallbacks', async (t) => {
    const { gateway, first, second } = await setUp(t, { first: json(500, {}) });
    await bring(gateway, 'first', OWN);
    await bring(gateway, 'first', OTHER);
    await ask(gateway, requested('acme/both', { provider: { allow_fallbacks: false } }));
    assert.deepEqual([keysSeen(first), keysSeen(second)], [[OWN, OTHER], []]);
  });

  // @spec byok-10
  test('allows no endpoint that rules exclude', async (t) => {
    const { gateway, first, second } = await setUp(t);
    await bring(gateway, 'second', OWN);
    await ask(gateway, requested('acme/both', { provider: { ignore: ['second'] } }));
    assert.deepEqual([keysSeen(first), keysSeen(second)], [[SHARED_1], []]);
  });

  test("serves with the account's credential at a provider without a gateway credential", async (t) => {
    const { gateway, second } = await setUp(t, {
      more: '  acme/keyless:\n    name: Keyless\n    endpoints: [{ provider: openai, model: gpt-4o }]',
    });
    const before = await ask(gateway, requested('acme/keyless'));
    assert.equal(before.status, 404);
    assert.match(before.text, /no credentials/);
    assert.equal(second.arrived.length, 0);
    await bring(gateway, 'openai', OWN);
    const explained = await gateway.post('/route/explain', requested('acme/keyless'));
    const candidates: unknown = JSON.parse(await explained.text());
    assert.ok(isJsonObject(candidates) && Array.isArray(candidates['candidates']));
    assert.equal(candidates['candidates'].length, 1);
    assert.equal(candidates['candidates'][0].is_byok, true);
  });

  // @spec byok-15
  test('lists and serves the models of a known provider that is not configured once it has a BYOK credential', async (t) => {
    const { gateway } = await setUp(t);
    const slugs = async (): Promise<string> => (await fetch(`${gateway.baseUrl}/models`)).text();
    assert.ok(!(await slugs()).includes('"anthropic/'));
    await bring(gateway, 'anthropic', OWN);
    const { status, text } = await explain(gateway, 'anthropic/claude-sonnet-4.5');
    assert.equal(status, 200, text);
    assert.match(text, /"is_byok":true/);
    assert.ok((await slugs()).includes('"anthropic/claude-sonnet-4.5"'));
    for (const unknown of ['azure', 'ollama', 'nobody'])
      assert.equal((await manage(gateway, 'POST', '/byok', { provider: unknown, key: OWN })).status, 400);
  });
});

suite('the filters of a credential', () => {
  // @spec byok-3, byok-4
  test('exclude models, keys, members and workspaces that are not listed', async (t) => {
    const { gateway, first } = await setUp(t);
    const made = await manage(gateway, 'POST', '/keys', { name: 'Of a member', creator_user_id: 'user-1' });
    const memberKey = textAt(made.body, 'key');
    const use = async (key?: string): Promise<string | undefined> => {
      first.arrived.length = 0;
      assert.equal((await ask(gateway, requested('acme/first'), key)).status, 200);
      return keysSeen(first)[0];
    };
    const id = textAt(await bring(gateway, 'first', OWN), 'id');
    const narrow = (changes: object) => manage(gateway, 'PATCH', `/byok/${id}`, changes);
    assert.equal(await use(), OWN);
    for (const [changes, normal, member] of [
      [{ allowed_models: ['acme/both'] }, SHARED_1, SHARED_1],
      [{ allowed_models: ['acme/both', 'acme/first'] }, OWN, OWN],
      [{ allowed_models: [] }, SHARED_1, SHARED_1],
      [{ allowed_models: null, allowed_api_key_hashes: [hashKey(memberKey)] }, SHARED_1, OWN],
      [{ allowed_api_key_hashes: null, allowed_user_ids: ['user-2'] }, SHARED_1, SHARED_1],
      [{ allowed_user_ids: ['user-1'] }, SHARED_1, OWN],
      [{ allowed_user_ids: null, disabled: true }, SHARED_1, SHARED_1],
      [{ disabled: false }, OWN, OWN],
    ] as const) {
      assert.equal((await narrow(changes)).status, 200);
      assert.deepEqual([await use(), await use(memberKey)], [normal, member], JSON.stringify(changes));
    }
    assert.equal((await manage(gateway, 'DELETE', `/byok/${id}`)).status, 200);
    assert.equal(await use(), SHARED_1);
  });

  // @spec byok-5
  test('uses a replaced credential at once', async (t) => {
    const { gateway, first } = await setUp(t);
    const id = textAt(await bring(gateway, 'first', OWN), 'id');
    await ask(gateway, requested('acme/first'));
    const { body } = await manage(gateway, 'PATCH', `/byok/${id}`, { key: OTHER });
    assert.equal(objectAt(body, 'data')['label'], LABEL);
    await ask(gateway, requested('acme/first'));
    assert.deepEqual(keysSeen(first), [OWN, OTHER]);
  });
});

suite('the routes of credentials', () => {
  // @spec byok-2
  test('return a record as it was created, and filter and page lists', async (t) => {
    const { gateway } = await setUp(t);
    const hash = hashKey(API_KEY);
    const made = await manage(gateway, 'POST', '/keys', { name: 'Live' });
    const live = hashKey(textAt(made.body, 'key'));
    const record = await bring(gateway, 'first', OWN, {
      name: 'Ours',
      workspace_id: null,
      disabled: true,
      is_fallback: true,
      always_use: true,
      sort_order: 7,
      allowed_models: ['acme/first'],
      allowed_api_key_hashes: [live],
      allowed_user_ids: [],
    });
    const { id, created_at: at, ...rest } = record;
    assert.match(textAt({ id }, 'id'), /^[0-9a-f-]{36}$/);
    assert.ok(!Number.isNaN(Date.parse(textAt({ at }, 'at'))));
    assert.deepEqual(rest, {
      provider: 'first',
      workspace_id: null,
      label: LABEL,
      name: 'Ours',
      disabled: true,
      is_fallback: true,
      is_required: true,
      is_byok_only: false,
      declared_zdr: null,
      always_use: true,
      sort_order: 7,
      allowed_models: ['acme/first'],
      allowed_api_key_hashes: [live],
      allowed_user_ids: [],
    });
    assert.equal((await bring(gateway, 'first', OTHER))['sort_order'], 8);
    assert.equal((await bring(gateway, 'second', OTHER))['sort_order'], 0);
    const list = async (query: string): Promise<unknown> => {
      const { body, text } = await manage(gateway, 'GET', `/byok?${query}`);
      assert.ok(Array.isArray(body['data']), text);
      return [body['total_count'], body['data'].length];
    };
    assert.deepEqual(await list(''), [3, 3]);
    assert.deepEqual(await list('provider=first&limit=1'), [2, 1]);
    assert.deepEqual(await list('provider=nobody'), [0, 0]);
    assert.deepEqual(await list('workspace_id=00000000-0000-4000-8000-000000000001&offset=1'), [2, 1]);
    assert.notEqual(hash, live);
  });

  // @spec byok-1, byok-4
  test('reject invalid input with 400 or 404 and change nothing', async (t) => {
    const { gateway } = await setUp(t);
    const id = textAt(await bring(gateway, 'first', OWN), 'id');
    const unknown = '00000000-0000-4000-8000-00000000dead';
    const good = { provider: 'first', key: OWN };
    for (const [method, path, body, status] of [
      ['POST', '/byok', { provider: 'first' }, 400],
      ['POST', '/byok', { ...good, key: '' }, 400],
      ['POST', '/byok', { ...good, provider: 'nobody' }, 400],
      ['POST', '/byok', { ...good, unknown: 1 }, 400],
      ['POST', '/byok', { ...good, name: 'x'.repeat(256) }, 400],
      ['POST', '/byok', { ...good, allowed_api_key_hashes: [] }, 400],
      ['POST', '/byok', { ...good, allowed_api_key_hashes: ['A'.repeat(64)] }, 400],
      ['POST', '/byok', { ...good, allowed_api_key_hashes: ['a'.repeat(64)] }, 400],
      ['POST', '/byok', { ...good, allowed_models: Array.from({ length: 101 }, () => 'a/b') }, 400],
      ['POST', '/byok', { ...good, workspace_id: unknown }, 400],
      ['PATCH', `/byok/${id}`, { provider: 'second' }, 400],
      ['PATCH', `/byok/${id}`, { key: 'has a blank' }, 400],
      ['PATCH', `/byok/${id}`, { allowed_api_key_hashes: [] }, 400],
      ['PATCH', `/byok/${unknown}`, { name: 'x' }, 404],
      ['GET', `/byok/${unknown}`, undefined, 404],
      ['GET', '/byok/not-an-id', undefined, 404],
      ['DELETE', `/byok/${unknown}`, undefined, 404],
      ['GET', '/byok?limit=101', undefined, 400],
      ['GET', '/byok?unknown=1', undefined, 400],
    ] as const) {
      const reply = await manage(gateway, method, path, body);
      assert.equal(reply.status, status, `${method} ${path} ${reply.text}`);
    }
    const { body } = await manage(gateway, 'GET', '/byok');
    assert.equal(body['total_count'], 1);
    assert.equal((await manage(gateway, 'PATCH', `/byok/${id}`, {})).status, 200);
    assert.equal((await manage(gateway, 'DELETE', `/byok/${id}`)).status, 200);
    assert.equal((await manage(gateway, 'GET', `/byok/${id}`)).status, 404);
    assert.equal((await manage(gateway, 'GET', '/byok', undefined, API_KEY)).status, 403);
  });
});

test('fail no request when credentials change under load', async (t) => {
  const { gateway, first } = await setUp(t);
  const over = new AbortController();
  const changing = (async () => {
    while (!over.signal.aborted) {
      const id = textAt(await bring(gateway, 'first', OWN), 'id');
      await manage(gateway, 'PATCH', `/byok/${id}`, { key: OTHER });
      await manage(gateway, 'DELETE', `/byok/${id}`);
    }
  })();
  const statuses: number[] = [];
  for (let round = 0; round < 10; round++) {
    const replies = await Promise.all(Array.from({ length: 20 }, () => ask(gateway, requested('acme/first'))));
    statuses.push(...replies.map(({ status }) => status));
  }
  over.abort();
  await changing;
  assert.deepEqual(new Set(statuses), new Set([200]));
  assert.ok(keysSeen(first).some((key) => key !== SHARED_1));
});

suite('the cost of a BYOK call', () => {
  // @spec money-40
  test('counts apart from charges, and against a limit only where that includes BYOK', async (t) => {
    const { gateway } = await setUp(t);
    await bring(gateway, 'first', OWN, { always_use: true });
    for (const [includes, statuses] of [
      [false, [200, 200]],
      [true, [200, 402]],
    ] as const) {
      const { body } = await manage(gateway, 'POST', '/keys', {
        name: 'Narrow',
        // The request may cost 0.000034 USD, and costs 0.00002.
        limit: 0.00004,
        include_byok_in_limit: includes,
      });
      const key = textAt(body, 'key');
      const answered: number[] = [];
      for (let request = 0; request < 2; request++)
        answered.push((await ask(gateway, requested('acme/first', { max_tokens: 10 }), key)).status);
      assert.deepEqual(answered, statuses);
      const { usage, byok_usage: byok } = objectAt((await manage(gateway, 'GET', '/key', undefined, key)).body, 'data');
      assert.deepEqual([usage, byok], [0, 0.00002 * answered.filter((status) => status === 200).length]);
    }
  });

  // @spec byok-13, money-10
  test('is zero, and the record has the cost at list price', async (t) => {
    const { gateway } = await setUp(t);
    await bring(gateway, 'first', OWN);
    const { body, id } = await ask(gateway, requested('acme/first'));
    const usage = objectAt(body, 'usage');
    // 10 tokens at 1 USD and 5 at 2 USD a million.
    assert.deepEqual(
      [usage['is_byok'], usage['cost'], objectAt(usage, 'cost_details')['upstream_inference_cost']],
      [true, 0, 0.00002],
    );
    const metadata = objectAt(body, 'service_metadata');
    assert.equal(metadata['is_byok'], true);
    assert.deepEqual(metadata['attempts'], [
      { provider: 'First', model: 'acme/first', status: 200, credential: LABEL },
    ]);
    const record = await manage(gateway, 'GET', `/generation?id=${id}`, undefined, API_KEY);
    assert.equal(objectAt(record.body, 'data')['is_byok'], true);
    const {
      usage: charged,
      upstream_inference_cost: listed,
      provider_responses: responses,
    } = objectAt(record.body, 'data');
    assert.deepEqual([charged, listed], [0, 0.00002]);
    assert.ok(Array.isArray(responses));
    assert.deepEqual([responses[0].is_byok, responses[0].credential], [true, LABEL]);
  });

  // @spec byok-13
  test('is the same in a stream', async (t) => {
    const { gateway } = await setUp(t, { first: stream(chatStream('hello there')) });
    await bring(gateway, 'first', OWN);
    const text = await (await gateway.post('/chat/completions', requested('acme/first', { stream: true }))).text();
    assert.match(text, /"cost":0,.*"is_byok":true/);
  });

  // @spec byok-2
  test('keeps the credential out of everything but the call to its provider', async (t) => {
    const echo = json(400, { error: { message: `I know ${OWN} and ${OTHER}`, code: OWN } });
    const seen: string[] = [];
    const logger = pino({ level: 'trace' }, { write: (line: string) => void seen.push(line) });
    const log = { general: logger, generations: logger, flush: () => undefined };
    const { gateway, first } = await setUp(t, { first: echo, log });
    const record = async (...call: Parameters<typeof manage>) => seen.push((await manage(...call)).text);
    const id = textAt(await bring(gateway, 'first', OWN), 'id');
    await record(gateway, 'GET', '/byok');
    await record(gateway, 'GET', `/byok/${id}`);
    const failed = await ask(gateway, requested('acme/first', { debug: { echo_upstream_body: true } }));
    seen.push(failed.text);
    await record(gateway, 'GET', `/generation?id=${failed.id}`, undefined, API_KEY);
    await record(gateway, 'POST', '/byok', { provider: 'first', key: `${OWN} with a blank` });
    await record(gateway, 'POST', '/byok', { provider: 'nobody', key: OWN });
    await record(gateway, 'PATCH', `/byok/${id}`, { key: OTHER });
    await record(gateway, 'POST', '/route/explain', requested('acme/first'), API_KEY);
    first.script = (_arrived, response) => void response.destroy();
    await ask(gateway, requested('acme/first'));
    assert.ok(keysSeen(first).includes(OWN) && keysSeen(first).includes(OTHER));
    for (const file of await readdir(gateway.dataDir, { recursive: true, withFileTypes: true }))
      if (file.isFile()) seen.push(await readFile(join(file.parentPath, file.name), 'latin1'));
    assert.ok(seen.some((text) => text.includes('"msg":"generation')));
    for (const text of seen) assert.ok(!text.includes(OWN) && !text.includes('0123456789abcdefghijklmnop'), text);
  });
});
