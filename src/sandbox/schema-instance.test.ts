import assert from 'node:assert/strict';
import { test } from 'node:test';
import * as fc from 'fast-check';
import { z } from 'zod';
import { parseJson, type Json, type JsonObject } from '../lib/json.ts';
import { instanceOf } from './schema-instance.ts';

/** zod's own reading of JSON Schema is the judge. */
function accepts(schema: JsonObject, instance: Json): boolean {
  // The parameter's type is a closed description of JSON Schema; any object is what the function itself expects.
  const judge: (schema: JsonObject) => z.ZodType = z.fromJSONSchema;
  return judge(schema).safeParse(instance).success;
}

const object = (properties: JsonObject, more: JsonObject = {}): JsonObject => ({ type: 'object', properties, ...more });

for (const [name, schema, expected] of [
  ['a string property holds its own name', object({ city: { type: 'string' } }), { city: 'city' }],
  ['nothing asked gives a text', {}, 'value'],
  ['const', { const: { a: [1] } }, { a: [1] }],
  ['the first of an enum', { enum: ['b', 'a'] }, 'b'],
  ['minimum', { type: 'integer', minimum: 3 }, 3],
  ['minimum with a fraction', { type: 'integer', minimum: 2.5 }, 3],
  ['exclusive minimum', { type: 'integer', exclusiveMinimum: 3 }, 4],
  ['exclusive minimum of draft 4', { type: 'integer', minimum: 3, exclusiveMinimum: true }, 4],
  ['maximum below 1', { type: 'integer', maximum: -5 }, -5],
  ['exclusive maximum below 1', { type: 'integer', exclusiveMaximum: -5 }, -6],
  ['a multiple', { type: 'integer', minimum: 7, multipleOf: 5 }, 10],
  ['a multiple with a fraction', { type: 'number', minimum: 0.25, multipleOf: 0.1 }, 0.3],
  ['numbers below a maximum', { type: 'array', items: { type: 'integer', maximum: 0 }, minItems: 2 }, [0, -1]],
  ['numbers up to a maximum', { type: 'array', items: { type: 'integer', maximum: 2 }, minItems: 3 }, [1, 2, 0]],
  [
    'numbers in a small range',
    { type: 'array', items: { type: 'integer', minimum: 4, maximum: 5 }, minItems: 3 },
    [4, 5, 4],
  ],
  ['an open interval', { type: 'number', exclusiveMinimum: 0, exclusiveMaximum: 1 }, 1 / 101],
  ['the first type that is not null', { type: ['null', 'boolean'] }, true],
  ['null alone', { type: 'null' }, null],
  ['minItems', { type: 'array', items: { type: 'string' }, minItems: 3 }, ['value', 'value2', 'value3']],
  ['a set', { type: 'array', items: { enum: ['a', 'b', 'c'] }, minItems: 3, uniqueItems: true }, ['a', 'b', 'c']],
  ['maxItems 0', { type: 'array', maxItems: 0 }, []],
  ['a tuple', { type: 'array', prefixItems: [{ const: 1 }, { const: 2 }], items: false }, [1, 2]],
  ['minLength', { type: 'string', minLength: 8 }, 'valuexxx'],
  ['maxLength', { type: 'string', maxLength: 2 }, 'va'],
  ['a format', { type: 'string', format: 'date' }, '2026-01-01'],
  ['a pattern', { type: 'string', pattern: '^[A-Z]{2}\\d+$' }, 'AA0'],
  ['anyOf without null', { anyOf: [{ type: 'null' }, { const: 5 }] }, 5],
  ['oneOf', { oneOf: [{ const: 1 }, { const: 2 }] }, 1],
  [
    'allOf adds up',
    { allOf: [object({ a: { const: 1 } }, { required: ['a'] }), object({ b: { const: 2 } }, { required: ['b'] })] },
    { a: 1, b: 2 },
  ],
  [
    'a local reference',
    { $ref: '#/$defs/node', $defs: { node: object({ id: { $ref: '#/$defs/id' } }), id: { const: 'x' } } },
    { id: 'x' },
  ],
  ['an escaped reference', { $ref: '#/$defs/a~1b%20c', $defs: { 'a/b c': { const: 1 } } }, 1],
  ['a required property that is not described', { type: 'object', required: ['a'] }, { a: 'a' }],
  ['minProperties', { type: 'object', minProperties: 2, additionalProperties: { const: 1 } }, { extra1: 1, extra2: 1 }],
  ['an object by its keywords', { properties: { a: { const: 1 } } }, { a: 1 }],
] as const satisfies readonly (readonly [string, JsonObject, Json])[]) {
  test(`makes an instance: ${name}`, () => {
    assert.deepEqual(instanceOf(schema), expected);
  });
}

