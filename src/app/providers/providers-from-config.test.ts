import assert from 'node:assert/strict';
import { test } from 'node:test';
import { loadConfig } from '../../config/load-config.ts';
import type { Config } from '../../config/config.ts';
import { credentialWarnings, providersFromConfig } from './providers-from-config.ts';

const BASE_URL = 'http://127.0.0.1:1/v1';

function configOf(yaml: string): Config {
  return loadConfig({ argv: ['--config', 'x.yaml'], env: {}, readFile: () => yaml });
}

test('includes providers of endpoints and pass-through models without an entry', () => {
  const config = configOf(
    'models: { "local/*": { provider: ollama }, a/b: { endpoints: [{ provider: xai, model: m }] } }',
  );
  const providers = providersFromConfig(config, {}, BASE_URL);
  assert.deepEqual([...providers.keys()].toSorted(), ['ollama', 'sandbox', 'xai']);
  assert.equal(providers.get('ollama')?.settings.baseUrl, 'http://127.0.0.1:11434/v1');
});

test('cuts a long list of idle endpoints, and ignores a provider with credentials', () => {
  const endpoints = Array.from({ length: 8 }, (_, at) => `{ provider: xai, model: m${at} }`).join(', ');
  const config = configOf(`models: { a/b: { endpoints: [${endpoints}, { provider: groq, model: g }] } }`);
  const providers = providersFromConfig(config, { GROQ_API_KEY: 'k' }, BASE_URL);
  assert.deepEqual(credentialWarnings(config, providers), [
    'The provider xai has no credentials: set XAI_API_KEY, or providers.xai.api_key. Until then these endpoints are never called: a/b (m0), a/b (m1), a/b (m2), a/b (m3), a/b (m4) and 3 more.',
  ]);
});

test('warns of nothing without configuration', () => {
  const config = configOf('');
  assert.deepEqual(credentialWarnings(config, providersFromConfig(config, {}, BASE_URL)), []);
});
