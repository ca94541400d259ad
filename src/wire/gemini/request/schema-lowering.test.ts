import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import fc from 'fast-check';
import { isJsonObject, type Json, type JsonObject } from '../../../lib/json.ts';
import { createBudget } from './schema-budget.ts';
import { lowerSchema } from './schema-lowering.ts';
import { arbitrarySchema } from '../../../../tests/support/wire/gemini/arbitrary-schema.ts';

/** All that the vendor's `Schema` knows, as of 2026-11, and of what kind it is. */
const KNOWN: Readonly<Record<string, (value: Json) => boolean>> = {
  type: (value) => ['STRING', 'NUMBER', 'INTEGER', 'BOOLEAN', 'ARRAY', 'OBJECT'].some((type) => type === value),
  format: (value) => ['enum', 'date-time', 'float', 'double', 'int32', 'int64'].some((format) => format === value),
  description: (value) => typeof value === 'string' && value !== '',
  nullable: (value) => value === true,
  enum: (value) =>
    Array.isArray(value) && value.length > 0 && value.every((item: Json) => typeof item === 'string' && item !== ''),
  pattern: (value) => typeof value === 'string',
  minLength: (value) => typeof value === 'number',
  maxLength: (value) => typeof value === 'number',
  minimum: (value) => typeof value === 'number',
  maximum: (value) => typeof value === 'number',
  minItems: (value) => typeof value === 'number',
  maxItems: (value) => typeof value === 'number',
  minProperties: (value) => typeof value === 'number',
  maxProperties: (value) => typeof value === 'number',
  items: isJsonObject,
  properties: (value) => isJsonObject(value) && Object.keys(value).length > 0,
  required: (value) => Array.isArray(value) && value.length > 0,
  propertyOrdering: Array.isArray,
  anyOf: (value) => Array.isArray(value) && value.length > 1,
};

/** Checks a lowered schema, and counts the schemas in it. */
function check(schema: Json | undefined): number {
  assert.ok(isJsonObject(schema), 'a schema is an object');
  for (const [keyword, value] of Object.entries(schema))
    assert.ok(value !== undefined && KNOWN[keyword]?.(value) === true, `${keyword}: ${JSON.stringify(value)} is known`);
  const { type, anyOf, items, properties, required, propertyOrdering } = schema;
  if (Array.isArray(anyOf)) {
    assert.deepEqual(Object.keys(schema), ['anyOf'], 'a union stands alone');
    return anyOf.reduce((sum: number, member: Json) => sum + check(member), 1);
  }
  assert.notEqual(type, undefined, 'a schema has a type');
  assert.equal(type === 'ARRAY', items !== undefined, 'a list tells its items');
  let count = 1 + (items === undefined ? 0 : check(items));
  if (isJsonObject(properties)) {
    const names = Object.keys(properties);
    if (Array.isArray(required))
      for (const name of required)
        assert.ok(
          names.some((known) => known === name),
          'what is required is there',
        );
    assert.ok(Array.isArray(propertyOrdering));
    assert.deepEqual(new Set(propertyOrdering), new Set(names), 'the order names all properties');
    for (const property of Object.values(properties)) count += check(property);
  } else assert.equal(required ?? propertyOrdering, undefined);
  return count;
}

test('lowers any schema to what the vendor knows, within bounds', () => {
  fc.assert(
    fc.property(arbitrarySchema, (schema) => {
      const lowered = lowerSchema(schema);
      assert.ok(check(lowered) < 60_000);
      assert.deepEqual(lowerSchema(schema), lowered);
    }),
    { numRuns: 3_000 },
  );
});

test('keeps a schema that is lowered already', () => {
  fc.assert(
    fc.property(arbitrarySchema, (schema) => {
      const lowered = lowerSchema(schema);
      const asJsonSchema = JSON.parse(
        JSON.stringify(lowered).replaceAll(
          /"type":"([A-Z]+)"/g,
          (_all, type: string) => `"type":"${type.toLowerCase()}"`,
        ),
      );
      assert.deepEqual(lowerSchema(asJsonSchema), lowered);
    }),
    { numRuns: 500 },
  );
});

