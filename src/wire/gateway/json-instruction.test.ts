import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { JsonObject } from '../../lib/json.ts';
import { schemaInstruction } from './json-instruction.ts';

const REQUESTED: readonly (readonly [schema: JsonObject, what: string])[] = [
  [{ type: 'object', properties: {} }, 'object'],
  [{ properties: { a: { type: 'string' } } }, 'object'],
  [{ type: 'array', items: { type: 'string' } }, 'value'],
  [{ type: ['object', 'null'] }, 'value'],
  [{ $ref: '#/$defs/list', $defs: { list: { type: 'array' } } }, 'value'],
];

for (const [schema, what] of REQUESTED)
  test(`requests one JSON ${what} for ${JSON.stringify(schema)}, without contradicting the schema`, () => {
    assert.ok(schemaInstruction(schema, undefined).startsWith(`Answer with one JSON ${what} and nothing else`));
  });
