import assert from 'node:assert/strict';
import { suite, test, type TestContext } from 'node:test';
import { DEFAULT_WORKSPACE_ID } from '../../src/accounts/principal.ts';
import { isJsonObject, type Json, type JsonObject } from '../../src/lib/json.ts';
import { manage, textAt } from '../support/byok.ts';
import { API_KEY, type RunningGateway } from '../support/gateway.ts';
import { startTwoProviders, type TwoProviders } from '../support/two-providers.ts';
import { chatAnswer, chatStream, json, messagesAnswer, stream } from '../support/upstream.ts';

const UNKNOWN_WORKSPACE = '11111111-1111-4111-8111-111111111111';
const messages = [{ role: 'user', content: 'hi' }];

function setUp(t: TestContext, options: Partial<Parameters<typeof startTwoProviders>[1]> = {}): Promise<TwoProviders> {
  return startTwoProviders(t, { first: json(200, chatAnswer('fine')), second: json(500, {}), ...options });
}

/** As callers do, with a normal key. */
const call = (gateway: RunningGateway, method: string, path: string, body?: unknown) =>
  manage(gateway, method, path, body, API_KEY);

async function write(
  gateway: RunningGateway,
  slug: string,
  body: object,
  path = '/chat/completions',
): Promise<JsonObject> {
  const reply = await call(gateway, 'POST', `/presets/${slug}${path}`, { messages, ...body });
  assert.equal(reply.status, 200, reply.text);
  return dataOf(reply.body);
}

function dataOf(body: JsonObject): JsonObject {
  assert.ok(isJsonObject(body['data']), JSON.stringify(body));
  return body['data'];
}

function rowsOf(body: JsonObject): readonly Json[] {
  assert.ok(Array.isArray(body['data']));
  return body['data'];
}

