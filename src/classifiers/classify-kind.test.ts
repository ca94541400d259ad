import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createSecretBox, secretFrom } from '../lib/secret-box.ts';
import { classifierResource } from '../resources/classifiers.ts';
import type { DayCounts } from '../store/classifiers/classifiers.ts';
import type { Job } from '../store/jobs/columns.ts';
import { createClassifyKind } from './classify-kind.ts';
import { CLASSIFY, purposeOf } from './job.ts';

const NOW_MS = 1_790_000_000_000;
const HOUR_MS = 3_600_000;
const box = createSecretBox([secretFrom('a secret')]);
const classifier = classifierResource.newRow({
  id: 'classifier-1',
  workspaceId: 'workspace-1',
  name: 'Subjects',
  model: 'acme/reader',
  payerKeyHash: 'payer',
  dimensions: [{ name: 'subject', values: [{ value: 'a' }, { value: 'other' }] }],
  enabled: true,
  createdAtMs: NOW_MS,
  updatedAtMs: NOW_MS,
});

function jobOf(addedAtMs: number): Job {
  const checkpoint = {
    generationId: 'gen-1',
    createdAtMs: addedAtMs,
    version: 1,
    addedAtMs,
    rules: { zdr: false, dataCollection: 'allow' },
    sealed: box.seal('USER: hello', purposeOf('gen-1')),
  };
  return {
    id: 'job-1',
    kind: CLASSIFY,
    subjectId: classifier.id,
    state: 'running',
    attempt: 1,
    runAfterMs: 0,
    leaseOwner: 'one',
    leaseUntilMs: 0,
    isCancelled: false,
    checkpoint,
    error: null,
    createdAtMs: addedAtMs,
    updatedAtMs: addedAtMs,
    finishedAtMs: null,
    expiresAtMs: null,
  };
}

/** What becomes of a job whose model must not be called. */
async function run(addedAtMs: number, row: Partial<typeof classifier> = {}) {
  const counted: DayCounts[] = [];
  const unused = (): never => assert.fail('no model is called');
  const kind = createClassifyKind({
    store: {
      find: () => Promise.resolve({ ...classifier, ...row }),
      today: () => Promise.resolve(new Map()),
      count: (_id, _nowMs, counts) => Promise.resolve(void counted.push(counts)),
      addTags: unused,
    },
    admitKey: unused,
    box: () => Promise.resolve(box),
    catalog: {} as never,
    plugins: [],
    generate: unused,
    format: {} as never,
    clock: { nowMs: () => NOW_MS, monotonicMs: () => 0 },
    onLimit: () => undefined,
  });
  const { signal } = new AbortController();
  const outcome = await kind.run({ job: jobOf(addedAtMs), signal, save: unused });
  return { outcome, counted };
}

// @spec classifier-6
test('forgets a conversation that waited for more than an hour, and reads nothing of it', async () => {
  const { outcome, counted } = await run(NOW_MS - HOUR_MS - 1);
  assert.deepEqual(outcome, { state: 'failed', error: 'expired', checkpoint: {} });
  assert.deepEqual(counted, [{ dropped: 1 }]);
});

test('reads nothing for a classifier that was switched off or changed meanwhile, and keeps nothing', async () => {
  for (const change of [{ enabled: false }, { version: 2 }]) {
    const { outcome, counted } = await run(NOW_MS, change);
    assert.deepEqual([outcome, counted], [{ state: 'done', checkpoint: {} }, []]);
  }
});

// @spec classifier-8
test('reads nothing where no money is left for the day', async () => {
  const { outcome, counted } = await run(NOW_MS, { dailyCostLimitNanoUsd: 0 });
  assert.deepEqual(outcome, { state: 'failed', error: 'cost_limit', checkpoint: {} });
  assert.deepEqual(counted, [{ dropped: 1 }]);
});