test('treats a property named __proto__ as a property', () => {
  const schema = parseJson('{"type":"object","properties":{"__proto__":{"const":1}},"required":["__proto__"]}');
  assert.equal(JSON.stringify(instanceOf(schema)), '{"__proto__":1}');
});

test('ends for a recursive schema', () => {
  const tree = object(
    { value: { type: 'integer' }, children: { type: 'array', items: { $ref: '#' } } },
    { required: ['value'] },
  );
  assert.ok(accepts(tree, instanceOf(tree)));
  const list = { anyOf: [object({ next: { $ref: '#' } }, { required: ['next'] }), { type: 'null' }] };
  assert.ok(accepts(list, instanceOf(list)));
});

for (const [name, schema] of [
  ['a reference to itself', { $ref: '#' }],
  ['two references in a circle', { $ref: '#/$defs/a', $defs: { a: { $ref: '#/$defs/b' }, b: { $ref: '#/$defs/a' } } }],
  ['an object that needs itself', object({ a: { $ref: '#' } }, { required: ['a'] })],
  ['an array that needs itself', { type: 'array', items: { $ref: '#' }, minItems: 100 }],
  ['a huge array', { type: 'array', items: { type: 'array', items: {}, minItems: 1e9 }, minItems: 1e9 }],
  ['a huge string', { type: 'string', minLength: 1e9 }],
  ['a reference to nowhere', { $ref: '#/$defs/none' }],
  ['a remote reference', { $ref: 'https://example.com/schema' }],
  ['a broken reference', { $ref: '#/%E0%A4%A' }],
] as const satisfies readonly (readonly [string, JsonObject])[]) {
  test(`makes a bounded instance: ${name}`, () => {
    const startedMs = performance.now();
    assert.ok(JSON.stringify(instanceOf(schema)).length < 200_000);
    assert.ok(performance.now() - startedMs < 5_000);
  });
}

const leaf: fc.Arbitrary<JsonObject> = fc.oneof(
  fc.record({ type: fc.constant('string'), minLength: fc.nat(12) }, { requiredKeys: ['type'] }),
  fc.record({ type: fc.constant('string'), maxLength: fc.nat(12) }),
  fc.record({ type: fc.constantFrom('integer', 'number'), minimum: fc.integer({ min: -50, max: 50 }) }),
  fc.record({ type: fc.constantFrom('integer', 'number'), exclusiveMaximum: fc.integer({ min: -50, max: 50 }) }),
  fc
    .tuple(fc.constantFrom('integer', 'number'), fc.integer({ min: -50, max: 50 }), fc.integer({ min: 2, max: 50 }))
    .map(([type, low, span]) => ({ type, exclusiveMinimum: low, exclusiveMaximum: low + span })),
  fc.record({
    type: fc.constant('integer'),
    minimum: fc.integer({ min: -50, max: 50 }),
    multipleOf: fc.integer({ min: 1, max: 9 }),
  }),
  fc.record({ type: fc.constantFrom('boolean', 'null') }),
  fc.record({ enum: fc.uniqueArray(fc.string({ maxLength: 5 }), { minLength: 1, maxLength: 4 }) }),
  fc.record({
    type: fc.constant('string'),
    format: fc.constantFrom('date', 'date-time', 'email', 'uuid', 'ipv4', 'uri'),
  }),
);

const { schema: anySchema } = fc.letrec<{ schema: JsonObject }>((tie) => ({
  schema: fc.oneof(
    { maxDepth: 4 },
    leaf,
    fc.record({ type: fc.constant('array'), items: tie('schema'), minItems: fc.nat(3) }),
    fc.record({ anyOf: fc.array(tie('schema'), { minLength: 1, maxLength: 3 }) }),
    fc
      .tuple(fc.dictionary(fc.stringMatching(/^[a-z]{1,6}$/), tie('schema'), { maxKeys: 4 }), fc.boolean())
      .map(([properties, isClosed]) => ({
        type: 'object',
        properties,
        required: Object.keys(properties).filter((_, index) => index % 2 === 0),
        ...(isClosed && { additionalProperties: false }),
      })),
  ),
}));

test('makes a valid instance of any schema of the supported kind', () => {
  fc.assert(
    fc.property(anySchema, (schema) => {
      assert.ok(accepts(schema, instanceOf(schema)), JSON.stringify(instanceOf(schema)));
    }),
    { numRuns: 300 },
  );
});

test('makes some JSON for any JSON in place of a schema', () => {
  fc.assert(
    fc.property(fc.jsonValue({ maxDepth: 4 }), (schema) => {
      assert.ok(JSON.stringify(instanceOf(schema)) !== undefined);
    }),
  );
});

test('makes the same instance for the same schema', () => {
  fc.assert(fc.property(anySchema, (schema) => assert.deepEqual(instanceOf(schema), instanceOf(schema))));
});
