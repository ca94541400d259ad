import assert from 'node:assert/strict';
import { readFile, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { after, before, suite, test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { systemClock } from '../../src/lib/clock.ts';
import { isJsonObject, parseJsonObject, type JsonObject } from '../../src/lib/json.ts';
import { openDatabase } from '../../src/store/engine/database.ts';
import { createContentStore } from '../../src/store/generations/generation-content.ts';
import { API_KEY, MANAGEMENT_KEY, startGateway, type RunningGateway } from '../support/gateway.ts';
import { textOf } from '../support/reported.ts';

const SECRET_WORDS = 'the cat sleeps under the blue stove';

suite('the content of generations', () => {
  let gateway: RunningGateway;
  before(async () => {
    gateway = await startGateway();
  });
  after(() => gateway.close());

  const call = async (method: string, path: string, body?: object, key = MANAGEMENT_KEY) => {
    const answer = await fetch(gateway.baseUrl + path, {
      method,
      headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
      ...(body !== undefined && { body: JSON.stringify(body) }),
    });
    return { status: answer.status, body: parseJsonObject(await answer.text()) ?? {} };
  };
  const turnLogging = async (settings: object): Promise<void> => {
    const { status, body } = await call('PATCH', '/workspaces/default', settings);
    assert.equal(status, 200, JSON.stringify(body));
  };

  async function generate(body: object, key = API_KEY): Promise<string> {
    const answer = await fetch(`${gateway.baseUrl}/chat/completions`, {
      method: 'POST',
      headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
      body: JSON.stringify(body),
    });
    await answer.text();
    return answer.headers.get('x-generation-id') ?? '';
  }
  const ask = (words: string, further: object = {}) =>
    generate({ model: 'sandbox/echo', messages: [{ role: 'user', content: words }], ...further });

  /** Content is written after the answer has left. */
  async function contentOf(id: string): Promise<JsonObject> {
    for (let attempt = 0; ; attempt++) {
      const { status, body } = await call('GET', `/generation/content?id=${id}`);
      if (status === 200 && isJsonObject(body['data'])) return body['data'];
      assert.ok(attempt < 400, JSON.stringify(body));
      await sleep(25);
    }
  }

  // @spec generation-9
  test('is stored nowhere by default', async () => {
    const id = await ask(SECRET_WORDS);
    await sleep(200);
    assert.equal((await call('GET', `/generation/content?id=${id}`)).status, 404);
  });

  // @spec generation-10
  test('is stored encrypted for a workspace that enables it: streamed or not, with reasoning and calls', async () => {
    await turnLogging({ is_observability_io_logging_enabled: true, io_logging_sampling_rate: 1 });
    for (const stream of [false, true]) {
      const content = await contentOf(await ask(SECRET_WORDS, { stream }));
      assert.deepEqual(content['input'], { messages: [{ role: 'user', content: SECRET_WORDS }] });
      assert.deepEqual(content['output'], { completion: SECRET_WORDS, reasoning: null });
      assert.equal(content['error'], null);
    }
    const thought = await contentOf(
      await generate({ model: 'sandbox/reasoning', messages: [{ role: 'user', content: 'Why?' }], stream: true }),
    );
    assert.ok(isJsonObject(thought['output']) && textOf(thought['output']['reasoning']).length > 0);
    const called = await contentOf(
      await generate({
        model: 'sandbox/tools',
        messages: [{ role: 'user', content: 'Go.' }],
        tools: [{ type: 'function', function: { name: 'look', parameters: { type: 'object', properties: {} } } }],
      }),
    );
    assert.match(JSON.stringify(called['output']), /"name":"look"/);
    for (const file of ['gateway.db', 'gateway.db-wal']) {
      const bytes = await readFile(join(gateway.dataDir, file)).catch(() => Buffer.alloc(0));
      assert.ok(!bytes.includes(SECRET_WORDS), `${file} holds no word of it`);
    }
  });

  test('includes the error of a failed request', async () => {
    const content = await contentOf(
      await generate({ model: 'sandbox/error-503', messages: [{ role: 'user', content: SECRET_WORDS }] }),
    );
    assert.ok(isJsonObject(content['error']));
    // By the name that records and errors have, not by the slug.
    assert.equal(content['error']['provider_name'], 'Sandbox');
    assert.match(JSON.stringify(content['error']['previous_errors']), /"provider_name":"Sandbox"/);
    assert.deepEqual(content['output'], { completion: null, reasoning: null });
  });

  // @spec generation-10
  test('excludes media', async () => {
    const pixel = 'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==';
    const parts = [
      { type: 'text', text: 'What is this?' },
      { type: 'image_url', image_url: { url: `data:image/png;base64,${pixel}` } },
    ];
    const content = await contentOf(
      await generate({ model: 'sandbox/echo', messages: [{ role: 'user', content: parts }] }),
    );
    assert.ok(!JSON.stringify(content).includes(pixel.slice(0, 40)));
    assert.match(JSON.stringify(content), /left_out/);
  });

  // @spec generation-9
  test('is visible to its own key and to management keys, and to no other', async () => {
    const id = await ask(SECRET_WORDS);
    await contentOf(id);
    const { body } = await call('POST', '/keys', { name: 'another' });
    assert.equal((await call('GET', `/generation/content?id=${id}`, undefined, textOf(body['key']))).status, 403);
    assert.equal((await call('GET', `/generation/content?id=${id}`, undefined, API_KEY)).status, 200);
    assert.equal((await call('GET', '/generation/content?id=gen-unknown')).status, 404);
  });

  // @spec generation-12
  test('takes feedback for existing generations from management keys', async () => {
    const id = await ask('hello');
    const feedback = { generation_id: id, category: 'latency', comment: 'slow' };
    assert.deepEqual(await call('POST', '/generation/feedback', feedback), {
      status: 200,
      body: { data: { success: true } },
    });
    assert.equal((await call('POST', '/generation/feedback', { ...feedback, generation_id: 'gen-x' })).status, 404);
    assert.equal((await call('POST', '/generation/feedback', { ...feedback, category: 'rude' })).status, 400);
    assert.equal((await call('POST', '/generation/feedback', feedback, API_KEY)).status, 403);
    const { status, body } = await call('GET', `/generation/feedback?id=${id}`);
    assert.equal(status, 200);
    assert.match(
      JSON.stringify(body),
      /"data":\[\{"created_at":"[^"]+","author_key_hash":"[0-9a-f]{64}","category":"latency","comment":"slow"\}\]/,
    );
    assert.equal((await call('GET', `/generation/feedback?id=${id}`, undefined, API_KEY)).status, 403);
  });

  // @spec generation-10
  test('is stored only for the keys that the workspace lists', async () => {
    const { body } = await call('POST', '/keys', { name: 'logged' });
    const hash = isJsonObject(body['data']) ? body['data']['hash'] : '';
    await turnLogging({ io_logging_api_key_hashes: [hash] });
    const kept = await generate(
      { model: 'sandbox/echo', messages: [{ role: 'user', content: 'yes' }] },
      textOf(body['key']),
    );
    await contentOf(kept);
    const other = await ask('no');
    await sleep(200);
    assert.equal((await call('GET', `/generation/content?id=${other}`)).status, 404);
  });
});

test('is stored for the last request before the gateway stops', async () => {
  const gateway = await startGateway();
  try {
    await fetch(`${gateway.baseUrl}/workspaces/default`, {
      method: 'PATCH',
      headers: { authorization: `Bearer ${MANAGEMENT_KEY}` },
      body: JSON.stringify({ is_observability_io_logging_enabled: true }),
    });
    const messages = [{ role: 'user', content: SECRET_WORDS }];
    const answer = await gateway.post('/chat/completions', { model: 'sandbox/echo', messages });
    await answer.text();
    await gateway.app.close();
    const database = await openDatabase({ path: join(gateway.dataDir, 'gateway.db'), clock: systemClock });
    const row = await createContentStore({ database }).find(answer.headers.get('x-generation-id') ?? '');
    await database.close();
    assert.ok(row !== undefined);
  } finally {
    await rm(gateway.dataDir, { recursive: true });
  }
});
