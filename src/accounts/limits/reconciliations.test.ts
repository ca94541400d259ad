import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import { createReconciliations, type ReconciliationsDeps } from './reconciliations.ts';

const COMPARED = { differences: [], generations: 2, entries: 2, subjects: 3, costNanoUsd: '7', chargedNanoUsd: '7' };
const DIFFERENCE = { what: 'charge', of: 'gen-1', expected: 3, found: 0 } as const;

function setUp(verify: ReconciliationsDeps['store']['verify']) {
  let nowMs = 1_000;
  const failures: unknown[] = [];
  const clock = { nowMs: () => nowMs++, monotonicMs: () => nowMs };
  const reconciliations = createReconciliations({
    store: { verify },
    clock,
    onFailed: (error) => failures.push(error),
  });
  return { reconciliations, failures };
}

const turn = () => new Promise((resolve) => setImmediate(resolve));

suite('reconciliations', () => {
  test('run one at a time for an account, and show how they ended', async () => {
    const { promise, resolve } = Promise.withResolvers<void>();
    let times = 0;
    const { reconciliations } = setUp(async () => {
      times++;
      await promise;
      return COMPARED;
    });
    const first = reconciliations.start('a');
    assert.deepEqual(reconciliations.start('a'), first);
    assert.equal(reconciliations.find('a', first.id).status, 'running');
    resolve();
    await turn();
    assert.equal(times, 1);
    const { status, compared, endedAtMs } = reconciliations.find('a', first.id);
    assert.deepEqual([status, compared, endedAtMs !== null], ['agrees', COMPARED, true]);
    assert.notEqual(reconciliations.start('a').id, first.id);
  });

  test('say that the sides differ, or that they could not be compared', async () => {
    const differing = setUp(() => Promise.resolve({ ...COMPARED, differences: [DIFFERENCE] }));
    const { id } = differing.reconciliations.start('a');
    const failing = setUp(() => Promise.reject(new Error('away')));
    const failed = failing.reconciliations.start('a');
    await turn();
    assert.equal(differing.reconciliations.find('a', id).status, 'differs');
    assert.equal(failing.reconciliations.find('a', failed.id).status, 'failed');
    assert.equal(failing.failures.length, 1);
  });

  test('keep the last twenty, and show none to another account', async () => {
    const { reconciliations } = setUp(() => Promise.resolve(COMPARED));
    const first = reconciliations.start('a');
    assert.throws(() => reconciliations.find('b', first.id), { status: 404 });
    for (let each = 0; each < 20; each++) {
      await turn();
      reconciliations.start('a');
    }
    assert.throws(() => reconciliations.find('a', first.id), { status: 404 });
  });
});
