import assert from 'node:assert/strict';
import { test } from 'node:test';
import { z } from 'zod';
import { createSchemaComponents } from './components.ts';

const REF = '#/components/schemas/';

test('makes one component of a schema with an id, however often it is used', () => {
  const components = createSchemaComponents();
  const key = z.strictObject({ name: z.string() }).meta({ id: 'Key' });
  assert.deepEqual(components.add('One', key, 'output'), { $ref: `${REF}Key` });
  components.add('Many', z.strictObject({ keys: z.array(key) }), 'output');
  assert.deepEqual(Object.keys(components.all()), ['Key', 'Many']);
});

const definition = (type: string) => ({ $defs: { Part: { type } }, type: 'array', items: { $ref: '#/$defs/Part' } });

test('distinguishes two different definitions of one name', () => {
  const components = createSchemaComponents();
  components.add('One', definition('string'), 'input');
  components.add('Two', definition('number'), 'input');
  components.add('Three', definition('string'), 'input');
  assert.deepEqual(components.all(), {
    One: { type: 'array', items: { $ref: `${REF}Part` } },
    Part: { type: 'string' },
    Three: { type: 'array', items: { $ref: `${REF}Part` } },
    Two: { type: 'array', items: { $ref: `${REF}Two.Part` } },
    'Two.Part': { type: 'number' },
  });
});

test('separates input and output that differ under one id', () => {
  const components = createSchemaComponents();
  const schema = z.object({ size: z.number().default(1) }).meta({ id: 'Size' });
  components.add('Asked', schema, 'input');
  assert.deepEqual(components.add('Given', schema, 'output'), { $ref: `${REF}Given.Size` });
});

test('shares a component that refers to another as it shares that one', () => {
  const part = z.strictObject({ at: z.string() }).meta({ id: 'Part' });
  const whole = z.strictObject({ part, other: part }).meta({ id: 'Whole' });
  const components = createSchemaComponents();
  components.add('One', z.strictObject({ data: whole }), 'output');
  components.add('Many', z.strictObject({ data: z.array(whole) }), 'output');
  assert.deepEqual(Object.keys(components.all()), ['Many', 'One', 'Part', 'Whole']);
});

test('separates what refers to a component that differs', () => {
  const components = createSchemaComponents();
  for (const [name, member] of [
    ['One', z.string()],
    ['Two', z.number()],
  ] as const) {
    const part = z.strictObject({ at: member }).meta({ id: `Part` });
    const whole = z.strictObject({ part, other: part }).meta({ id: `Whole` });
    components.add(name, z.strictObject({ data: whole }), 'output');
    z.globalRegistry.remove(part);
    z.globalRegistry.remove(whole);
  }
  const all = components.all();
  assert.deepEqual(Object.keys(all), ['One', 'Part', 'Two', 'Two.Part', 'Two.Whole', 'Whole']);
  assert.match(JSON.stringify(all['Two.Whole']), /"#\/components\/schemas\/Two\.Part"/);
  assert.match(JSON.stringify(all['Two']), /"#\/components\/schemas\/Two\.Whole"/);
});
