import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { makeFolder } from '../support/cli/spawn-cli.ts';
import { API_KEY, MANAGEMENT_KEY, startGateway } from '../support/gateway.ts';
import { exchangeRaw, requestHead } from '../support/http/raw-http.ts';

// @spec responses-4, responses-pains-43
test('answers 426 for a WebSocket at once, without a key and on every version of the path', async (t) => {
  const gateway = await startGateway();
  t.after(() => gateway.close());
  for (const path of ['/v1/responses', '/api/v1/responses', '/v1/responses?model=a']) {
    const upgrade = [
      'Upgrade: websocket',
      'Connection: Upgrade',
      'Sec-WebSocket-Version: 13',
      'Sec-WebSocket-Key: eA==',
    ];
    const answer = await exchangeRaw({
      url: gateway.url,
      closes: true,
      send: (socket) => void socket.write(requestHead(`GET ${path}`, ...upgrade)),
    });
    assert.equal(answer.status, 426);
    assert.match(answer.head, /\r\nconnection: close/i);
    const body = JSON.parse(answer.body) as { error: { code: number } };
    assert.equal(body.error.code, 426);
  }
  assert.equal((await fetch(`${gateway.baseUrl}/responses`)).status, 404, 'no upgrade');
});

// @spec responses-5, responses-pains-42
test('gives Codex a list of models that it can read, and others the same as ever', async (t) => {
  const gateway = await startGateway();
  t.after(() => gateway.close());
  const get = async (path: string): Promise<Record<string, unknown>> => {
    const response = await fetch(`${gateway.baseUrl}${path}`, { headers: { authorization: `Bearer ${API_KEY}` } });
    assert.equal(response.status, 200);
    return (await response.json()) as Record<string, unknown>;
  };
  const { models, ...rest } = await get('/models?client_version=0.150.0');
  assert.deepEqual(models, []);
  assert.deepEqual(rest, await get('/models'));
});

const MEMBERS = [
  'slug',
  'display_name',
  'description',
  'default_reasoning_level',
  'supported_reasoning_levels',
  'shell_type',
  'visibility',
  'supported_in_api',
  'priority',
  'additional_speed_tiers',
  'service_tiers',
  'availability_nux',
  'upgrade',
  'base_instructions',
  'supports_reasoning_summaries',
  'default_reasoning_summary',
  'support_verbosity',
  'default_verbosity',
  'apply_patch_tool_type',
  'web_search_tool_type',
  'truncation_policy',
  'supports_parallel_tool_calls',
  'supports_image_detail_original',
  'context_window',
  'max_context_window',
  'auto_compact_token_limit',
  'effective_context_window_percent',
  'experimental_supported_tools',
  'input_modalities',
  'supports_search_tool',
  'use_responses_lite',
];

// @spec responses-5, responses-pains-42
test('gives Codex complete records of models where the operator wants it, without its vendor’s own', async (t) => {
  const file = join(makeFolder(t), 'instructions.md');
  writeFileSync(file, 'Be a good agent.');
  const endpoint = {
    provider: 'one',
    model: 'm',
    price: { prompt: 1, completion: 1 },
  };
  const model = { endpoints: [endpoint], context_length: 1_000, input_modalities: ['text', 'image'] };
  const config = {
    responses: { codex_models: 'list', codex_instructions_file: file },
    providers: { one: { adapter: 'openai-compatible', name: 'One', base_url: 'http://127.0.0.1:1', api_key: 'x' } },
    models: { 'acme/one': model, 'openai/one': model },
  };
  const gateway = await startGateway({ yaml: JSON.stringify(config) });
  t.after(() => gateway.close());
  const response = await fetch(`${gateway.baseUrl}/models?client_version=0.150.0`);
  const { models } = (await response.json()) as { models: readonly Record<string, unknown>[] };
  assert.ok(models.length > 1 && models.every(({ slug }) => slug !== 'openai/one'));
  for (const record of models) assert.deepEqual(Object.keys(record).toSorted(), MEMBERS.toSorted());
  const own = models.find(({ slug }) => slug === 'acme/one');
  assert.deepEqual(
    [own?.['base_instructions'], own?.['context_window'], own?.['input_modalities']],
    ['Be a good agent.', 1_000, ['text', 'image']],
  );
  const forKey = async (key: string): Promise<readonly unknown[]> => {
    const headers = { authorization: `Bearer ${key}` };
    const list = await fetch(`${gateway.baseUrl}/models?client_version=0.150.0`, { headers });
    assert.equal(list.status, 200);
    return ((await list.json()) as { models: readonly Record<string, unknown>[] }).models.map(({ slug }) => slug);
  };
  const manage = { authorization: `Bearer ${MANAGEMENT_KEY}`, 'content-type': 'application/json' };
  const rules = JSON.stringify({ name: 'only', allowed_models: ['sandbox/echo'] });
  const made = await fetch(`${gateway.baseUrl}/guardrails`, { method: 'POST', headers: manage, body: rules });
  const { data: guardrail } = (await made.json()) as { data: { id: string } };
  const issued = await fetch(`${gateway.baseUrl}/keys`, { method: 'POST', headers: manage, body: '{"name":"k"}' });
  const { key, data } = (await issued.json()) as { key: string; data: { hash: string } };
  const assigned = await fetch(`${gateway.baseUrl}/guardrails/${guardrail.id}/assignments/keys`, {
    method: 'POST',
    headers: manage,
    body: JSON.stringify({ key_hashes: [data.hash] }),
  });
  assert.equal(assigned.status, 200);
  assert.deepEqual(await forKey(key), ['sandbox/echo'], 'what the key may use');
  assert.equal((await forKey('wrong')).length, models.length);
  const missing = JSON.stringify({ responses: { codex_models: 'list', codex_instructions_file: `${file}.none` } });
  await assert.rejects(startGateway({ yaml: missing }), /codex_instructions_file.*cannot be read/);
});
