import assert from 'node:assert/strict';
import { mock, test } from 'node:test';
import { DatabaseError } from './database-error.ts';
import { createBatchedReads } from './batched-reads.ts';

/** Makes reads that answer when the test says so: each name is its own row, but `nobody` has none. */
function setUp() {
  const reads: { readonly names: readonly string[]; readonly end: (error?: Error) => void }[] = [];
  const find = createBatchedReads((names) => {
    const { promise, resolve, reject } = Promise.withResolvers<ReadonlyMap<string, string>>();
    const rows = new Map(names.filter((name) => name !== 'nobody').map((name) => [name, `row of ${name}`]));
    reads.push({ names, end: (error) => (error === undefined ? resolve(rows) : reject(error)) });
    return promise;
  });
  return { reads, find };
}

test('sends one more statement for all names that come while two statements run, and gives each caller its own row', async () => {
  const { reads, find } = setUp();
  const requested = ['a', 'b', 'c', 'nobody', 'c'].map((name) => find(name));
  assert.deepEqual(
    reads.map(({ names }) => names),
    [['a'], ['b']],
  );
  reads[0]?.end();
  await requested[0];
  assert.deepEqual([...new Set(reads[2]?.names)], ['c', 'nobody']);
  reads[1]?.end();
  reads[2]?.end();
  assert.deepEqual(await Promise.all(requested), ['row of a', 'row of b', 'row of c', undefined, 'row of c']);
});

test('reads a thousand names at once in a dozen statements of few lengths', async () => {
  const { reads, find } = setUp();
  const requested = Array.from({ length: 1_000 }, (_, index) => find(String(index)));
  for (let at = 0; at < reads.length; at++) {
    reads[at]?.end();
    await new Promise(setImmediate);
  }
  await Promise.all(requested);
  assert.ok(reads.length <= 12, `${reads.length}`);
  assert.deepEqual(new Set(reads.map(({ names }) => names.length)), new Set([1, 100]));
});

test('reports the failure of a statement to its own callers alone', async () => {
  const { reads, find } = setUp();
  const requested = ['a', 'b', 'c'].map((name) => find(name));
  reads[0]?.end(new Error('away'));
  await assert.rejects(requested[0] ?? assert.fail(), /away/);
  reads[1]?.end();
  reads[2]?.end();
  assert.deepEqual(await Promise.all(requested.slice(1)), ['row of b', 'row of c']);
});

test('lets unanswered statements delay others for a second, and still delivers their rows', async (t) => {
  mock.timers.enable({ apis: ['setTimeout'] });
  t.after(() => mock.timers.reset());
  const { reads, find } = setUp();
  const requested = ['a', 'b', 'c'].map((name) => find(name));
  mock.timers.tick(999);
  assert.equal(reads.length, 2);
  mock.timers.tick(1);
  assert.equal(reads.length, 3);
  for (const { end } of reads) end();
  assert.equal((await Promise.all(requested)).length, 3);
});

test('refuses a read as transient where too many wait already', async () => {
  const { find } = setUp();
  for (let index = 0; index < 10_002; index++) void find(String(index));
  await assert.rejects(find('one more'), (error) => error instanceof DatabaseError && error.transient);
});
