import assert from 'node:assert/strict';
import { test } from 'node:test';
import { labelOfProvider } from './provider-label.ts';

test('names a provider as its vendor does, and by its slug where the name is that of an adapter', () => {
  assert.equal(labelOfProvider('openai', 'OpenAI'), 'OpenAI');
  assert.equal(labelOfProvider('google-ai-studio', 'Google AI Studio'), 'Google AI Studio');
  assert.equal(labelOfProvider('azure', 'Azure OpenAI'), 'Azure OpenAI');
  assert.equal(labelOfProvider('north', 'OpenAI-compatible'), 'north');
  assert.equal(labelOfProvider(null, 'OpenAI'), 'OpenAI');
  assert.equal(labelOfProvider('north', null), 'north');
  assert.equal(labelOfProvider(null, null), undefined);
});
