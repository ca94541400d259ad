import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';

const read = (path: string): string => readFileSync(new URL(`../../${path}`, import.meta.url), 'utf8');

test('types the dashboard by the present docs/openapi.json; `npm run openapi` refreshes it', () => {
  const hash = createHash('sha256').update(read('docs/openapi.json')).digest('hex');
  const schema = read('dashboard/src/api/schema.d.ts');
  // A merge of two sides keeps the first line of both.
  const hashes = [...schema.matchAll(/from docs\/openapi\.json, SHA-256 ([0-9a-f]{64})/g)].map(([, found]) => found);
  assert.deepEqual(hashes, [hash]);
});