test('replaces a union with its first member where the others equal it once nullable', () => {
  const schema = { nullable: true, $ref: '#/anyOf/0', anyOf: [{ $ref: '#/properties/b/items' }, {}], type: 'object' };
  assert.deepEqual(lowerSchema(schema), { type: 'OBJECT', nullable: true });
});

suite('references', () => {
  const item = { type: 'object', properties: { id: { type: 'string' } }, required: ['id'] };
  const lowered = {
    type: 'OBJECT',
    properties: { id: { type: 'STRING' } },
    required: ['id'],
    propertyOrdering: ['id'],
  };

  test('are written out, with what is said beside them', () => {
    const schema = {
      type: 'object',
      properties: { one: { $ref: '#/$defs/item' }, other: { $ref: '#/definitions/old', description: 'The other.' } },
      $defs: { item },
      definitions: { old: { ...item, description: 'Any.' } },
    };
    assert.deepEqual(lowerSchema(schema)['properties'], {
      one: lowered,
      other: { ...lowered, description: 'The other.' },
    });
  });

  test('end as an object when they go in a circle', () => {
    const node = { type: 'object', properties: { next: { $ref: '#/$defs/node' } } };
    assert.deepEqual(lowerSchema({ $ref: '#/$defs/node', $defs: { node } }), {
      type: 'OBJECT',
      properties: { next: { type: 'OBJECT' } },
      propertyOrdering: ['next'],
    });
  });

  test('end when they lead to themselves or to nothing', () => {
    check(lowerSchema({ $ref: '#' }));
    check(lowerSchema({ $ref: '#/$defs/a', $defs: { a: { $ref: '#/$defs/a' } } }));
    check(lowerSchema({ $ref: '#/$defs/gone' }));
    check(lowerSchema({ $ref: 'https://elsewhere.example/' }));
  });

  test('do not fill the memory when they double at each step', () => {
    const steps = Array.from({ length: 40 }, (_, at) => [
      `d${at}`,
      { type: 'object', properties: { l: { $ref: `#/$defs/d${at + 1}` }, r: { $ref: `#/$defs/d${at + 1}` } } },
    ]);
    const schema = { $ref: '#/$defs/d0', $defs: { ...Object.fromEntries(steps), d40: { type: 'string' } } };
    assert.ok(check(lowerSchema(schema)) < 60_000);
  });

  test('do not copy a long text without end', () => {
    const properties = Object.fromEntries(Array.from({ length: 2_000 }, (_, at) => [`p${at}`, { $ref: '#/$defs/a' }]));
    const schema = { type: 'object', properties, $defs: { a: { type: 'string', description: 'x'.repeat(100_000) } } };
    assert.ok(JSON.stringify(lowerSchema(schema)).length < 20_000_000);
  });

  test('cost in many schemas of one request what they may cost in one', () => {
    const budget = createBudget();
    const schema = { $ref: '#/$defs/a', $defs: { a: { type: 'object', properties: { l: { $ref: '#/$defs/a' } } } } };
    const small = { type: 'object', properties: { a: { type: 'string' } } };
    for (let count = 0; count < 1_000; count++) check(lowerSchema(schema, budget));
    assert.deepEqual(lowerSchema(small, budget), lowerSchema(small));
  });

  test('deeper than any value is, anything may stand', () => {
    let deep: JsonObject = { type: 'string' };
    for (let depth = 0; depth < 200; depth++) deep = { type: 'array', items: deep };
    assert.ok(check(lowerSchema(deep)) < 100);
  });
});

