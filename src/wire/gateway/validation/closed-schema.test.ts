import assert from 'node:assert/strict';
import { test } from 'node:test';
import { closeSchema } from './closed-schema.ts';

const REFUSED = new Map([['integer', new Set(['minimum'])]]);

test('closes every object of a schema, and keeps data as it is', () => {
  const open = { type: 'object', properties: { a: { type: 'string' } } };
  const closed = { ...open, additionalProperties: false };
  const schema = {
    $defs: { one: open },
    type: ['object', 'null'],
    properties: {
      type: open,
      list: { type: 'array', items: open },
      either: { anyOf: [open, { $ref: '#/$defs/one' }] },
    },
    default: { type: 'object' },
  };
  assert.deepEqual(closeSchema(schema, REFUSED).schema, {
    $defs: { one: closed },
    type: ['object', 'null'],
    properties: {
      type: closed,
      list: { type: 'array', items: closed },
      either: { anyOf: [closed, { $ref: '#/$defs/one' }] },
    },
    default: { type: 'object' },
    additionalProperties: false,
  });
});

test('reports constraints that no longer bind the model', () => {
  const { schema, dropped } = closeSchema(
    {
      type: 'object',
      properties: { minimum: { type: ['integer', 'null'], minimum: 1 }, list: { type: 'array', minItems: 2 } },
      additionalProperties: { type: 'string' },
    },
    REFUSED,
  );
  assert.deepEqual(schema, {
    type: 'object',
    properties: { minimum: { type: ['integer', 'null'] }, list: { type: 'array' } },
    additionalProperties: false,
  });
  assert.deepEqual([...dropped].toSorted(), ['additionalProperties', 'minItems', 'minimum']);
});

test('keeps a schema that is closed already', () => {
  const schema = { type: 'object', properties: { a: { type: 'array', minItems: 1 } }, additionalProperties: false };
  const closed = closeSchema(schema, REFUSED);
  assert.deepEqual(closed.schema, schema);
  assert.equal(closed.dropped.size, 0);
});
