import assert from 'node:assert/strict';
import { test } from 'node:test';
import { clientFormats } from './client-formats.ts';

test('the formats of callers are made once, however many gateways a process holds', () => {
  assert.equal(clientFormats(), clientFormats());
});
