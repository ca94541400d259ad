import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { startGateway } from '../support/gateway.ts';
import { speakChat } from '../support/upstreams/scripted-formats.ts';
import { startUpstream } from '../support/upstream.ts';

const upstream = await startUpstream(speakChat('Said in chat.'));
const gateway = await startGateway({
  yaml: `
providers:
  chatty: { adapter: openai-compatible, name: Chatty, base_url: "${upstream.baseUrl}" }
models:
  acme/keyless: { endpoints: [{ provider: anthropic, model: claude-x }, { provider: openai, model: gpt-x }] }
  acme/mixed:
    endpoints:
      - { provider: anthropic, model: claude-x }
      - { provider: chatty, model: one }
`,
});
after(async () => {
  await gateway.close();
  await upstream.close();
});

const messages = [{ role: 'user', content: 'hi' }];

interface Refusal {
  readonly error: {
    readonly code: number;
    readonly message: string;
    readonly metadata: { readonly error_type: string };
    readonly availability: Record<string, unknown>;
  };
  readonly service_metadata: { readonly endpoints: { readonly total: number; readonly available: readonly unknown[] } };
}

for (const path of ['/chat/completions', '/messages'])
  test(`refuses a model whose providers all lack credentials for that reason: ${path}`, async () => {
    const body = { model: 'acme/keyless', max_tokens: 9, messages };
    const response = await gateway.post(path, body, { 'x-service-metadata': 'enabled' });
    assert.equal(response.status, 404);
    const { error, service_metadata: metadata } = (await response.json()) as Refusal;
    assert.equal(
      error.message,
      'The gateway has no credentials for Anthropic, OpenAI, which would serve "acme/keyless". Set ANTHROPIC_API_KEY or OPENAI_API_KEY in its environment.',
    );
    assert.deepEqual(
      [error.code, error.metadata.error_type, error.availability['code'], error.availability['excluded_by']],
      [404, 'not_found', 'no_endpoints', ['credentials']],
    );
    assert.deepEqual(error.availability['affected_providers'], ['anthropic', 'openai']);
    assert.equal(error.availability['retryable'], false);
    assert.deepEqual(metadata.endpoints, { total: 2, available: [] });
  });

test('makes no attempt at an endpoint without credentials when another can serve', async () => {
  const response = await gateway.post(
    '/chat/completions',
    { model: 'acme/mixed', messages },
    {
      'x-service-metadata': 'enabled',
    },
  );
  assert.equal(response.status, 200);
  const { service_metadata: metadata } = (await response.json()) as {
    service_metadata: { attempt: number; attempts: unknown };
  };
  assert.equal(metadata.attempt, 1);
  assert.deepEqual(metadata.attempts, [{ provider: 'Chatty', model: 'acme/mixed', status: 200 }]);
});

// @spec messages-36
test('estimates tokens when the provider has no credentials', async () => {
  const response = await gateway.post('/messages/count_tokens', { model: 'acme/keyless', messages });
  assert.equal(response.status, 200);
  assert.ok(((await response.json()) as { input_tokens: number }).input_tokens > 0);
});
