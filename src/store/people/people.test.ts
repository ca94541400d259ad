import assert from 'node:assert/strict';
import { after, before, suite, test } from 'node:test';
import { systemClock as clock } from '../../lib/clock.ts';
import { keyResource } from '../../resources/keys.ts';
import { DEFAULT_WORKSPACE_ID } from '../../accounts/principal.ts';
import { createKeyStore } from '../accounts/keys.ts';
import { openDatabase, type Database } from '../engine/database.ts';
import { ALL_ENGINES, type Place } from '../../../tests/support/store/engines.ts';
import type { InvitationRow, UserRow } from './columns.ts';
import type { ConsoleSessionRow } from '../accounts/columns.ts';
import { createConsoleSessionStore } from '../accounts/console-sessions.ts';
import { createInvitationStore } from './invitations.ts';
import { createPeopleStore } from './people.ts';

function userOf(id: string, more: Partial<UserRow> = {}): UserRow {
  return {
    id,
    email: `${id}@acme.example`,
    emailKey: `${id}@acme.example`,
    firstName: null,
    lastName: null,
    role: 'org:member',
    passwordHash: null,
    oidcSubject: null,
    createdAtMs: 1,
    updatedAtMs: null,
    lastSeenAtMs: null,
    disabledAtMs: null,
    disabledBy: null,
    deletedAtMs: null,
    ...more,
  };
}

function invitationOf(id: string): InvitationRow {
  return {
    id,
    tokenHash: `token of ${id}`,
    email: `${id}@acme.example`,
    emailKey: `${id}@acme.example`,
    role: 'org:member',
    userId: null,
    workspaces: [{ workspaceId: DEFAULT_WORKSPACE_ID, role: 'admin' }],
    invitedBy: 'test',
    createdAtMs: 1,
    expiresAtMs: 100,
  };
}

