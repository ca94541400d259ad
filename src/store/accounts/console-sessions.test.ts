import assert from 'node:assert/strict';
import { after, before, suite, test } from 'node:test';
import { systemClock as clock } from '../../lib/clock.ts';
import { openDatabase, type Database } from '../engine/database.ts';
import type { ConsoleSessionRow } from './columns.ts';
import { createConsoleLinkStore } from './console-links.ts';
import { createConsoleSessionStore } from './console-sessions.ts';
import { ALL_ENGINES, type Place } from '../../../tests/support/store/engines.ts';

function rowOf(id: string, more: Partial<ConsoleSessionRow> = {}): ConsoleSessionRow {
  return {
    id,
    idHash: `cookie of ${id}`,
    tokenHash: 't',
    subjectKind: 'api-key',
    subjectId: 'ann',
    role: 'member',
    createdAtMs: 1_000,
    lastSeenAtMs: 1_000,
    idleUntilMs: 5_000,
    endsAtMs: 9_000,
    userAgent: '',
    addressPrefix: '',
    ...more,
  };
}

for (const { name, makePlace } of ALL_ENGINES)
  suite(`sessions of the dashboard: ${name}`, () => {
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

    test('are found until they were idle for too long or are over, and not listed any more then', async () => {
      const store = createConsoleSessionStore({ database });
      await store.insert(rowOf('a'), 10);
      assert.equal((await store.find('cookie of a', 4_999))?.id, 'a');
      assert.equal(await store.find('cookie of a', 5_000), undefined);
      await store.seen('a', { lastSeenAtMs: 4_000, idleUntilMs: 20_000 });
      assert.equal((await store.find('cookie of a', 8_999))?.lastSeenAtMs, 4_000);
      assert.equal(await store.find('cookie of a', 9_000), undefined);
      assert.deepEqual(await store.list(9_000, 10), []);
      await store.insert(rowOf('later', { createdAtMs: 9_500, idleUntilMs: 10_000, endsAtMs: 10_000 }), 10);
      const left = await database.kysely.selectFrom('console_sessions').select('id').execute();
      assert.deepEqual(
        left.map(({ id }) => id),
        ['later'],
      );
      await store.delete('later');
    });

    test('give way to newer ones of the same subject beyond the bound', async () => {
      const store = createConsoleSessionStore({ database });
      await store.insert(rowOf('b', { subjectId: 'bob' }), 2);
      for (const at of [1, 2, 3]) await store.insert(rowOf(`a${at}`, { createdAtMs: 1_000 + at }), 2);
      const listed = await store.list(2_000, 10);
      assert.deepEqual(
        listed.map(({ id }) => id),
        ['a3', 'a2', 'b'],
      );
      assert.equal(await store.delete('b', 'ann'), false);
      assert.equal(await store.delete('b', 'bob'), true);
    });

    test('open with a link that only one of several callers can use, and none once it expires', async () => {
      const links = createConsoleLinkStore({ database });
      await links.insert({ tokenHash: 'x', createdAtMs: 0, expiresAtMs: 10 }, 0);
      const uses = await Promise.all(Array.from({ length: 8 }, () => links.use('x', 9)));
      assert.equal(uses.filter(Boolean).length, 1);
      await links.insert({ tokenHash: 'y', createdAtMs: 0, expiresAtMs: 10 }, 0);
      assert.equal(await links.use('y', 10), false);
    });
  });
