import assert from 'node:assert/strict';
import { test } from 'node:test';
import { exampleOf } from './example.ts';

test('holds what a schema requires, and nothing else', () => {
  const schema = {
    required: ['path', 'depth', 'mode', 'limit'],
    properties: {
      path: { type: 'string' },
      depth: { type: 'integer' },
      mode: { enum: ['fast', 'slow'] },
      limit: { type: 'number', default: 10 },
      further: { type: 'string' },
    },
  };
  assert.deepEqual(exampleOf(schema), { path: '', depth: 0, mode: 'fast', limit: 10 });
});

test('is empty for a schema without members', () => {
  assert.deepEqual(exampleOf({}), {});
});
