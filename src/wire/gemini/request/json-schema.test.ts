import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import fc from 'fast-check';
import { isJsonObject, type Json, type JsonObject } from '../../../lib/json.ts';
import { prepareJsonSchema } from './json-schema.ts';
import { arbitrarySchema } from '../../../../tests/support/wire/gemini/arbitrary-schema.ts';

const ITEM = { type: 'object', properties: { id: { type: 'string' } }, required: ['id'] };

test('keeps a schema of supported keywords as it is, in its own order', () => {
  const schema = {
    type: 'object',
    title: 'Order',
    properties: {
      id: { type: 'string', description: 'An id', format: 'uuid' },
      size: { type: ['integer', 'null'], minimum: 1, maximum: 9 },
      state: { enum: ['open', 'done'] },
      item: { $ref: '#/$defs/item' },
      items: { type: 'array', prefixItems: [{ type: 'string' }], items: { $ref: '#/$defs/item' }, minItems: 1 },
      either: { anyOf: [{ type: 'string' }, { type: 'number' }] },
    },
    required: ['id'],
    additionalProperties: false,
    $defs: { item: ITEM },
  };
  assert.equal(JSON.stringify(prepareJsonSchema(schema)), JSON.stringify(schema));
});

for (const [what, schema, prepared] of [
  ['a constant is a list of one', { const: 'a' }, { enum: ['a'] }],
  ['a constant that cannot be listed stays', { const: true }, { const: true }],
  ['an open bound is a closed one', { type: 'integer', exclusiveMinimum: 0 }, { type: 'integer', minimum: 1 }],
  [
    'what says how to read it goes',
    { $schema: 'https://json-schema.org/draft-07/schema#', $comment: 'x', type: 'string' },
    { type: 'string' },
  ],
  [
    'a definition of older drafts is found under the new name',
    { $ref: '#/definitions/a', definitions: { a: ITEM } },
    { $ref: '#/$defs/a', $defs: { a: ITEM } },
  ],
  [
    'what stands beside a reference moves around a union of it',
    { type: 'object', properties: { a: { $ref: '#/$defs/a', description: 'The first' } }, $defs: { a: ITEM } },
    {
      type: 'object',
      properties: { a: { description: 'The first', anyOf: [{ $ref: '#/$defs/a' }] } },
      $defs: { a: ITEM },
    },
  ],
  [
    'a reference with a description, as generators write it, is the same',
    { properties: { a: { allOf: [{ $ref: '#/$defs/a' }], description: 'The first' } }, $defs: { a: ITEM } },
    { properties: { a: { description: 'The first', anyOf: [{ $ref: '#/$defs/a' }] } }, $defs: { a: ITEM } },
  ],
  [
    'several demands are one',
    { allOf: [{ $ref: '#/$defs/a' }, { properties: { n: { const: 1 } }, required: ['n'] }], $defs: { a: ITEM } },
    {
      $defs: { a: ITEM },
      type: 'object',
      properties: { id: { type: 'string' }, n: { enum: [1] } },
      required: ['id', 'n'],
    },
  ],
  [
    'names of properties are no keywords',
    { type: 'object', properties: { const: { type: 'string' }, allOf: { type: 'string' }, $ref: { const: 'x' } } },
    { type: 'object', properties: { const: { type: 'string' }, allOf: { type: 'string' }, $ref: { enum: ['x'] } } },
  ],
] as const satisfies readonly (readonly [string, JsonObject, JsonObject])[]) {
  test(what, () => {
    assert.deepEqual(prepareJsonSchema(schema), prepared);
  });
}

suite('demands without an end', () => {
  test('are left as they are', () => {
    const schema = { $ref: '#/$defs/a', $defs: { a: { allOf: [{ $ref: '#/$defs/a' }, { title: 'x' }] } } };
    assert.ok(JSON.stringify(prepareJsonSchema(schema)).length < 1_000);
  });

  test('do not fill the memory when they double at each step', () => {
    const step = (at: number): JsonObject => ({
      properties: {
        l: { allOf: [{ $ref: `#/$defs/d${at + 1}` }, { title: 'l' }] },
        r: { allOf: [{ $ref: `#/$defs/d${at + 1}` }, { title: 'r' }] },
      },
    });
    const $defs = Object.fromEntries(Array.from({ length: 40 }, (_, at) => [`d${at}`, step(at)]));
    assert.ok(JSON.stringify(prepareJsonSchema({ ...step(-1), $defs })).length < 10_000_000);
  });
});

/** Every schema inside a schema. */
function* schemasIn(schema: Json | undefined): Generator<JsonObject> {
  if (!isJsonObject(schema)) return;
  yield schema;
  const { items, anyOf, oneOf, prefixItems, properties, $defs, additionalProperties } = schema;
  const named = [properties, $defs].flatMap((list) => (isJsonObject(list) ? Object.values(list) : []));
  const lists = [anyOf, oneOf, prefixItems, items].flatMap((list): readonly Json[] =>
    Array.isArray(list) ? list : [],
  );
  for (const inner of [items, additionalProperties, ...named, ...lists]) yield* schemasIn(inner);
}

test('bounds any schema, and removes refused keywords', () => {
  fc.assert(
    fc.property(arbitrarySchema, (schema) => {
      const prepared = prepareJsonSchema(schema);
      assert.ok(JSON.stringify(prepared).length < 1_000_000);
      for (const inner of schemasIn(prepared)) {
        const { $ref: reference, anyOf, ...others } = inner;
        const beside = Object.keys(others).filter((keyword) => !keyword.startsWith('$'));
        if (typeof reference === 'string' && anyOf === undefined)
          assert.deepEqual(beside, [], 'a reference stands alone');
        assert.equal(inner['$schema'], undefined);
      }
    }),
    { numRuns: 3_000 },
  );
});
