import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { after, before, suite, test } from 'node:test';
import { DEFAULT_WORKSPACE_ID } from '../accounts/principal.ts';
import { systemClock } from '../lib/clock.ts';
import { isJsonObject } from '../lib/json.ts';
import { openDatabase, type Database } from '../store/engine/database.ts';
import { scimMappingRows, scimUserRows } from '../store/scim/columns.ts';
import { createScimStore } from '../store/scim/scim.ts';
import { userRows } from '../store/people/columns.ts';
import { createScim, type Scim } from './scim.ts';

const MEMBERS = 5_000;
/** Some 500 rows each: one for the members, one for roles, two for memberships. */
const STATEMENTS_MAX = 120;

suite('a group of 5,000 members', () => {
  let database: Database;
  let scim: Scim;
  let group: string;
  const ids: string[] = [];
  const statements: string[] = [];
  before(async () => {
    database = await openDatabase({ path: ':memory:', clock: systemClock });
    await makeUsers(database, ids);
    scim = createScim({
      store: createScimStore({ database: logged(database, statements) }),
      rules: { defaultRole: 'org:member', adminGroup: 'everyone', emailDomains: [], usersMax: MEMBERS },
      onKeys: () => undefined,
      onEvent: async () => undefined,
      clock: systemClock,
    });
    const made = await scim.create('Groups', { displayName: 'everyone' }, '');
    const { id } = made;
    assert.ok(typeof id === 'string');
    group = id;
    const mapping = { id: 'm', groupId: group, workspaceId: DEFAULT_WORKSPACE_ID, role: 'member' as const };
    await database.kysely
      .insertInto('scim_group_mappings')
      .values(scimMappingRows.toColumns({ ...mapping, createdAtMs: 1, updatedAtMs: null }))
      .execute();
  });
  after(() => database.close());

  const change = async (op: string): Promise<number> => {
    statements.length = 0;
    const operation = { op, path: 'members', value: ids.map((value) => ({ value })) };
    await scim.patch('Groups', group, { Operations: [operation] }, undefined, '');
    return statements.length;
  };
  const countMembers = async (): Promise<number> =>
    (await database.kysely.selectFrom('membership_sources').select('id').execute()).length;

  // @spec scim-8, scim-11
  test('is pushed in few statements, however many memberships and roles follow', async () => {
    const added = await change('add');
    assert.equal(await countMembers(), MEMBERS);
    const removed = await change('remove');
    assert.equal(await countMembers(), 0);
    assert.ok(added <= STATEMENTS_MAX && removed <= STATEMENTS_MAX, `${added} and ${removed} statements`);
  });

  // @spec scim-11
  test('is read without its members where they are excluded', async () => {
    await change('add');
    statements.length = 0;
    const list = await scim.list(
      'Groups',
      { filter: 'displayName eq "everyone"', startIndex: 1, count: 100, withoutMembers: true },
      '',
    );
    assert.equal(list.totalResults, 1);
    const found = await scim.get('Groups', group, '', true);
    assert.equal(found['members'], undefined);
    assert.ok(statements.length > 0);
    assert.deepEqual(
      statements.filter((sql) => sql.includes('scim_group_members')),
      [],
    );
  });
});

const PUSHED = { externalId: null, attributes: {}, version: 1, createdAtMs: 1, modifiedAtMs: 1, deletedAtMs: null };
const USER = {
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
} as const;

async function makeUsers(database: Database, ids: string[]): Promise<void> {
  for (let from = 0; from < MEMBERS; from += 250) {
    const some = Array.from({ length: 250 }, (_, index) => ({
      id: randomUUID(),
      name: `u${from + index}@acme.example`,
    }));
    ids.push(...some.map(({ id }) => id));
    const users = some.map(({ id, name }) => ({ ...USER, id, email: name, emailKey: name }));
    await database.kysely
      .insertInto('users')
      .values(users.map((user) => userRows.toColumns(user)))
      .execute();
    const pushed = some.map(({ id, name }) =>
      scimUserRows.toColumns({ ...PUSHED, userId: id, userName: name, userNameKey: name }),
    );
    await database.kysely.insertInto('scim_users').values(pushed).execute();
  }
}

/** The same database, which writes down the tables that each statement names. */
function logged(database: Database, statements: string[]): Database {
  const log = {
    transformQuery({ node }: { readonly node: unknown }) {
      statements.push(tablesIn(node).join(' '));
      return node as never;
    },
    transformResult: async ({ result }: { readonly result: unknown }) => result as never,
  };
  return {
    ...database,
    kysely: database.kysely.withPlugin(log),
    runAlone: (lock, task) => database.runAlone(lock, (transaction) => task(transaction.withPlugin(log))),
  };
}

function tablesIn(node: unknown): string[] {
  if (Array.isArray(node)) return node.flatMap((each) => tablesIn(each));
  if (!isJsonObject(node)) return [];
  const { kind, identifier } = node;
  if (kind === 'SchemableIdentifierNode') return [JSON.stringify(identifier)];
  return Object.values(node).flatMap((each) => tablesIn(each));
}
