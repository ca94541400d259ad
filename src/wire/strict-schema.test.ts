import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { JsonObject } from '../lib/json.ts';
import { isStrictSchema, strictnessOf } from './strict-schema.ts';

const text: JsonObject = { type: 'string', description: 'any' };

function object(properties: JsonObject, more: JsonObject = {}): JsonObject {
  return { type: 'object', properties, required: Object.keys(properties), additionalProperties: false, ...more };
}

for (const [name, schema, strict] of [
  ['closed, and everything required', object({ a: text, b: { type: ['integer', 'null'] } }), true],
  ['so in all its depths', object({ a: { type: 'array', items: object({ b: { enum: ['x'] } }) } }), true],
  [
    'with a choice and a definition',
    object({ a: { anyOf: [text, { $ref: '#/$defs/b' }] } }, { $defs: { b: object({}) } }),
    true,
  ],
  ['open', object({ a: text }, { additionalProperties: true }), false],
  ['open where nothing is said', { type: 'object', properties: {} }, false],
  ['with a member that may be missing', object({ a: text, b: text }, { required: ['a'] }), false],
  ['open within', object({ a: { type: 'object', properties: {} } }), false],
  ['open in a definition', object({ a: { $ref: '#/$defs/b' } }, { $defs: { b: { type: 'object' } } }), false],
  ['with a word that may be refused', object({ a: { type: 'string', minLength: 1 } }), false],
  ['no object', { type: 'array', items: text }, false],
  ['a choice at its root', object({}, { anyOf: [object({})] }), false],
] as const satisfies readonly (readonly [string, JsonObject, boolean])[])
  test(`takes a schema that is ${name} as ${strict ? '' : 'not '}strict`, () => {
    assert.equal(isStrictSchema(schema), strict);
  });

test('callers of the messages format have the strictness said that their own format always means, where it is taken', () => {
  const closed = { type: 'json_schema', schema: object({ a: text }) } as const;
  const open = { type: 'json_schema', schema: { type: 'object' } } as const;
  const binding = { strictSchemas: true };
  assert.equal(strictnessOf(closed, 'messages', binding), true);
  assert.equal(strictnessOf(open, 'messages', binding), undefined);
  assert.equal(strictnessOf(closed, 'messages', {}), undefined);
  assert.equal(strictnessOf(closed, 'chat', binding), undefined);
  assert.equal(strictnessOf({ ...closed, strict: false }, 'chat', binding), false);
});
