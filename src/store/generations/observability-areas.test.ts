import assert from 'node:assert/strict';
import { after, before, suite, test } from 'node:test';
import { systemClock as clock } from '../../lib/clock.ts';
import { openDatabase, type Database } from '../engine/database.ts';
import type { DestinationRow } from '../../resources/destinations.ts';
import { createDestinationStore } from '../accounts/destinations.ts';
import type { ContentRow } from '../accounts/columns.ts';
import { createContentStore } from './generation-content.ts';
import { createFeedbackStore } from './generation-feedback.ts';
import { listGenerations } from './generation-list.ts';
import { applyPayloads, createAppender } from '../../../tests/support/store/append.ts';
import { ALL_ENGINES, type Place } from '../../../tests/support/store/engines.ts';
import { sampleGeneration } from '../../../tests/support/store/generations.ts';

const NOW_MS = 1_790_000_000_123;

const anything = (): void => undefined;

function destination(changes: Partial<DestinationRow> & Pick<DestinationRow, 'id'>): DestinationRow {
  return {
    workspaceId: 'w',
    type: 'webhook',
    name: 'Ours',
    enabled: true,
    privacyMode: false,
    samplingPpm: 1_000_000,
    sendsCost: true,
    sendsIdentity: false,
    sendsRequestContext: true,
    apiKeyHashes: null,
    filterRules: null,
    sealedConfig: 'v1.one.abc',
    secretId: 'one',
    createdAtMs: NOW_MS,
    updatedAtMs: NOW_MS,
    ...changes,
  };
}

function content(generationId: string, createdAtMs: number): ContentRow {
  return { generationId, createdAtMs, workspaceId: 'w', sealed: `v1.one.${generationId}`, secretId: 'one' };
}

for (const { name, makePlace } of ALL_ENGINES)
  suite(`the store of observability: ${name}`, () => {
    let database: Database;
    let place: Place;
    before(async () => {
      place = await makePlace();
      database = await openDatabase({ ...place, clock });
    });
    after(async () => {
      await database.close();
      await place.remove();
    });

    test('lists destinations as they were made, in order of time, by workspace and by page', async () => {
      const store = createDestinationStore({ database });
      const rows = [
        destination({ id: 'a', apiKeyHashes: ['h1', 'h2'], filterRules: '{"enabled":true}', enabled: false }),
        destination({ id: 'b', createdAtMs: NOW_MS + 1, samplingPpm: 1, privacyMode: true, sendsCost: false }),
        destination({ id: 'c', createdAtMs: NOW_MS + 2, workspaceId: 'other' }),
      ];
      for (const row of rows.toReversed()) await store.insert(row, anything);
      for (const row of rows) assert.deepEqual(await store.find(row.id), row);
      assert.deepEqual(await store.list({ offset: 0, limit: 10 }), { rows, totalCount: 3 });
      assert.deepEqual(await store.list({ offset: 1, limit: 1 }), { rows: rows.slice(1, 2), totalCount: 3 });
      assert.deepEqual(await store.list({ offset: 0, limit: 10, workspaceId: 'w' }), {
        rows: rows.slice(0, 2),
        totalCount: 2,
      });
    });

    test('changes a destination only as it was read, and removes it once', async () => {
      const store = createDestinationStore({ database });
      const row = destination({ id: 'd', workspaceId: 'changed' });
      await store.insert(row, anything);
      const changed = { ...row, name: 'Theirs', apiKeyHashes: ['h'], updatedAtMs: NOW_MS + 5 };
      assert.equal(await store.update(changed, row, anything), true);
      assert.equal(await store.update({ ...row, name: 'Late' }, row, anything), false);
      assert.deepEqual(await store.find('d'), changed);
      assert.deepEqual([await store.remove('d'), await store.remove('d')], [true, false]);
      assert.equal(await store.find('d'), undefined);
    });

    test('stores content once, and deletes the oldest first, in batches', async () => {
      const store = createContentStore({ database });
      const rows = [1, 2, 3, 4].map((at) => content(`gen-${at}`, NOW_MS + at));
      await store.insert([]);
      await store.insert(rows);
      await store.insert([{ ...content('gen-1', NOW_MS + 9), sealed: 'another' }]);
      assert.deepEqual(await store.find('gen-1'), rows[0]);
      assert.equal(await store.removeBefore(NOW_MS + 4, 2), 2);
      assert.deepEqual([await store.find('gen-2'), await store.find('gen-3')], [undefined, rows[2]]);
      assert.deepEqual([await store.removeBefore(NOW_MS + 4, 2), await store.removeBefore(NOW_MS + 4, 2)], [1, 0]);
      assert.deepEqual(await store.find('gen-4'), rows[3]);
    });

    test('lists feedback in order of time, whatever its text, and keeps a limited number', async () => {
      const store = createFeedbackStore({
        database,
        append: async (payload) => void (await applyPayloads(database, [payload])),
      });
      const one = { generationId: 'gen-1', atMs: NOW_MS, authorKeyHash: 'h', category: 'latency', comment: null };
      const other = { ...one, atMs: NOW_MS + 1, category: 'other', comment: 'slow \u{1f40c}' };
      assert.deepEqual([await store.insert(other), await store.insert(one)], [true, true]);
      assert.deepEqual(await store.list('gen-1'), [one, other]);
      assert.equal(await store.insert({ ...one, generationId: 'gen-odd', comment: 'a\0b\ud800' }), true);
      assert.equal((await store.list('gen-odd')).length, 1);
      for (let count = 0; count < 100; count++) await store.insert({ ...one, generationId: 'gen-many' });
      assert.equal(await store.insert({ ...one, generationId: 'gen-many' }), false);
      assert.equal((await store.list('gen-many')).length, 100);
    });

    test('finds generations by caller, task and outcome', async () => {
      const store = createAppender(database);
      const rows = [
        sampleGeneration({ id: 'gen-a', createdAtMs: NOW_MS, keyHash: 'k1', model: 'acme/one', status: 200 }),
        sampleGeneration({ id: 'gen-b', createdAtMs: NOW_MS + 1, keyHash: 'k1', model: 'acme/two', status: 502 }),
        sampleGeneration({ id: 'gen-c', createdAtMs: NOW_MS + 2, keyHash: 'k2', provider: null, sessionId: 's' }),
      ];
      await Promise.all(rows.map((row) => store.append(row)));
      const idsOf = async (filter: object): Promise<readonly string[]> =>
        (await listGenerations(database, { sinceMs: 0, limit: 10, ...filter })).map(({ id }) => id);
      assert.deepEqual(await idsOf({}), ['gen-c', 'gen-b', 'gen-a']);
      assert.deepEqual(await idsOf({ limit: 2, sinceMs: NOW_MS + 1 }), ['gen-c', 'gen-b']);
      assert.deepEqual(await idsOf({ keyHash: 'k1', model: 'acme/one' }), ['gen-a']);
      assert.deepEqual(await idsOf({ failed: true }), ['gen-b']);
      assert.deepEqual(await idsOf({ sessionId: 's' }), ['gen-c']);
      assert.deepEqual(await idsOf({ provider: 'nobody' }), []);
      assert.deepEqual(await listGenerations(database, { sinceMs: 0, limit: 1 }), [rows[2]]);
    });
  });
