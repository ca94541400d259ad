import assert from 'node:assert/strict';
import { test } from 'node:test';
import { classifyStatus } from '../../canonical/failure/classify-failure.ts';
import type { ProviderSettings } from '../../providers/contract.ts';
import { redactSecrets } from './redact-secrets.ts';

const KEY = 'plain~key~without~a~known~beginning';
const settings: ProviderSettings = {
  slug: 'acme',
  name: 'Acme',
  baseUrl: 'https://acme.example.com/v1',
  apiKey: KEY,
  headers: { 'x-team-secret': 'team-secret-0123', 'x-mode': 'fast' },
  timeouts: { connectMs: 1, headersMs: 1, firstTokenMs: 1, idleMs: 1, wholeMs: 1 },
};

function stated(message: string, code?: string): { readonly message: string; readonly code: string } {
  const failure = classifyStatus(400, { message, ...(code !== undefined && { code }) });
  const { upstreamMessage = '', providerCode = '' } = redactSecrets(failure, settings);
  return { message: upstreamMessage, code: providerCode };
}

// @spec error-18
test('removes a key that an upstream repeats, at any place', () => {
  const { message, code } = stated(`Bad key ${KEY} (${KEY}), team-secret-0123`, KEY);
  assert.equal(message, 'Bad key [redacted] ([redacted]), [redacted]');
  assert.equal(code, '[redacted]');
});

test('removes a key that was cut at the end of a long message, too', () => {
  assert.ok(!stated(`${'x'.repeat(1_980)}${KEY}`).message.includes(KEY.slice(0, 8)));
});

test('keeps short values of headers, which are words rather than secrets', () => {
  assert.equal(stated('too fast').message, 'too fast');
});
