import assert from 'node:assert/strict';
import { cpSync, mkdirSync, mkdtempSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { Addition, Insert } from './addition.ts';

const ROOT = fileURLToPath(new URL('../..', import.meta.url));
const SHARED = ['package.json', 'package-lock.json', 'tsconfig.json'];

/** The sources without their tests, in a folder of their own, with all of the additions. */
export function copyWithAdditions(additions: readonly Addition[]): string {
  const folder = mkdtempSync(join(tmpdir(), 'additions-'));
  cpSync(join(ROOT, 'src'), join(folder, 'src'), {
    recursive: true,
    filter: (path) => !path.endsWith('.test.ts'),
  });
  for (const name of SHARED) cpSync(join(ROOT, name), join(folder, name));
  symlinkSync(join(ROOT, 'node_modules'), join(folder, 'node_modules'));
  for (const { creates, inserts } of additions) {
    for (const [path, text] of Object.entries(creates)) {
      mkdirSync(dirname(join(folder, path)), { recursive: true });
      writeFileSync(join(folder, path), text);
    }
    for (const insert of inserts) putIn(folder, insert);
  }
  return folder;
}

function putIn(folder: string, { path, before, text }: Insert): void {
  const file = join(folder, path);
  const old = readFileSync(file, 'utf8');
  assert.ok(before === '' || old.split(before).length === 2, `${path}: "${before}" stands there once`);
  const at = before === '' ? 0 : old.indexOf(before);
  writeFileSync(file, old.slice(0, at) + text + old.slice(at));
}