suite('unions', () => {
  test('become nullable with null', () => {
    assert.deepEqual(lowerSchema({ type: ['string', 'null'], description: 'A name' }), {
      type: 'STRING',
      description: 'A name',
      nullable: true,
    });
    assert.deepEqual(lowerSchema({ anyOf: [{ type: 'integer' }, { type: 'null' }] }), {
      type: 'INTEGER',
      nullable: true,
    });
  });

  test('stand alone, and what was said around them goes inside', () => {
    assert.deepEqual(
      lowerSchema({ description: 'An id', oneOf: [{ type: 'string' }, { type: 'integer' }, { const: null }] }),
      {
        anyOf: [
          { type: 'STRING', description: 'An id', nullable: true },
          { type: 'INTEGER', description: 'An id' },
        ],
      },
    );
  });

  test('become one when they are nested', () => {
    const inner = { anyOf: [{ type: 'string' }, { type: 'number' }] };
    assert.deepEqual(lowerSchema({ anyOf: [inner, { type: 'string' }, { type: 'boolean' }] }), {
      anyOf: [{ type: 'STRING' }, { type: 'NUMBER' }, { type: 'BOOLEAN' }],
    });
  });

  test('rest on what stands around them', () => {
    const schema = {
      type: 'object',
      properties: { a: { type: 'string' }, b: { type: 'string' } },
      anyOf: [{ required: ['a'] }, { required: ['b'] }],
    };
    const properties = { a: { type: 'STRING' }, b: { type: 'STRING' } };
    assert.deepEqual(lowerSchema(schema), {
      anyOf: [
        { type: 'OBJECT', properties, required: ['a'], propertyOrdering: ['a', 'b'] },
        { type: 'OBJECT', properties, required: ['b'], propertyOrdering: ['a', 'b'] },
      ],
    });
  });
});

suite('values', () => {
  for (const [what, schema, lowered] of [
    ['one constant is a list of one', { const: 'a' }, { type: 'STRING', format: 'enum', enum: ['a'] }],
    [
      'null among them is nullable',
      { enum: ['a', null] },
      { type: 'STRING', nullable: true, format: 'enum', enum: ['a'] },
    ],
    ['an empty one lifts the list, as the vendor refuses it', { type: 'string', enum: ['', 'a'] }, { type: 'STRING' }],
    [
      'numbers are told in words',
      { type: 'integer', enum: [1, 2], description: 'Size.' },
      { type: 'INTEGER', description: 'Size. One of: 1, 2.' },
    ],
    ['a known format stays', { type: 'string', format: 'date-time' }, { type: 'STRING', format: 'date-time' }],
    ['an unknown format goes', { type: 'string', format: 'email' }, { type: 'STRING' }],
    [
      'an open bound of integers is the next one',
      { type: 'integer', exclusiveMinimum: 0, maximum: 9 },
      { type: 'INTEGER', minimum: 1, maximum: 9 },
    ],
    [
      'an open bound of numbers is a little wider',
      { type: 'number', exclusiveMaximum: 1 },
      { type: 'NUMBER', maximum: 1 },
    ],
    [
      'a list of places is one of any of them',
      { type: 'array', prefixItems: [{ type: 'string' }, { type: 'string' }] },
      { type: 'ARRAY', items: { type: 'STRING' } },
    ],
    ['an object without properties stays one', { type: 'object', additionalProperties: true }, { type: 'OBJECT' }],
    [
      'several demands are one',
      {
        allOf: [
          { type: 'integer', minimum: 1 },
          { minimum: 3, maximum: 5 },
        ],
      },
      { type: 'INTEGER', minimum: 3, maximum: 5 },
    ],
  ] as const satisfies readonly (readonly [string, JsonObject, JsonObject])[]) {
    test(what, () => {
      assert.deepEqual(lowerSchema(schema), lowered);
    });
  }

  test('may be anything where nothing is said', () => {
    const types = ['STRING', 'NUMBER', 'BOOLEAN', 'OBJECT'];
    assert.deepEqual(lowerSchema({ type: 'array' }), {
      type: 'ARRAY',
      items: { anyOf: types.map((type) => ({ type })) },
    });
  });

  test('keep the order of the caller', () => {
    const { properties, propertyOrdering } = lowerSchema({
      type: 'object',
      properties: { z: { type: 'string' }, a: { type: 'string' } },
    });
    assert.deepEqual(
      [Object.keys(isJsonObject(properties) ? properties : {}), propertyOrdering],
      [
        ['z', 'a'],
        ['z', 'a'],
      ],
    );
  });

  test('are left out with a property that nothing satisfies', () => {
    assert.deepEqual(
      lowerSchema({ type: 'object', properties: { a: false, b: { type: 'string' } }, required: ['a', 'b'] }),
      {
        type: 'OBJECT',
        properties: { b: { type: 'STRING' } },
        required: ['b'],
        propertyOrdering: ['b'],
      },
    );
  });
});
