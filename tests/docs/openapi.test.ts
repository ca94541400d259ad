import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import { openApiDocument } from '../../src/app/openapi-document.ts';

test('matches docs/openapi.json with the schemas; `npm run openapi` refreshes it', () => {
  const text = readFileSync(new URL('../../docs/openapi.json', import.meta.url), 'utf8');
  assert.equal(text, `${JSON.stringify(openApiDocument(), undefined, 2)}\n`);
});
