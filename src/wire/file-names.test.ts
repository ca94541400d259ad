import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { suite, test } from 'node:test';

const FOLDER = import.meta.dirname;
/** Folders of `src/wire` that are no format. */
const SHARED: ReadonlySet<string> = new Set(['gateway']);

function listFormats(): readonly string[] {
  return readdirSync(FOLDER, { withFileTypes: true })
    .filter((entry) => entry.isDirectory() && !SHARED.has(entry.name))
    .map(({ name }) => name);
}

/** `request/request-in.ts` of a format with both directions, and `request/request.ts` of another, are the same step. */
function stepOf(file: string): string {
  return path.posix.basename(file).replace(/(?:-in|-out)?\.ts$/, '');
}

/** Steps by the formats that have a file for them. */
function listSteps(): ReadonlyMap<string, ReadonlySet<string>> {
  const formatsOf = new Map<string, Set<string>>();
  for (const format of listFormats())
    for (const file of readdirSync(path.join(FOLDER, format), { recursive: true, encoding: 'utf8' })) {
      if (!file.endsWith('.ts') || file.endsWith('.test.ts')) continue;
      const step = stepOf(file.replaceAll('\\', '/'));
      formatsOf.set(step, (formatsOf.get(step) ?? new Set()).add(format));
    }
  return formatsOf;
}

suite('the table of file names', () => {
  const page = readFileSync(path.join(FOLDER, 'README.md'), 'utf8');
  const rows = new Set([...page.matchAll(/^\| `([^`]+)`/gm)].map(({ 1: file = '' }) => stepOf(file)));
  const steps = listSteps();

  test('has a row for each name that several formats use', () => {
    const shared = [...steps].filter(([, formats]) => formats.size > 1).map(([step]) => step);
    assert.ok(shared.length > 20, 'there are files to look at');
    assert.deepEqual(
      shared.filter((step) => !rows.has(step)),
      [],
    );
  });

  test('has no row that only one format uses', () => {
    assert.deepEqual(
      [...rows].filter((step) => (steps.get(step)?.size ?? 0) < 2),
      [],
    );
  });
});
