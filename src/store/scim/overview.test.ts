import assert from 'node:assert/strict';
import { suite, test, type TestContext } from 'node:test';
import { ENGINES } from '../../../tests/support/store/engines.ts';
import { userRows } from '../people/columns.ts';
import { openDatabase } from '../engine/database.ts';
import { scimRequestRows, scimUserRows } from './columns.ts';
import { eraseDeleted } from './overview.ts';
import { listPushedUsers } from './pushed-users.ts';
import { createScimRequestStore } from './requests.ts';

const clock = { nowMs: () => 0, monotonicMs: () => 0 };
const USER = {
  firstName: 'Ada',
  lastName: null,
  role: 'org:member',
  passwordHash: 'x',
  oidcSubject: null,
  createdAtMs: 1,
  updatedAtMs: null,
  lastSeenAtMs: null,
  disabledBy: 'scim',
  deletedAtMs: null,
} as const;
const PUSHED = { externalId: 'e', attributes: { title: 'Dr' }, version: 1, createdAtMs: 1, modifiedAtMs: 1 };

for (const { name, makePlace } of ENGINES)
  suite(`SCIM in ${name}`, () => {
    const open = async (t: TestContext) => {
      const place = await makePlace();
      const database = await openDatabase({ ...place, clock });
      t.after(async () => {
        await database.close();
        await place.remove();
      });
      return database;
    };

    // @spec scim-13, scim-16
    test('forgets users that were deleted long ago, and not those that are back or active', async (t) => {
      const database = await open(t);
      for (const [id, deletedAtMs, disabledAtMs] of [
        ['old', 100, 100],
        ['young', 300, 300],
        ['enabled', 100, null],
        ['pushed', null, 100],
      ] as const) {
        const user = { ...USER, id, email: `${id}@a.example`, emailKey: `${id}@a.example`, disabledAtMs };
        await database.kysely.insertInto('users').values(userRows.toColumns(user)).execute();
        const pushed = { ...PUSHED, userId: id, userName: id, userNameKey: id, externalId: id, deletedAtMs };
        await database.kysely.insertInto('scim_users').values(scimUserRows.toColumns(pushed)).execute();
      }
      await database.kysely.insertInto('scim_group_members').values({ group_id: 'g', user_id: 'old' }).execute();
      const listed = await listPushedUsers(database, { offset: 1, limit: 2 });
      assert.deepEqual(
        listed.rows.map(({ id, deletedAtMs, groups }) => [id, deletedAtMs, groups]),
        [
          ['old', 100, 1],
          ['pushed', null, 0],
        ],
      );
      assert.equal(listed.totalCount, 4);
      assert.equal(await eraseDeleted(database, 200, 400, 10), 1);
      const rows = await database.kysely.selectFrom('users').selectAll().orderBy('id').execute();
      assert.deepEqual(
        rows.map(({ id, email, first_name: first, deleted_at_ms: deletedAtMs }) => [id, email, first, deletedAtMs]),
        [
          ['enabled', 'enabled@a.example', 'Ada', null],
          ['old', '', null, 400],
          ['pushed', 'pushed@a.example', 'Ada', null],
          ['young', 'young@a.example', 'Ada', null],
        ],
      );
      const left = await database.kysely.selectFrom('scim_users').select('user_id').orderBy('user_id').execute();
      assert.deepEqual(
        left.map(({ user_id: id }) => id),
        ['enabled', 'pushed', 'young'],
      );
    });

    // @spec scim-12
    test('keeps the newest requests, as far as they are not too old', async (t) => {
      const database = await open(t);
      const store = createScimRequestStore({ database });
      const row = { tokenId: null, address: 'a', method: 'GET', path: '/', status: 200, outcome: '' };
      await store.insert([10, 20, 30, 40].map((atMs) => ({ ...row, id: String(atMs), atMs })));
      const times = async () =>
        (await database.kysely.selectFrom('scim_requests').selectAll().orderBy('at_ms').execute()).map(
          (columns) => scimRequestRows.toRow(columns).atMs,
        );
      await store.clearAway(3, 5);
      assert.deepEqual(await times(), [20, 30, 40]);
      await store.clearAway(3, 30);
      assert.deepEqual(await times(), [40]);
    });
  });
