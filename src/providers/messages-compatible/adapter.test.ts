import assert from 'node:assert/strict';
import { test } from 'node:test';
import { messagesCompatibleAdapter } from './adapter.ts';

const timeouts = { connectMs: 1, headersMs: 1, firstTokenMs: 1, idleMs: 1, wholeMs: 1 };
const settings = { slug: 'x', name: 'X', baseUrl: 'http://127.0.0.1:1/v1', headers: {}, timeouts };

test('a key goes out in both headers that hosts read', () => {
  const context = { format: 'messages', settings: { ...settings, apiKey: 'k1' }, model: 'm', stream: false } as const;
  assert.deepEqual(messagesCompatibleAdapter.authorize(context), {
    'anthropic-version': '2023-06-01',
    authorization: 'Bearer k1',
    'x-api-key': 'k1',
  });
});

test('nothing of the vendor alone is taken for granted', () => {
  const dialect = messagesCompatibleAdapter.dialect({ format: 'messages', model: 'claude-opus-5' });
  assert.deepEqual(dialect, { vendor: false, thinking: 'budget', efforts: [], structuredOutput: false });
});

test('an overloaded host is overloaded whatever its status', () => {
  const meaning = messagesCompatibleAdapter.classify?.({ status: 500, error: { type: 'overloaded_error' } });
  assert.equal(meaning?.errorType, 'provider_overloaded');
  assert.equal(meaning?.status, 529);
  assert.equal(messagesCompatibleAdapter.classify?.({ status: 500, error: { type: 'api_error' } }), undefined);
});
