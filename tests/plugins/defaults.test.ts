import assert from 'node:assert/strict';
import { test, type TestContext } from 'node:test';
import { API_KEY, MANAGEMENT_KEY, type RunningGateway } from '../support/gateway.ts';
import { speakChat, startScriptedFormats } from '../support/upstreams/scripted-formats.ts';

const BROKEN = '{"a": 1,}';
const HEALED = '{"a": 1}';
const HEALING = { id: 'response-healing' };

interface Management {
  readonly status: number;
  readonly data: { readonly hash: string; readonly default_plugins: unknown };
  readonly key: string;
  readonly error: {
    readonly message: string;
    readonly metadata?: { readonly issues?: readonly { readonly path: string }[] };
  };
}

async function start(t: TestContext) {
  const { gateway, chat } = await startScriptedFormats(t);
  chat.script = speakChat(BROKEN);
  return {
    gateway,
    manage: (method: string, path: string, body?: object) => callManagement(gateway, method, path, body),
    /** What the model says with this key. */
    ask: async (key: string, more: object = {}): Promise<string> => {
      const requested = {
        model: 'acme/chat',
        messages: [{ role: 'user', content: 'hi' }],
        response_format: { type: 'json_object' },
      };
      const response = await gateway.post(
        '/chat/completions',
        { ...requested, ...more },
        { authorization: `Bearer ${key}` },
      );
      const { choices } = (await response.json()) as { choices: { message: { content: string } }[] };
      return choices[0]?.message.content ?? '';
    },
  };
}

async function callManagement(
  { baseUrl }: RunningGateway,
  method: string,
  path: string,
  body?: object,
): Promise<Management> {
  const headers = { authorization: `Bearer ${MANAGEMENT_KEY}` };
  const response = await fetch(baseUrl + path, {
    method,
    headers,
    ...(body !== undefined && { body: JSON.stringify(body) }),
  });
  return { status: response.status, ...((await response.json()) as Omit<Management, 'status'>) };
}

// @spec plugin-6
test("runs a workspace's plugin for requests that do not mention it, and lets the request win", async (t) => {
  const { manage, ask } = await start(t);
  assert.equal(await ask(API_KEY), BROKEN);
  const made = await manage('PATCH', '/workspaces/default', { default_plugins: [HEALING] });
  assert.deepEqual(made.data.default_plugins, [{ ...HEALING, enabled: true, prevent_overrides: false }]);
  assert.equal(await ask(API_KEY), HEALED);
  assert.equal(await ask(API_KEY, { plugins: [{ ...HEALING, enabled: false }] }), BROKEN);
  await manage('PATCH', '/workspaces/default', { default_plugins: null });
  assert.equal(await ask(API_KEY), BROKEN);
});

test('prefers the key over its workspace, unless the workspace prevents that', async (t) => {
  const { manage, ask } = await start(t);
  const { key, data } = await manage('POST', '/keys', { name: 'App', default_plugins: [HEALING] });
  assert.equal(await ask(key), HEALED);
  await manage('PATCH', '/workspaces/default', { default_plugins: [{ ...HEALING, enabled: false }] });
  assert.equal(await ask(key), HEALED);
  await manage('PATCH', '/workspaces/default', {
    default_plugins: [{ ...HEALING, enabled: false, prevent_overrides: true }],
  });
  assert.equal(await ask(key), BROKEN);
  assert.equal(await ask(key, { plugins: [HEALING] }), BROKEN);
  assert.deepEqual((await manage('GET', `/keys/${data.hash}`)).data.default_plugins, [
    { ...HEALING, enabled: true, prevent_overrides: false },
  ]);
});

test('rejects a default that no request could use', async (t) => {
  const { manage } = await start(t);
  for (const [entry, path] of [
    [{ id: 'nobody' }, 'default_plugins[0].id'],
    [{ ...HEALING, enabled: 'yes' }, 'default_plugins[0].enabled'],
    [{ ...HEALING, stream: 'yes' }, 'default_plugins[0].stream'],
    [{ ...HEALING, prevent_overrides: 1 }, 'default_plugins[0].prevent_overrides'],
    [{ id: 'context-compression', engine: 'zip' }, 'default_plugins[0].engine'],
  ] as const)
    for (const [method, route] of [
      ['POST', '/keys'],
      ['PATCH', '/workspaces/default'],
    ] as const) {
      const { status, error } = await manage(method, route, {
        ...(method === 'POST' && { name: 'App' }),
        default_plugins: [entry],
      });
      assert.equal(status, 400, JSON.stringify(error));
      assert.equal(error.metadata?.issues?.[0]?.path, path);
    }
});

// @spec plugin-4
test('takes the last of two entries with one id, in a request and in the defaults', async (t) => {
  const { manage, ask } = await start(t);
  const [on, off] = [HEALING, { ...HEALING, enabled: false }];
  assert.equal(await ask(API_KEY, { plugins: [off, on] }), HEALED);
  assert.equal(await ask(API_KEY, { plugins: [on, off] }), BROKEN);
  await manage('PATCH', '/workspaces/default', { default_plugins: [off, on] });
  assert.equal(await ask(API_KEY), HEALED);
});
