import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { test } from 'node:test';
import { filesOf } from '../support/run-together.ts';

/** What `npm test` leaves to `npm run verify`: suites that start processes take as long as all others together, made-up requests as long as they are given. */
const LONG_SUITES = ['test:processes', 'test:package', 'test:crash', 'test:scale-out', 'test:fuzz'];

test('runs every test file once, with `npm test` or in a long suite of `npm run verify`', async () => {
  const [, everything = ''] = /^const EVERYTHING = \[(.+)\];$/m.exec(await readFile('scripts/test.ts', 'utf8')) ?? [];
  const started = await matching([...everything.matchAll(/'([^']+)'/g)].map(([, pattern]) => pattern ?? ''));
  const together = started.filter((file) => file.startsWith('tests/all-together/'));
  const sources = await Promise.all(together.map((file) => readFile(file, 'utf8')));
  const patterns = sources.map((source) => /runTogether\('([^']+)'\)/.exec(source)?.[1] ?? '');
  const run = [...started, ...(await matching([...patterns, ...(await longPatterns())]))].toSorted();
  const own = await matching(['src/**/*.test.ts', 'dashboard/src/**/*.test.ts', 'tests/**/*.test.ts']);
  assert.deepEqual(run, own.toSorted());
});

/** The files that the scripts of the long suites name, each of which has to be a step of `npm run verify`. */
async function longPatterns(): Promise<readonly string[]> {
  const { scripts } = JSON.parse(await readFile('package.json', 'utf8')) as {
    readonly scripts: Readonly<Record<string, string>>;
  };
  const steps = await readFile('scripts/verify.ts', 'utf8');
  return LONG_SUITES.map((name) => {
    assert.ok(steps.includes(`{ script: '${name}'`), `${name} is a step of \`npm run verify\``);
    return /"(tests\/[^"]+)"/.exec(scripts[name] ?? '')?.[1] ?? '';
  });
}

async function matching(patterns: readonly string[]): Promise<readonly string[]> {
  return (await Promise.all(patterns.map(filesOf))).flat();
}
