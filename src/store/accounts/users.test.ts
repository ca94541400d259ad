import assert from 'node:assert/strict';
import { after, before, suite, test } from 'node:test';
import { systemClock as clock } from '../../lib/clock.ts';
import { openDatabase, type Database } from '../engine/database.ts';
import { createAssignmentStore } from './guardrail-assignments.ts';
import { ALL_ENGINES, type Place } from '../../../tests/support/store/engines.ts';
import { keyColumns } from '../../../tests/support/store/keys.ts';
import { createUserStore } from './users.ts';
import { createMemberStore } from './workspace-members.ts';

for (const { name, makePlace } of ALL_ENGINES)
  suite(`users: ${name}`, () => {
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

    const insert = (hash: string, user: string | null, deletedAtMs: number | null = null) =>
      database.kysely
        .insertInto('keys')
        .values({ ...keyColumns(hash), creator_user_id: user, deleted_at_ms: deletedAtMs })
        .execute();

    test('lists no users where no row names one', async () => {
      await insert('nobodys', null);
      assert.deepEqual(await createUserStore({ database }).list({ offset: 0, limit: 10 }), { rows: [], totalCount: 0 });
    });

    test('lists each user of a key, a workspace or a guardrail once, by page', async () => {
      await insert('a', 'dora');
      await insert('b', 'bob');
      await insert('c', 'gone', 2);
      const member = { workspaceId: 'w', role: 'member', createdAtMs: 1 } as const;
      await createMemberStore({ database }).insert([
        { ...member, id: '1', userId: 'bob' },
        { ...member, id: '2', workspaceId: 'v', userId: 'bob' },
        { ...member, id: '3', userId: 'ann' },
      ]);
      await database.kysely
        .insertInto('guardrail_assignments')
        .values([
          {
            id: '1',
            guardrail_id: 'g',
            subject_kind: 'member',
            subject_id: 'carl',
            assigned_by: null,
            created_at_ms: 1,
          },
          { id: '2', guardrail_id: 'g', subject_kind: 'key', subject_id: 'a', assigned_by: null, created_at_ms: 1 },
        ])
        .execute();
      const users = createUserStore({ database });
      assert.deepEqual(await users.list({ offset: 0, limit: 10 }), {
        rows: ['ann', 'bob', 'carl', 'dora'],
        totalCount: 4,
      });
      assert.deepEqual(await users.list({ offset: 1, limit: 2 }), { rows: ['bob', 'carl'], totalCount: 4 });
      assert.equal(await createAssignmentStore({ database }).has('member', 'carl'), true);
    });
  });
