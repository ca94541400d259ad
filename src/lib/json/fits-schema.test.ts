import assert from 'node:assert/strict';
import { test } from 'node:test';
import { fitsSchema } from './fits-schema.ts';
import type { Json, JsonObject } from '../json.ts';

const address: JsonObject = {
  type: 'object',
  properties: { city: { type: 'string', minLength: 1 }, floor: { type: ['integer', 'null'], minimum: 0, maximum: 9 } },
  required: ['city'],
  additionalProperties: false,
};
const place: JsonObject = { type: 'object', properties: { at: { $ref: '#/$defs/address' } }, $defs: { address } };

const fitting: readonly (readonly [Json, JsonObject])[] = [
  [{ city: 'Rome', floor: null }, address],
  [{ at: { city: 'Rome' } }, place],
  [['a', 'b'], { type: 'array', items: { enum: ['a', 'b'] }, minItems: 2 }],
  [1, { anyOf: [{ type: 'string' }, { type: 'number' }] }],
  [{ x: 1 }, { additionalProperties: { type: 'number' } }],
  [{ x: 1 }, { patternProperties: { x: {} }, additionalProperties: false }],
  ['anything', { type: 'unheard of', format: 'odd', $ref: '#/gone' }],
];
const unfit: readonly (readonly [Json, JsonObject])[] = [
  [{}, address],
  [{ city: '' }, address],
  [{ city: 'Rome', floor: 1.5 }, address],
  [{ city: 'Rome', floor: 10 }, address],
  [{ city: 'Rome', street: 'x' }, address],
  [{ at: {} }, place],
  [['c'], { items: { enum: ['a'] } }],
  [1, { oneOf: [{ type: 'integer' }, { type: 'number' }] }],
  [1, { allOf: [{ minimum: 0 }, { not: { const: 1 } }] }],
];

test('validates by plain keywords, and ignores those that make no sense', () => {
  for (const [value, schema] of fitting) assert.ok(fitsSchema(value, schema), JSON.stringify([value, schema]));
  for (const [value, schema] of unfit) assert.ok(!fitsSchema(value, schema), JSON.stringify([value, schema]));
});

test('ends for a schema that contains itself', () => {
  const tree: JsonObject = { type: 'object', properties: { left: { $ref: '#' } } };
  assert.ok(fitsSchema({ left: { left: {} } }, tree));
  assert.ok(!fitsSchema({ left: { left: 1 } }, tree));
  const loop: JsonObject = { $ref: '#' };
  assert.ok(fitsSchema(1, loop));
});

test('ends for a schema that contains itself twice', () => {
  const both: JsonObject = { allOf: [{ $ref: '#' }, { $ref: '#' }] };
  assert.ok(fitsSchema(1, both));
});
