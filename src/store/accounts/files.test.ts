import assert from 'node:assert/strict';
import { after, before, suite, test } from 'node:test';
import { systemClock as clock } from '../../lib/clock.ts';
import { openDatabase, type Database } from '../engine/database.ts';
import type { FileRow } from '../../resources/files.ts';
import { createFileStore, type FileStore } from './files.ts';
import { ALL_ENGINES, type Place } from '../../../tests/support/store/engines.ts';

const HOME = '00000000-0000-4000-8000-000000000001';
const NOW_MS = 1_000_000;
const ROOM = { bytesMax: 1_000, filesMax: 3 };

function file(id: string, changes: Partial<FileRow> = {}): FileRow {
  return {
    id,
    workspaceId: HOME,
    filename: `${id}.txt`,
    mimeType: 'text/plain',
    sizeBytes: 100,
    madeHere: false,
    purpose: 'user_data',
    keyHash: 'k',
    createdAtMs: NOW_MS,
    expiresAtMs: null,
    ...changes,
  };
}

for (const { name, makePlace } of ALL_ENGINES)
  suite(`files in ${name}`, () => {
    let place: Place;
    let database: Database;
    let store: FileStore;

    before(async () => {
      place = await makePlace();
      database = await openDatabase({ ...place, clock });
      store = createFileStore({ database });
    });

    after(async () => {
      await database.close();
      await place.remove();
    });

    async function put(row: FileRow, room = ROOM): Promise<string> {
      await store.begin({ ...row, mimeType: '', sizeBytes: 0 });
      return store.finish(row, room);
    }

    async function clear(): Promise<void> {
      for (const { id, workspaceId } of await store.list(HOME, 0, { afterId: undefined, limit: 100 }))
        await store.remove(workspaceId, id);
      await store.forget(await store.listLeftovers(100));
    }

    test('shows a file once it is finished, to its workspace alone', async () => {
      await store.begin(file('a'));
      assert.equal(await store.find(HOME, 'a', NOW_MS), undefined);
      assert.equal(await store.finish(file('a', { purpose: 'vision' }), ROOM), 'stored');
      assert.deepEqual(await store.find(HOME, 'a', NOW_MS), file('a', { purpose: 'vision' }));
      assert.equal(await store.find('another', 'a', NOW_MS), undefined);
      assert.equal(await store.remove('another', 'a'), false);
      assert.equal(await store.remove(HOME, 'a'), true);
      assert.equal(await store.remove(HOME, 'a'), false);
      assert.equal(await store.find(HOME, 'a', NOW_MS), undefined);
      assert.deepEqual(await store.usage(HOME), { bytes: 0, files: 0 });
      await clear();
    });

    test('gives concurrent finishing files no more room than there is', async () => {
      const outcomes = await Promise.all(
        ['b1', 'b2', 'b3', 'b4', 'b5', 'b6'].map((id) => put(file(id, { sizeBytes: 400 }))),
      );
      assert.equal(outcomes.filter((outcome) => outcome === 'stored').length, 2);
      assert.deepEqual(await store.usage(HOME), { bytes: 800, files: 2 });
      assert.equal((await store.listLeftovers(10)).length, 4);
      assert.equal(await put(file('b7', { sizeBytes: 1 })), 'stored');
      assert.equal(await put(file('b8', { sizeBytes: 1 })), 'full', 'there are as many as there may be');
      await clear();
    });

    test('continues a list where it ended, also after a file that was deleted', async () => {
      const room = { bytesMax: 10_000, filesMax: 10 };
      for (const id of ['c1', 'c2', 'c3', 'c4']) await put(file(id), room);
      const page = await store.list(HOME, NOW_MS, { afterId: undefined, limit: 2 });
      assert.deepEqual(
        page.map(({ id }) => id),
        ['c1', 'c2'],
      );
      await store.remove(HOME, 'c2');
      const rest = await store.list(HOME, NOW_MS, { afterId: 'c2', limit: 10 });
      assert.deepEqual(
        rest.map(({ id }) => id),
        ['c3', 'c4'],
      );
      await clear();
    });

    test('finds files by a part of the name in any case, and takes the youngest of a name', async () => {
      const room = { bytesMax: 10_000, filesMax: 10 };
      await put(file('d1', { filename: 'Report.PDF' }), room);
      await put(file('d2', { filename: 'notes.txt' }), room);
      await put(file('d3', { filename: 'notes.txt' }), room);
      const found = async (nameHas: string): Promise<readonly string[]> =>
        (await store.list(HOME, NOW_MS, { afterId: undefined, limit: 10, nameHas })).map(({ id }) => id);
      assert.deepEqual(await found('report'), ['d1']);
      assert.deepEqual(await found('NOTES'), ['d2', 'd3']);
      assert.deepEqual(await found("%'"), []);
      assert.equal((await store.findByName(HOME, 'notes.txt', NOW_MS))?.id, 'd3');
      await put(file('d4', { purpose: 'vision' }), room);
      const ofPurpose = await store.list(HOME, NOW_MS, { afterId: undefined, limit: 10, purpose: 'vision' });
      assert.deepEqual(
        ofPurpose.map(({ id }) => id),
        ['d4'],
      );
      await clear();
    });

    test('gives up files that were never finished, that expired, or that belong to no workspace', async () => {
      const room = { bytesMax: 10_000, filesMax: 10 };
      await store.begin(file('e1', { createdAtMs: NOW_MS - 2 }));
      await store.begin(file('e2', { createdAtMs: NOW_MS }));
      await put(file('e3', { expiresAtMs: NOW_MS }), room);
      await put(file('e4', { expiresAtMs: NOW_MS + 1 }), room);
      await put(file('e5', { workspaceId: 'gone' }), room);
      assert.equal(await store.find(HOME, 'e3', NOW_MS), undefined, 'it is not seen from the moment on');
      assert.equal(await store.giveUp(NOW_MS, NOW_MS - 1, 100), 3);
      assert.deepEqual((await store.listLeftovers(10)).toSorted(), ['e1', 'e3', 'e5']);
      assert.equal(await store.finish(file('e1'), room), 'gone');
      assert.equal(await store.finish(file('e2'), room), 'stored');
      assert.equal((await store.find(HOME, 'e4', NOW_MS))?.id, 'e4');
      assert.equal(await store.giveUp(NOW_MS, NOW_MS - 1, 100), 0);
      await store.forget(['e1', 'e2', 'e3', 'e5']);
      assert.deepEqual(await store.listLeftovers(10), []);
      assert.equal((await store.find(HOME, 'e2', NOW_MS))?.id, 'e2', 'only what was given up is forgotten');
      await clear();
    });
  });
