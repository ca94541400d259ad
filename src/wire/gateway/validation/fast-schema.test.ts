import assert from 'node:assert/strict';
import test, { mock } from 'node:test';
import * as fc from 'fast-check';
import { z } from 'zod';
import { compileSchema, compileSoon, fastSchema } from './fast-schema.ts';

function makeSchema() {
  return z.looseObject({
    id: z.string().max(4).optional(),
    sort: z.union([z.enum(['a', 'b']), z.strictObject({ by: z.enum(['a', 'b']).nullish() })]).nullish(),
    items: z
      .array(
        z.discriminatedUnion('type', [
          z.looseObject({ type: z.literal('a'), value: z.number().min(0) }),
          z.object({ type: z.literal('b'), value: z.array(z.string()).max(2).optional() }),
        ]),
      )
      .optional(),
    map: z.record(z.string(), z.int()).optional(),
    free: z.unknown().optional(),
    sum: z
      .array(z.number())
      .transform((values) => values.length)
      .optional(),
  });
}

test('compiles a schema at its second use', () => {
  const schema = makeSchema();
  assert.equal(fastSchema(schema), schema);
  assert.equal(fastSchema(schema), schema);
  const twin = fastSchema(schema);
  assert.notEqual(twin, schema);
  assert.equal(fastSchema(schema), twin);
});

test('checks without compiling until then, and keeps no process alive', () => {
  mock.timers.enable({ apis: ['setTimeout'] });
  try {
    const schema = makeSchema();
    compileSoon(schema);
    for (let use = 0; use < 3; use++) assert.equal(fastSchema(schema), schema);
    mock.timers.tick(1_000);
    assert.notEqual(fastSchema(schema), schema);
  } finally {
    mock.timers.reset();
  }
});

test('compiles a schema before its first use', () => {
  const schema = makeSchema();
  compileSchema(schema);
  assert.notEqual(fastSchema(schema), schema);
});

test('keeps a schema that cannot be compiled', () => {
  type Tree = { readonly children?: readonly Tree[] | undefined };
  const tree: z.ZodType<Tree> = z.looseObject({ children: z.array(z.lazy(() => tree)).optional() });
  for (let use = 0; use < 4; use++) assert.equal(fastSchema(tree), tree);
});

test('schema and twin agree on every value, and give the same', () => {
  const schema = makeSchema();
  compileSchema(schema);
  const twin = fastSchema(schema);
  const item = fc.record(
    { type: fc.constantFrom('a', 'b', 'c'), value: fc.jsonValue({ maxDepth: 1 }) },
    { requiredKeys: [] },
  );
  const value = fc.record(
    {
      id: fc.oneof(fc.string(), fc.jsonValue()),
      sort: fc.oneof(fc.constantFrom('a', 'c', null), fc.record({ by: fc.constantFrom('a', 'c', null) })),
      items: fc.array(item, { maxLength: 3 }),
      map: fc.dictionary(fc.string(), fc.oneof(fc.integer(), fc.double())),
      free: fc.jsonValue(),
      sum: fc.array(fc.oneof({ weight: 9, arbitrary: fc.nat() }, { weight: 1, arbitrary: fc.string() })),
      ['__proto__']: fc.jsonValue(),
      constructor: fc.jsonValue(),
      other: fc.jsonValue(),
    },
    { requiredKeys: [] },
  );
  let accepted = 0;
  fc.assert(
    fc.property(fc.oneof({ weight: 9, arbitrary: value }, { weight: 1, arbitrary: fc.jsonValue() }), (given) => {
      const json: unknown = JSON.parse(JSON.stringify(given));
      const slow = schema.safeParse(json);
      const fast = twin.safeParse(json);
      assert.equal(fast.success, slow.success);
      if (fast.success) accepted++;
      assert.deepEqual(fast.success ? fast.data : fast.error.issues, slow.success ? slow.data : slow.error.issues);
    }),
    { numRuns: 2_000 },
  );
  assert.ok(accepted > 20, `both sides of the schema were seen: ${accepted} accepted`);
});
