import assert from 'node:assert/strict';
import { test } from 'node:test';
import { GatewayError } from '../../../canonical/gateway-error.ts';
import { decodeCountTokens, estimateInputTokens } from './count-tokens.ts';

const HEADERS = { serviceMetadata: false, betas: [] };

function decode(body: object) {
  return decodeCountTokens(body as Parameters<typeof decodeCountTokens>[0], JSON.stringify(body), HEADERS);
}

test('counts a prompt with its instructions and tools', () => {
  const prompt = { model: 'acme/one', messages: [{ role: 'user', content: 'a'.repeat(400) }] };
  const bare = estimateInputTokens(decode(prompt));
  const full = estimateInputTokens(
    decode({
      ...prompt,
      system: 'b'.repeat(400),
      tools: [{ name: 'f', input_schema: { type: 'object' } }],
      thinking: { type: 'adaptive' },
    }),
  );
  assert.ok(bare >= 100 && bare < 120, String(bare));
  assert.ok(full > bare + 100, String(full));
  assert.deepEqual(decode(prompt).directives.models, ['acme/one']);
});

test('accepts a whole request', () => {
  const request = decode({ messages: [{ role: 'user', content: 'a' }], max_tokens: 9, stream: true, temperature: 9 });
  assert.equal(request.delivery, 'whole');
});

test('does not count a line that no model reads', () => {
  const messages = [{ role: 'user', content: 'a' }];
  const rules = { type: 'text', text: 'rules' };
  const count = (nonce: string): number => {
    const line = { type: 'text', text: `x-anthropic-billing-header: cch=${nonce};` };
    return estimateInputTokens(decode({ messages, system: [line, rules] }));
  };
  assert.equal(count('1'), estimateInputTokens(decode({ messages, system: [rules] })));
  assert.equal(count('1f3a'.repeat(100)), count('1'));
});

test('keeps passthrough fields for the counter of a vendor', () => {
  const management = { edits: [{ type: 'clear_tool_uses_20250919' }] };
  const request = decode({ messages: [{ role: 'user', content: 'a' }], context_management: management });
  assert.deepEqual(request.extra, { format: 'messages', fields: { context_management: management } });
});

test('refuses a broken prompt at its path', () => {
  assert.throws(
    () => decode({ messages: [] }),
    (error) => error instanceof GatewayError && error.status === 400 && error.issues?.[0]?.path === 'messages',
  );
});
