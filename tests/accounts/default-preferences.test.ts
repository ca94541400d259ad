import assert from 'node:assert/strict';
import { test, type TestContext } from 'node:test';
import { MANAGEMENT_KEY } from '../support/gateway.ts';
import { startTwoProviders } from '../support/two-providers.ts';
import { chatAnswer, json } from '../support/upstream.ts';

interface Made {
  readonly data: { readonly id: string; readonly hash: string };
  readonly key: string;
}

async function start(t: TestContext, more = '') {
  const answer = json(200, chatAnswer('well'));
  const { gateway } = await startTwoProviders(t, { first: answer, second: answer, more });
  const manage = async (method: string, path: string, body: object): Promise<Made> => {
    const headers = { authorization: `Bearer ${MANAGEMENT_KEY}` };
    const response = await fetch(gateway.baseUrl + path, { method, headers, body: JSON.stringify(body) });
    const text = await response.text();
    assert.ok(response.ok, text);
    return JSON.parse(text) as Made;
  };
  /** The provider of a request with this key, or the status of the refusal. */
  const ask = async (key: string, body: object = {}): Promise<string | number> => {
    const request = { model: 'acme/both', messages: [{ role: 'user', content: 'Hello' }], ...body };
    const response = await gateway.post('/chat/completions', request, { authorization: `Bearer ${key}` });
    const { provider } = (await response.json()) as { provider?: string };
    return provider ?? response.status;
  };
  return { manage, ask };
}

// @spec route-42
test("prefers the preferences of a key over its workspace's, and those of the request over both", async (t) => {
  const { manage, ask } = await start(t);
  const workspace = await manage('POST', '/workspaces', {
    name: 'Team',
    slug: 'team',
    default_provider_preferences: { order: ['second'] },
  });
  const { key, data } = await manage('POST', '/keys', { name: 'App', workspace_id: workspace.data.id });
  assert.equal(await ask(key), 'Second');
  assert.equal(await ask(key, { provider: { order: ['first'] } }), 'First');
  await manage('PATCH', `/keys/${data.hash}`, { default_provider_preferences: { order: ['first'] } });
  assert.equal(await ask(key), 'First');
  assert.equal(await ask(key, { provider: { order: ['second'] } }), 'Second');
});

test('cannot undo the exclusion of another layer', async (t) => {
  const { manage, ask } = await start(t, 'defaults: { provider: { ignore: [nobody] } }');
  const workspace = await manage('POST', '/workspaces', { name: 'Team', slug: 'team' });
  const { key, data } = await manage('POST', '/keys', { name: 'App', workspace_id: workspace.data.id });
  assert.equal(await ask(key), 'First');
  await manage('PATCH', '/workspaces/team', { default_provider_preferences: { ignore: ['first'] } });
  assert.equal(await ask(key), 'Second');
  assert.equal(await ask(key, { provider: { ignore: [] } }), 'Second');
  await manage('PATCH', `/keys/${data.hash}`, { default_provider_preferences: { only: ['first'] } });
  assert.equal(await ask(key), 404);
  await manage('PATCH', '/workspaces/team', { default_provider_preferences: { zdr: true } });
  assert.equal(await ask(key, { provider: { zdr: false } }), 404, 'no provider here is known to have zero retention');
  await manage('PATCH', '/workspaces/team', { default_provider_preferences: null });
  assert.equal(await ask(key), 'First');
});

// @spec model-5
test("uses the workspace's model for a request that names none", async (t) => {
  const { manage, ask } = await start(t, 'defaults: { model: acme/first }');
  const workspace = await manage('POST', '/workspaces', { name: 'Team', slug: 'team' });
  const { key } = await manage('POST', '/keys', { name: 'App', workspace_id: workspace.data.id });
  assert.equal(await ask(key, { model: undefined }), 'First');
  await manage('PATCH', '/workspaces/team', { default_text_model: 'acme/second' });
  assert.equal(await ask(key, { model: undefined }), 'Second');
});
