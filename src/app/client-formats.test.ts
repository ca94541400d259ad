import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createSecretBox, secretFrom } from '../lib/secret-box.ts';
import { createClientFormats } from './client-formats.ts';
import { loadConfig } from '../config/load-config.ts';

test('creates formats without secrets once, however many gateways a process has', () => {
  const config = loadConfig({ argv: [], env: {} });
  const box = createSecretBox([secretFrom('one')]);
  const first = createClientFormats(config.responses, box);
  const second = createClientFormats(config.responses, box);
  assert.equal(first.chat.serverCalls, second.chat.serverCalls);
  assert.equal(first.messages, second.messages);
  assert.notEqual(first.responses, second.responses);
});
