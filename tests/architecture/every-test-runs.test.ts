import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { test } from 'node:test';
import { filesOf } from '../support/run-together.ts';

test('runs every test file once with `npm test`', async () => {
  const [, everything = ''] = /^const EVERYTHING = \[(.+)\];$/m.exec(await readFile('scripts/test.ts', 'utf8')) ?? [];
  const started = await matching([...everything.matchAll(/'([^']+)'/g)].map(([, pattern]) => pattern ?? ''));
  const together = started.filter((file) => file.startsWith('tests/all-together/'));
  const sources = await Promise.all(together.map((file) => readFile(file, 'utf8')));
  const patterns = sources.map((source) => /runTogether\('([^']+)'\)/.exec(source)?.[1] ?? '');
  const run = [...started, ...(await matching(patterns))].toSorted();
  assert.deepEqual(run, [...(await filesOf('src/**/*.test.ts')), ...(await filesOf('tests/**/*.test.ts'))].toSorted());
});

async function matching(patterns: readonly string[]): Promise<readonly string[]> {
  return (await Promise.all(patterns.map(filesOf))).flat();
}
