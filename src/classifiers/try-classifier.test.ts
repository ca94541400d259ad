import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { GatewayError } from '../canonical/gateway-error.ts';
import type { Generate } from '../pipeline/request.ts';
import { classifierResource } from '../resources/classifiers.ts';
import type { DayCounts } from '../store/classifiers/classifiers.ts';
import { createTryClassifier, type TrialDeps } from './try-classifier.ts';

const NOW_MS = 1_790_000_000_000;
const LIMIT_NANO_USD = 1_000;
const CALL_NANO_USD = 200;
const classifier = classifierResource.newRow({
  id: 'classifier-1',
  workspaceId: 'workspace-1',
  name: 'Subjects',
  model: 'acme/reader',
  payerKeyHash: 'payer',
  dimensions: [{ name: 'subject', values: [{ value: 'a' }, { value: 'other' }] }],
  dailyCostLimitNanoUsd: LIMIT_NANO_USD,
  createdAtMs: NOW_MS,
  updatedAtMs: NOW_MS,
});
const model = { slug: 'acme/reader', endpoints: [{ dataPolicy: {} }], supportedParameters: [] };
const { signal } = new AbortController();

/** A model that answers nothing of use, each time for as much, within what a call may cost. */
function open() {
  const day = { spent: 0 };
  const generate = async (incoming: Parameters<Generate>[0]): Promise<void> => {
    await new Promise(setImmediate);
    const costs = (incoming.nested?.budgetNanoUsd ?? 0) >= CALL_NANO_USD;
    incoming.nested?.ended({ charge: { totalNanoUsd: costs ? CALL_NANO_USD : 0 } } as never);
  };
  const deps = {
    store: {
      today: () => Promise.resolve(new Map([[classifier.id, { costNanoUsd: day.spent }]])),
      count: (_id: string, _nowMs: number, { costNanoUsd = 0 }: DayCounts) => {
        day.spent += costNanoUsd;
        return Promise.resolve();
      },
    },
    admitKey: () => Promise.resolve({ kind: 'normal', workspaceId: 'workspace-1' }),
    catalog: { resolve: () => ({ model, variants: [] }), models: [model] },
    plugins: [],
    generate,
    format: { id: 'chat' },
    clock: { nowMs: () => NOW_MS, monotonicMs: () => 0 },
    findGeneration: (id: string) =>
      id === 'broken'
        ? Promise.reject(new Error('The database is away.'))
        : Promise.resolve({ id, workspaceId: 'workspace-1' }),
    readContent: () =>
      Promise.resolve({
        input: { messages: [{ role: 'user', content: 'Hi.' }] },
        output: { completion: 'Hello.' },
        privacy: { zdr: false, data_collection: 'allow' },
      }),
    policyOf: () => ({ preferences: [], zeroRetention: {}, paidTraining: true, freeTraining: true }),
  };
  return { day, tryOnce: createTryClassifier(deps as unknown as TrialDeps) };
}

// @spec classifier-9
test('counts what calls cost before the database was away', async () => {
  const { day, tryOnce } = open();
  const generationIds = ['1', '2', '3', '4', 'broken'];
  await assert.rejects(tryOnce(classifier, { generationIds }, signal), /The database is away/);
  assert.equal(day.spent, 4 * CALL_NANO_USD);
});

// @spec classifier-9
test('refuses more trials of a classifier than may wait', async () => {
  const { tryOnce } = open();
  const trials = Array.from({ length: 18 }, () => tryOnce(classifier, { text: 'Hi.' }, signal));
  const outcomes = await Promise.allSettled(trials);
  const refused = outcomes.flatMap((outcome) =>
    outcome.status === 'rejected' ? [outcome.reason as GatewayError] : [],
  );
  assert.deepEqual(
    refused.map(({ status }) => status),
    [429],
  );
  await tryOnce(classifier, { text: 'Hi.' }, signal);
});

// @spec classifier-9
test('keeps to the limit of the day where it is tried several times at once', async () => {
  const { day, tryOnce } = open();
  const all = await Promise.all(Array.from({ length: 8 }, () => tryOnce(classifier, { text: 'Hi.' }, signal)));
  assert.equal(day.spent, LIMIT_NANO_USD);
  assert.equal(all.flat().filter(({ costNanoUsd }) => costNanoUsd > 0).length, 5);
});
