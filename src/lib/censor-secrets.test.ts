import assert from 'node:assert/strict';
import { test } from 'node:test';
import { censorSecrets } from './censor-secrets.ts';

test('keys with the beginnings that vendors use do not survive, masked or not', () => {
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
  for (const key of keys) assert.equal(censorSecrets(`said "${key}" here`), 'said "[redacted]" here', key);
});

test('words of prose and names of parameters survive', () => {
  const text =
    'skip_special_tokens, keyframe_interval, key_frames_interval, hf_generation_config, task-oriented, risk_level';
  assert.equal(censorSecrets(text), text);
});

test('a text made to be slow to search is not', () => {
  const startMs = performance.now();
  censorSecrets('key-'.repeat(50_000) + 'sk-'.repeat(50_000));
  assert.ok(performance.now() - startMs < 1_000);
});
