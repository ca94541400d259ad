import assert from 'node:assert/strict';
import { test } from 'node:test';
import { redactSecrets } from './redact-secrets.ts';

test('redacts keys with the prefixes of vendors, masked or not', () => {
  const keys = [
    'sk-abcdef123456',
    'sk-ant-api03-AbCdEfGh',
    'sk-abcd****wxyz',
    'gsk_AbCdEfGh1234',
    'xai-AbCdEfGh1234',
    'pplx-AbCdEfGh1234',
    'nvapi-AbCdEfGh1234',
    'mgw-mgmt-AbCdEfGh1234',
    'AIzaSyA1234567890abcdefghij',
    'key-0a1b2c3d4e5f',
    'hf_AbCdEfGh1234',
    'Bearer abc.def',
    'bearer abc.def',
  ];
  for (const key of keys) assert.equal(redactSecrets(`said "${key}" here`), 'said "[redacted]" here', key);
});

test('leaves words of prose and names of parameters alone', () => {
  const text =
    'skip_special_tokens, keyframe_interval, key_frames_interval, hf_generation_config, task-oriented, risk_level';
  assert.equal(redactSecrets(text), text);
});

test('searches a hostile text in linear time', () => {
  const startMs = performance.now();
  redactSecrets('key-'.repeat(50_000) + 'sk-'.repeat(50_000));
  assert.ok(performance.now() - startMs < 5_000);
});