suite('presets in requests', () => {
  // @spec preset-6, preset-13
  test('fill in missing fields, named in each of the three ways', async (t) => {
    const { gateway, first } = await setUp(t);
    await write(gateway, 'brief', {
      model: 'acme/first',
      temperature: 0.25,
      messages: [{ role: 'system', content: 'Be brief.' }, ...messages],
    });
    for (const named of [
      { model: '@preset/brief' },
      { model: 'acme/first', preset: 'brief' },
      { model: 'acme/first@preset/brief' },
    ]) {
      const answer = await gateway.post('/chat/completions', { messages, top_p: 0.5, ...named });
      assert.equal(answer.status, 200, await answer.text());
      const { body } = first.arrived.at(-1) ?? assert.fail();
      assert.deepEqual([body['temperature'], body['top_p'], body['model']], [0.25, 0.5, 'one-2026']);
      assert.deepEqual(body['messages'], [{ role: 'system', content: 'Be brief.' }, ...messages]);
      assert.equal(body['preset'], undefined);
      const id = answer.headers.get('x-generation-id') ?? '';
      assert.equal(dataOf((await call(gateway, 'GET', `/generation?id=${id}`)).body)['preset_id'], 'brief');
    }
  });

  // @spec preset-3
  test('refuse an unknown model where it is written', async (t) => {
    const { gateway } = await setUp(t);
    for (const body of [
      { model: 'acme/frist' },
      { models: ['acme/first', 'acme/frist'] },
      { model: 'acme/first', models: ['acme/frist'] },
    ])
      for (const path of ['/chat/completions', '/messages']) {
        const refused = await call(gateway, 'POST', `/presets/new${path}`, { messages, max_tokens: 5, ...body });
        assert.equal(refused.status, 404, refused.text);
        assert.match(refused.text, /acme\/frist/);
        assert.equal((await call(gateway, 'GET', '/presets/new')).status, 404);
      }
    await write(gateway, 'routed', { model: 'service/auto' });
    await write(gateway, 'suffixed', { model: 'acme/first:nitro' });
    await write(gateway, 'open', { temperature: 0 });
  });

  // @spec preset-11
  test('serve requests of the other format', async (t) => {
    const { gateway, first } = await setUp(t, {
      adapter: 'messages-compatible',
      first: json(200, messagesAnswer('fine')),
    });
    await write(gateway, 'of-chat', {
      model: 'acme/first',
      max_completion_tokens: 77,
      stop: 'END',
      messages: [{ role: 'system', content: 'Be brief.' }, ...messages],
    });
    const answer = await gateway.post('/messages', { model: '@preset/of-chat', messages });
    assert.equal(answer.status, 200, await answer.text());
    const { body } = first.arrived[0] ?? assert.fail();
    assert.deepEqual([body['max_tokens'], body['stop_sequences'], body['system']], [77, ['END'], 'Be brief.']);
  });

  // @spec preset-10
  test('yield their instructions to those of the request', async (t) => {
    const { gateway, first } = await setUp(t);
    await write(gateway, 'brief', {
      model: 'acme/first',
      messages: [{ role: 'system', content: 'Be brief.' }, ...messages],
    });
    const own = [{ role: 'system', content: 'Be long.' }, ...messages];
    await gateway.post('/chat/completions', { model: '@preset/brief', messages: own });
    assert.deepEqual(first.arrived[0]?.body['messages'], own);
  });

  test('do not change the paths of errors', async (t) => {
    const { gateway } = await setUp(t);
    await write(gateway, 'brief', {
      model: 'acme/first',
      messages: [{ role: 'system', content: 'Be brief.' }, ...messages],
    });
    const bad = [...messages, { role: 'nobody', content: 'x' }];
    const { status, text } = await call(gateway, 'POST', '/chat/completions', {
      model: '@preset/brief',
      messages: bad,
    });
    assert.equal(status, 400);
    assert.match(text, /messages\[1\]/);
  });

  test('keep numbers as they were written', async (t) => {
    const { gateway, first } = await setUp(t);
    await write(gateway, 'brief', { model: 'acme/first', temperature: 0.5 });
    const text = `{"model":"@preset/brief","seed":12345678901234567890,"messages":${JSON.stringify(messages)}}`;
    assert.equal((await gateway.post('/chat/completions', text)).status, 200);
    assert.match(first.arrived[0]?.text ?? '', /12345678901234567890/);
    assert.equal(first.arrived[0]?.body['temperature'], 0.5);
  });

  // @spec preset-11
  test('work in a stream, with a warning for settings that it cannot express', async (t) => {
    const { gateway, first } = await setUp(t, { first: stream(chatStream('fine')) });
    const nativeTool = { type: 'bash_20250124', name: 'bash' };
    await write(
      gateway,
      'bash',
      { model: 'acme/first', max_tokens: 5, tools: [nativeTool], system: 'Be brief.' },
      '/messages',
    );
    const answer = await gateway.post('/chat/completions', { model: '@preset/bash', stream: true, messages });
    assert.equal(answer.status, 200);
    await answer.text();
    assert.equal(first.arrived[0]?.body['tools'], undefined);
    const record = await gateway.app.generations.find(answer.headers.get('x-generation-id') ?? '');
    assert.ok(record?.warnings.some(({ path }) => path === 'preset.tools[0]'));
  });

  // @spec preset-7
  test('are 404 when unknown, disabled, archived or malformed, and 400 when there are two', async (t) => {
    const { gateway, first } = await setUp(t);
    await write(gateway, 'off', { model: 'acme/first' });
    await manage(gateway, 'PATCH', '/presets/off', { status: 'disabled' });
    await write(gateway, 'gone', { model: 'acme/first' });
    await manage(gateway, 'DELETE', '/presets/gone');
    for (const slug of ['never', 'off', 'gone', 'No Slug', '../keys', '', 'x'.repeat(300)]) {
      for (const path of ['/chat/completions', '/messages', '/route/explain']) {
        const { status, text } = await call(gateway, 'POST', path, { model: `@preset/${slug}`, messages });
        assert.equal(status, 404, `${slug} ${text}`);
      }
    }
    const { status } = await call(gateway, 'POST', '/chat/completions', {
      model: '@preset/off',
      preset: 'gone',
      messages,
    });
    assert.equal(status, 400);
    const list = { model: 'acme/first', models: ['@preset/off'], messages };
    assert.equal((await call(gateway, 'POST', '/chat/completions', list)).status, 200);
    const only = await call(gateway, 'POST', '/chat/completions', { models: ['@preset/off'], messages });
    assert.match(only.text, /cannot name a preset/);
    assert.equal(first.arrived.length, 1);
  });

  test('are included in token counts', async (t) => {
    const { gateway } = await setUp(t);
    const count = async (body: object): Promise<number> =>
      Number((await call(gateway, 'POST', '/messages/count_tokens', { messages, ...body })).body['input_tokens']);
    await write(gateway, 'long', { model: 'acme/first', system: 'Be brief. '.repeat(50), max_tokens: 5 }, '/messages');
    const plain = await count({ model: 'acme/first' });
    assert.ok((await count({ model: '@preset/long' })) > plain + 50);
  });
});

