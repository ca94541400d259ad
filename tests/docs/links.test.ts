import assert from 'node:assert/strict';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';

/** Files that the reader of `docs/add-a-wire-format.md` writes. */
const MADE_BY_READERS = /^src\/wire\/plain\//;
const ROOT = fileURLToPath(new URL('../..', import.meta.url));

function readPages(): readonly { readonly path: string; readonly text: string }[] {
  const below = readdirSync(join(ROOT, 'docs'), { recursive: true, encoding: 'utf8' }).map((name) => `docs/${name}`);
  return [...readdirSync(ROOT), ...below]
    .filter((path) => path.endsWith('.md'))
    .map((path) => ({ path, text: readFileSync(join(ROOT, path), 'utf8') }));
}

test('have only links that lead somewhere', () => {
  const broken = readPages().flatMap(({ path, text }) =>
    [...text.matchAll(/\]\(([^)#]+)(?:#[^)]*)?\)/g)]
      .map((match) => match[1] ?? '')
      .filter((target) => !/^[a-z]+:/.test(target) && !existsSync(join(ROOT, dirname(path), target)))
      .map((target) => `${path}: ${target}`),
  );
  assert.deepEqual(broken, []);
});

test('name only source files that exist', () => {
  const missing = readPages().flatMap(({ path, text }) =>
    [...text.matchAll(/`((?:[a-z0-9-]+\/)+[a-z0-9.-]+\.ts)`/g)]
      .map((match) => match[1] ?? '')
      // Pages about the code leave `src/` away.
      .filter((file) => !MADE_BY_READERS.test(file))
      .filter((file) => !existsSync(join(ROOT, file)) && !existsSync(join(ROOT, 'src', file)))
      .map((file) => `${path}: ${file}`),
  );
  assert.deepEqual(missing, []);
});
