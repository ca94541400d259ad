import assert from 'node:assert/strict';
import { test, type TestContext } from 'node:test';
import { MANAGEMENT_KEY, startGateway } from '../support/gateway.ts';

const YAML = `
providers:
  alpha: { adapter: openai-compatible, base_url: 'http://127.0.0.1:9', api_key: a, data_policy: { training: false, retention_days: 0 } }
  beta: { adapter: openai-compatible, base_url: 'http://127.0.0.1:9', api_key: b }
models:
  acme/one: { endpoints: [{ provider: alpha, model: one }, { provider: beta, model: one }] }
  acme/two: { endpoints: [{ provider: beta, model: two }] }
`;

async function start(t: TestContext) {
  const gateway = await startGateway({ yaml: YAML });
  t.after(() => gateway.close());
  const manage = async (method: string, path: string, body: object) => {
    const headers = { authorization: `Bearer ${MANAGEMENT_KEY}` };
    const response = await fetch(gateway.baseUrl + path, { method, headers, body: JSON.stringify(body) });
    assert.ok(response.ok, `${method} ${path}: ${response.status}`);
    return (await response.json()) as { data: { id: string; hash: string; default_guardrail_id: string }; key: string };
  };
  /** What is listed beside the sandbox and what others have brought a credential for. */
  const listed = async (key: string, of = 'acme/'): Promise<readonly string[]> => {
    const headers = { authorization: `Bearer ${key}` };
    const response = await fetch(`${gateway.baseUrl}/models/user`, { headers });
    assert.equal(response.status, 200);
    const { data } = (await response.json()) as { data: { id: string }[] };
    return data.map(({ id }) => id).filter((id) => id.startsWith(of));
  };
  return { manage, listed };
}

// @spec guardrail-16
test('lists for a caller the models that guardrails of its key and its workspace allow', async (t) => {
  const { manage, listed } = await start(t);
  const { data: workspace } = await manage('POST', '/workspaces', { name: 'Team', slug: 'team' });
  const { data, key } = await manage('POST', '/keys', { name: 'App', workspace_id: workspace.id });
  const { key: other } = await manage('POST', '/keys', { name: 'Other' });
  assert.deepEqual(await listed(key), ['acme/one', 'acme/two']);
  const { data: guardrail } = await manage('POST', '/guardrails', { name: 'One', allowed_models: ['acme/one'] });
  await manage('POST', `/guardrails/${guardrail.id}/assignments/keys`, { key_hashes: [data.hash] });
  assert.deepEqual(await listed(key), ['acme/one']);
  await manage('PATCH', `/guardrails/${workspace.default_guardrail_id}`, { ignored_providers: ['alpha', 'beta'] });
  assert.deepEqual(await listed(key), []);
  assert.deepEqual(await listed(other), ['acme/one', 'acme/two']);
});

test('lists for a caller the models that preferences of its key and its workspace allow', async (t) => {
  const { manage, listed } = await start(t);
  const { data: workspace } = await manage('POST', '/workspaces', { name: 'Team', slug: 'team' });
  const { data, key } = await manage('POST', '/keys', { name: 'App', workspace_id: workspace.id });
  await manage('PATCH', '/workspaces/team', { default_provider_preferences: { zdr: true } });
  assert.deepEqual(await listed(key), ['acme/one']);
  await manage('PATCH', `/keys/${data.hash}`, { default_provider_preferences: { only: ['beta'] } });
  assert.deepEqual(await listed(key), []);
});

test('hides a model that only a credential of another workspace enables', async (t) => {
  const { manage, listed } = await start(t);
  const { data: workspace } = await manage('POST', '/workspaces', { name: 'Team', slug: 'team' });
  const { key } = await manage('POST', '/keys', { name: 'App', workspace_id: workspace.id });
  const { key: other } = await manage('POST', '/keys', { name: 'Other' });
  await manage('POST', '/byok', { provider: 'anthropic', key: 'sk-ant-of-the-team', workspace_id: workspace.id });
  assert.notDeepEqual(await listed(key, 'anthropic/'), []);
  assert.deepEqual(await listed(other, 'anthropic/'), []);
});
