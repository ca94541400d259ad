import assert from 'node:assert/strict';
import { test } from 'node:test';
import { JobError } from '../../lib/threads/job-threads.ts';
import type { DestinationRow } from '../../resources/destinations.ts';
import { createBroadcast } from './broadcast.ts';
import type { ExportedGeneration } from './contract.ts';
import { filterRulesSchema } from '../../resources/filter-rules.ts';

const GENERATION = {
  id: 'gen-1',
  model: 'acme/one',
  trace: {},
  identity: { keyHash: 'k', workspaceId: 'w' },
} as ExportedGeneration;

const ROW = {
  id: 'd',
  workspaceId: 'w',
  type: 'webhook',
  apiKeyHashes: null,
  samplingPpm: 1_000_000,
} as DestinationRow;

/** A broadcast to one destination that wants what a pattern finds. */
async function make(search: () => Promise<readonly boolean[]>) {
  const outcomes: string[] = [];
  const rules = { groups: [{ rules: [{ field: 'model', operator: 'regex', value: 'one' }] }] };
  const open = {
    url: '',
    serialize: () => ({ url: '', method: 'POST' as const, headers: {}, body: '' }),
    serializeTest: () => assert.fail('nobody tests it'),
  };
  const broadcast = createBroadcast({
    destinations: { live: () => Promise.resolve([{ row: ROW, filterRules: filterRulesSchema.parse(rules), open }]) },
    poster: { post: () => Promise.resolve({ status: 200 }) },
    patterns: { search, close: () => Promise.resolve() },
    nowMs: () => 0,
    random: () => 0,
    onOutcome: (type, outcome, count) => void outcomes.push(`${type} ${outcome} ${count}`),
  });
  await broadcast.refresh();
  return { broadcast, outcomes };
}

test('sends records that are still being searched when the gateway stops', async () => {
  const { promise, resolve } = Promise.withResolvers<readonly boolean[]>();
  const { broadcast, outcomes } = await make(() => promise);
  broadcast.offer(GENERATION);
  const closed = broadcast.close();
  resolve([true]);
  await closed;
  assert.deepEqual(outcomes, ['webhook sent 1']);
});

test('sends nothing without a match', async () => {
  const { broadcast, outcomes } = await make(() => Promise.resolve([false]));
  broadcast.offer(GENERATION);
  await broadcast.close();
  assert.deepEqual(outcomes, []);
});

test('drops and counts a generation whose search took too long', async () => {
  const { broadcast, outcomes } = await make(() => Promise.reject(new JobError('timeout')));
  broadcast.offer(GENERATION);
  await broadcast.close();
  assert.deepEqual(outcomes, ['webhook dropped 1']);
});
