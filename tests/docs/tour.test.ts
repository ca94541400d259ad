import assert from 'node:assert/strict';
import { existsSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { test } from 'node:test';

const ROOT = path.join(import.meta.dirname, '../..');

test('names in the tour only files that exist', () => {
  const page = readFileSync(path.join(ROOT, 'docs/tour.md'), 'utf8');
  const named = [...page.matchAll(/`([a-z\d.-]+\/[a-z\d./-]+\.ts)`/g)].map(([, name = '']) => name);
  assert.ok(named.length > 20, 'there are files to look for');
  assert.deepEqual(
    named.filter((name) => !existsSync(path.join(ROOT, 'src', name)) && !existsSync(path.join(ROOT, name))),
    [],
  );
});