for (const { name, makePlace } of ALL_ENGINES)
  suite(`users of the organization: ${name}`, () => {
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

    // @spec people-2
    test('keep one admin, however many are made members or removed at once', async () => {
      const store = createPeopleStore({ database });
      for (const id of ['a1', 'a2', 'a3']) await store.insert(userOf(id, { role: 'org:admin' }), 10);
      const outcomes = await Promise.all([
        store.update('a1', { role: 'org:member', updatedAtMs: 2 }),
        store.disable('a2', 2),
        store.remove('a3', 2),
      ]);
      assert.equal(outcomes.filter((outcome) => outcome === 'last admin').length, 1);
      await database.kysely.deleteFrom('users').execute();
    });

    // @spec people-3
    test('are as many as there may be, one for each address, one for each invitation', async () => {
      const [store, invitations] = [createPeopleStore({ database }), createInvitationStore({ database })];
      assert.equal(await store.insert(userOf('one'), 2), 'inserted');
      assert.equal(await store.insert(userOf('again', { emailKey: 'one@acme.example' }), 2), 'taken');
      await invitations.insert(invitationOf('two'));
      const tries = ['x', 'y', 'z'].map((id) => userOf(id, { emailKey: `${id}@acme.example` }));
      const made = await Promise.all(tries.map((user) => invitations.accept('two', user, 2, 50)));
      assert.equal(made.filter((user) => user !== undefined && typeof user !== 'string').length, 1);
      await invitations.insert(invitationOf('three'));
      assert.equal(await invitations.accept('three', userOf('three'), 2, 50), 'full');
      assert.equal(await invitations.accept('three', userOf('three'), 9, 100), undefined);
      const [user] = made.filter((one) => one !== undefined && typeof one !== 'string');
      assert.ok(user !== undefined && typeof user !== 'string');
      assert.deepEqual(await store.membershipsOf(user.id), [{ workspaceId: DEFAULT_WORKSPACE_ID, role: 'admin' }]);
      await database.kysely.deleteFrom('users').execute();
      await database.kysely.deleteFrom('membership_sources').execute();
    });

    // @spec people-4
    test('end with their keys, those that these issued, and no key comes after', async () => {
      const [store, keys] = [createPeopleStore({ database }), createKeyStore({ database })];
      const keyOf = (hash: string, more: object = {}) =>
        keyResource.newRow({
          hash,
          label: 'x',
          name: 'x',
          workspaceId: DEFAULT_WORKSPACE_ID,
          createdAtMs: 1,
          creatorUserId: 'ann',
          ...more,
        });
      await store.insert(userOf('root', { role: 'org:admin' }), 10);
      await store.insert(userOf('ann'), 10);
      await keys.insertInWorkspace(keyOf('own'));
      await keys.insertInWorkspace(keyOf('issued', { issuerKeyHash: 'own', creatorUserId: null }));
      await keys.insertInWorkspace(keyOf('other', { creatorUserId: 'bob' }));
      const racing = Array.from({ length: 8 }, (_each, at) => keys.insertInWorkspace(keyOf(`late ${at}`)));
      const ended = await store.disable('ann', 5);
      await Promise.all(racing);
      assert.ok(typeof ended !== 'string' && ended.keys.includes('own') && ended.keys.includes('issued'));
      const working = await keys.list({ includeDisabled: false, offset: 0, limit: 100 });
      assert.deepEqual(
        working.map(({ hash }) => hash),
        ['other'],
      );
      assert.equal(await keys.insertInWorkspace(keyOf('after')), 'no owner');
      await store.remove('ann', 6);
      assert.equal(await keys.insertInWorkspace(keyOf('after')), 'no owner');
      const { rows, totalCount } = await store.list({ offset: 0, limit: 10 });
      assert.deepEqual(
        [rows.map(({ id, keys: owned, user }) => [id, owned, user?.role]), totalCount],
        [
          [
            ['root', 0, 'org:admin'],
            ['bob', 1, undefined],
          ],
          2,
        ],
      );
    });

    // @spec people-6
    test('ends sessions and links with a change of the password, also a session that is opened meanwhile', async () => {
      const [people, sessions] = [createPeopleStore({ database }), createConsoleSessionStore({ database })];
      const links = createInvitationStore({ database });
      await people.insert(userOf('pia', { passwordHash: 'old' }), 100);
      const sessionOf = (id: string): ConsoleSessionRow => ({
        id,
        idHash: `cookie of ${id}`,
        tokenHash: 't',
        subjectKind: 'user',
        subjectId: 'pia',
        role: 'member',
        createdAtMs: 1_000,
        lastSeenAtMs: 1_000,
        idleUntilMs: 5_000,
        endsAtMs: 9_000,
        userAgent: '',
        addressPrefix: '',
      });
      for (const id of ['s1', 's2']) assert.equal(await sessions.insert(sessionOf(id), 50, 'old'), true);
      await links.insert({ ...invitationOf('pia'), userId: 'pia' });
      const change = { passwordHash: 'new', before: 'old', exceptSessionId: 's1', atMs: 7 };
      const [changed, ...opened] = await Promise.all([
        people.setPassword('pia', change),
        ...['r1', 'r2', 'r3'].map((id) => sessions.insert(sessionOf(id), 50, 'old')),
      ]);
      assert.equal(changed?.passwordHash, 'new');
      const left = await sessions.list(2_000, 100, 'pia');
      assert.deepEqual(
        left.map(({ id }) => id),
        ['s1'],
        `opened meanwhile: ${opened.join(' ')}`,
      );
      assert.equal(await sessions.insert(sessionOf('late'), 50, 'old'), false);
      assert.equal(await links.find('token of pia', 10), undefined);
      assert.equal(await people.setPassword('pia', change), undefined, 'the checked password is no more');
    });

    // @spec people-8
    test('takes the role of a workspace admin from one that is an admin of the organization no more', async () => {
      const people = createPeopleStore({ database });
      await people.insert(userOf('root', { role: 'org:admin' }), 100);
      await people.insert(userOf('uma', { role: 'org:admin' }), 100);
      for (const [id, source] of [
        ['m1', 'manual'],
        ['m2', 'mapping:g'],
      ] as const)
        await database.kysely
          .insertInto('membership_sources')
          .values({
            id,
            workspace_id: source === 'manual' ? DEFAULT_WORKSPACE_ID : 'w2',
            user_id: 'uma',
            source,
            role: 'admin',
            created_at_ms: 1,
          })
          .execute();
      await people.update('uma', { role: 'org:member', updatedAtMs: 2 });
      const rows = await database.kysely
        .selectFrom('membership_sources')
        .select(['id', 'role'])
        .where('user_id', '=', 'uma')
        .orderBy('id')
        .execute();
      assert.deepEqual(
        rows.map(({ id, role }) => `${id} ${role}`),
        ['m1 member', 'm2 admin'],
      );
    });
  });
