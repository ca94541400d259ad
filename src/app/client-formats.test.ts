import assert from 'node:assert/strict';
import { test } from 'node:test';
import { clientFormats } from './client-formats.ts';

test('creates the client formats once, however many gateways a process has', () => {
  assert.equal(clientFormats(), clientFormats());
});