suite('routes of presets', () => {
  // @spec preset-1, preset-5
  test('create a version with each write, which is in use until another is chosen', async (t) => {
    const { gateway, first } = await setUp(t);
    const one = await write(gateway, 'p', { model: 'acme/first', temperature: 0.1 });
    const two = await write(gateway, 'p', { model: 'acme/first', temperature: 0.2 });
    assert.equal(one['id'], two['id']);
    const used = async (): Promise<unknown> => {
      await gateway.post('/chat/completions', { model: '@preset/p', messages });
      return first.arrived.at(-1)?.body['temperature'];
    };
    assert.equal(await used(), 0.2);
    const chosen = await manage(gateway, 'PATCH', '/presets/p', { designated_version: 1, name: 'P', description: 'D' });
    assert.equal(chosen.status, 200, chosen.text);
    assert.equal(await used(), 0.1);
    const read = dataOf((await call(gateway, 'GET', '/presets/p')).body);
    const version = read['designated_version'];
    assert.ok(isJsonObject(version));
    assert.deepEqual(
      [read['name'], read['description'], read['status'], version['version'], version['config']],
      ['P', 'D', 'active', 1, { model: 'acme/first', temperature: 0.1 }],
    );
    const versions = await call(gateway, 'GET', '/presets/p/versions?limit=1&offset=1');
    assert.equal(versions.body['total_count'], 2);
    assert.deepEqual(
      rowsOf(versions.body).map((row) => isJsonObject(row) && row['version']),
      [2],
    );
    assert.equal(dataOf((await call(gateway, 'GET', '/presets/p/versions/2')).body)['version'], 2);
    for (const path of [
      '/presets/p/versions/3',
      '/presets/p/versions/0',
      '/presets/p/versions/x',
      '/presets/q',
      '/presets/q/versions',
    ])
      assert.equal((await call(gateway, 'GET', path)).status, 404, path);
    assert.equal((await manage(gateway, 'PATCH', '/presets/p', { designated_version: 9 })).status, 400);
    assert.equal((await manage(gateway, 'PATCH', '/presets/q', { name: 'Q' })).status, 404);
    assert.equal((await call(gateway, 'PATCH', '/presets/p', { name: 'Q' })).status, 403);
    assert.equal((await call(gateway, 'DELETE', '/presets/p')).status, 403);
  });

  // @spec preset-4
  test('list by the last change, and restore an archived one when it is written again', async (t) => {
    const { gateway } = await setUp(t);
    for (const slug of ['a', 'b']) await write(gateway, slug, { model: 'acme/first' });
    await manage(gateway, 'DELETE', '/presets/a');
    const list = await call(gateway, 'GET', '/presets');
    assert.equal(list.body['total_count'], 2);
    assert.deepEqual(
      new Set(rowsOf(list.body).map((row) => isJsonObject(row) && `${textAt(row, 'slug')} ${textAt(row, 'status')}`)),
      new Set(['a archived', 'b active']),
    );
    assert.equal((await write(gateway, 'a', { model: 'acme/first' }))['status'], 'active');
  });

  // @spec preset-1
  test('reject an invalid request, a bad slug and unknown fields with 400', async (t) => {
    const { gateway } = await setUp(t);
    for (const [path, body] of [
      ['/presets/p/chat/completions', { messages: [] }],
      ['/presets/p/chat/completions', { messages, temperature: 'hot' }],
      ['/presets/p/chat/completions', { messages, model: '@preset/q' }],
      ['/presets/p/chat/completions', []],
      ['/presets/p/messages', { messages, max_tokens: 0 }],
      ['/presets/Not%20a%20slug/chat/completions', { messages }],
      ['/presets/p/chat/completions?workspace=x', { messages }],
    ] as const)
      assert.equal((await call(gateway, 'POST', path, body)).status, 400, path);
    await write(gateway, 'p', {});
    for (const body of [{ slug: 'q' }, { status: 'gone' }, { name: '' }])
      assert.equal((await manage(gateway, 'PATCH', '/presets/p', body)).status, 400);
    assert.equal((await call(gateway, 'GET', '/presets?limit=101')).status, 400);
  });

  test('read and write any workspace with a management key, and none that does not exist', async (t) => {
    const { gateway } = await setUp(t);
    const team = textAt(dataOf((await manage(gateway, 'POST', '/workspaces', { name: 'T', slug: 't' })).body), 'id');
    const path = (workspace: string) => `/presets/p/chat/completions?workspace_id=${workspace}`;
    assert.equal((await manage(gateway, 'POST', path(team), { messages, model: 'acme/first' })).status, 200);
    assert.equal((await manage(gateway, 'GET', `/presets/p?workspace_id=${team}`)).status, 200);
    assert.equal((await manage(gateway, 'GET', '/presets/p')).status, 404, 'nor is it one of the default workspace');
    assert.equal((await call(gateway, 'POST', path(team), { messages })).status, 404, 'not with a key of another');
    const refused = await manage(gateway, 'POST', path(UNKNOWN_WORKSPACE), { messages, model: 'acme/first' });
    assert.equal(refused.status, 400);
    assert.match(refused.text, /workspace_id: is not a workspace/);
    for (const below of ['', '/p', '/p/versions', '/p/versions/1'])
      assert.equal((await manage(gateway, 'GET', `/presets${below}?workspace_id=${UNKNOWN_WORKSPACE}`)).status, 400);
  });

  // @spec preset-5
  test('audit changes of a management key with its workspace, and not those of callers', async (t) => {
    const { gateway } = await setUp(t);
    await write(gateway, 'p', { model: 'acme/first' });
    const input = { messages, model: 'acme/first' };
    assert.equal((await manage(gateway, 'POST', '/presets/p/chat/completions', input)).status, 200);
    assert.equal((await manage(gateway, 'PATCH', '/presets/p', { designated_version: 1 })).status, 200);
    assert.equal((await manage(gateway, 'DELETE', '/presets/p')).status, 200);
    const { body } = await manage(gateway, 'GET', '/audit');
    const events = rowsOf(body).filter(isJsonObject);
    const subject = `/presets/p?workspace_id=${DEFAULT_WORKSPACE_ID}`;
    assert.equal(events.length, 3);
    // Those of one millisecond have no order.
    assert.deepEqual(
      Object.fromEntries(events.map((event) => [event['action'], [event['subject'], event['changes']]])),
      {
        createPresetFromChat: [subject, { messages: '(changed)', model: '(changed)' }],
        updatePreset: [subject, { designated_version: 1 }],
        deletePreset: [subject, {}],
      },
    );
  });

  // @spec preset-14
  test('give each of several concurrent writers a version, or a request to retry', async (t) => {
    const { gateway } = await setUp(t);
    const replies = await Promise.all(
      Array.from({ length: 10 }, () =>
        call(gateway, 'POST', '/presets/p/chat/completions', { messages, model: 'acme/first' }),
      ),
    );
    const written = replies.filter(({ status }) => status === 200);
    assert.ok(replies.every(({ status }) => status === 200 || status === 409));
    const versions = written.map(({ body }) => {
      const version = dataOf(body)['designated_version'];
      return isJsonObject(version) ? version['version'] : undefined;
    });
    assert.equal(new Set(versions).size, written.length);
  });
});
