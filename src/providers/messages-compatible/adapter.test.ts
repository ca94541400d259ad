import assert from 'node:assert/strict';
import { test } from 'node:test';
import { TEST_SETTINGS, testCall } from '../../../tests/support/providers/call.ts';
import { messagesCompatibleAdapter } from './adapter.ts';

test('sends a key in both headers that hosts read', () => {
  const call = testCall({ format: 'messages', settings: { ...TEST_SETTINGS, apiKey: 'k1' } });
  assert.deepEqual(messagesCompatibleAdapter.authorize(call), {
    'anthropic-version': '2023-06-01',
    authorization: 'Bearer k1',
    'x-api-key': 'k1',
  });
});

test('assumes nothing that only the vendor has', () => {
  const dialect = messagesCompatibleAdapter.dialect({ format: 'messages', model: 'claude-opus-5' });
  assert.deepEqual(dialect, { vendor: false, thinking: 'budget', efforts: [], structuredOutput: false });
});

test('classifies an overloaded host as overloaded whatever its status', () => {
  const meaning = messagesCompatibleAdapter.classify?.({ status: 500, error: { type: 'overloaded_error' } });
  assert.equal(meaning?.errorType, 'provider_overloaded');
  assert.equal(meaning?.status, 529);
  assert.equal(messagesCompatibleAdapter.classify?.({ status: 500, error: { type: 'api_error' } }), undefined);
});
