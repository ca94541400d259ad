import fc from 'fast-check';
import type { JsonObject } from '../../../../src/lib/json.ts';

const NAMES = ['a', 'b', 'c', '__proto__', 'constructor', 'a b', 'ü'] as const;
const REFERENCES = [
  '#',
  '#/$defs/a',
  '#/$defs/b',
  '#/definitions/a',
  '#/properties/a',
  '#/properties/b/items',
  '#/anyOf/0',
  '#/$defs/nowhere',
  'https://elsewhere.example/schema',
  '#anchor',
] as const;
const TYPES = ['string', 'number', 'integer', 'boolean', 'array', 'object', 'null'] as const;

const named = (schema: fc.Arbitrary<unknown>): fc.Arbitrary<unknown> =>
  fc.dictionary(fc.constantFrom(...NAMES), schema, { maxKeys: 3 });

/** Test support: schemas with whatever keywords there are, well used and badly, and references in circles. */
export const arbitrarySchema: fc.Arbitrary<JsonObject> = fc
  .letrec<{ readonly schema: unknown; readonly rich: unknown }>((tie) => {
    const schema = tie('schema');
    const list = fc.array(schema, { minLength: 1, maxLength: 3 });
    const type = fc.constantFrom(...TYPES);
    const keyword = (name: string, value: fc.Arbitrary<unknown>): fc.Arbitrary<readonly [string, unknown]> =>
      value.map((stated) => [name, stated]);
    const keywords = fc.oneof(
      { weight: 4, arbitrary: keyword('properties', named(schema)) },
      { weight: 4, arbitrary: keyword('type', fc.oneof(type, fc.array(fc.constantFrom(...TYPES), { maxLength: 3 }))) },
      { weight: 3, arbitrary: keyword('$ref', fc.constantFrom(...REFERENCES)) },
      { weight: 2, arbitrary: keyword('$defs', named(schema)) },
      { weight: 2, arbitrary: keyword('anyOf', list) },
      { weight: 2, arbitrary: keyword('items', fc.oneof(schema, list)) },
      keyword('definitions', named(schema)),
      keyword('oneOf', list),
      keyword('allOf', list),
      keyword('prefixItems', list),
      keyword('additionalProperties', schema),
      keyword('patternProperties', named(schema)),
      keyword('not', schema),
      keyword('required', fc.oneof(fc.array(fc.constantFrom(...NAMES), { maxLength: 3 }), fc.boolean())),
      keyword('const', fc.jsonValue({ maxDepth: 1 })),
      keyword(
        'enum',
        fc.array(fc.oneof(fc.string(), fc.constant(''), fc.jsonValue({ maxDepth: 1 })), { maxLength: 4 }),
      ),
      keyword('nullable', fc.boolean()),
      keyword('format', fc.constantFrom('date-time', 'email', 'uuid', 'int32', 'float')),
      keyword('pattern', fc.oneof(fc.constant('^a+$'), fc.integer())),
      keyword('minimum', fc.oneof(fc.integer(), fc.string())),
      keyword('exclusiveMinimum', fc.oneof(fc.integer(), fc.boolean())),
      keyword('exclusiveMaximum', fc.double({ noNaN: true, noDefaultInfinity: true })),
      keyword('minLength', fc.nat()),
      keyword('maxItems', fc.nat()),
      keyword('uniqueItems', fc.boolean()),
      keyword('$schema', fc.constant('https://json-schema.org/draft/2020-12/schema')),
      keyword('title', fc.string()),
      keyword('description', fc.oneof(fc.string(), fc.integer())),
      keyword('default', fc.jsonValue({ maxDepth: 1 })),
      keyword('propertyOrdering', fc.array(fc.constantFrom(...NAMES), { maxLength: 3 })),
    );
    return {
      schema: fc.oneof(
        { depthSize: 'medium', maxDepth: 6 },
        fc.record({ type }),
        fc.boolean(),
        tie('rich'),
        tie('rich'),
      ),
      rich: fc.array(keywords, { maxLength: 5 }).map((entries) => Object.fromEntries(entries)),
    };
  })
  .rich.map((schema): JsonObject => JSON.parse(JSON.stringify(schema)));
