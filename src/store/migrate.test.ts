import assert from 'node:assert/strict';
import { after, before, suite, test } from 'node:test';
import { openDatabase, type Database } from './database.ts';
import { migrate, MIGRATIONS, type Migration } from './migrate.ts';

const clock = { nowMs: () => 1_790_000_000_000, monotonicMs: () => 0 };

const NEXT: Migration = {
  name: '0002-next',
  async up(schema) {
    await schema.createTable('next').addColumn('id', 'text').execute();
  },
};

suite('migrations', () => {
  let database: Database;
  before(async () => {
    database = await openDatabase({ path: ':memory:', clock });
  });
  after(() => database.close());

  async function tables(): Promise<readonly string[]> {
    const found = await database.kysely.introspection.getTables();
    return found.map(({ name }) => name);
  }
  const applied = () => database.kysely.selectFrom('schema_migrations').selectAll().orderBy('name').execute();

  test('their names sort in the order in which they run', () => {
    const names = MIGRATIONS.map(({ name }) => name);
    assert.deepEqual(names, names.toSorted());
    assert.equal(new Set(names).size, names.length);
  });

  test('each is noted with its time', async () => {
    assert.deepEqual(await applied(), [{ name: '0001-keys-and-generations', applied_at_ms: clock.nowMs() }]);
  });

  test('one that fails leaves neither a part of itself nor a note', async () => {
    const broken: Migration = {
      name: '0002-broken',
      async up(schema) {
        await schema.createTable('half').addColumn('id', 'text').execute();
        throw new Error('on purpose');
      },
    };
    await assert.rejects(migrate(database.kysely, clock, [...MIGRATIONS, broken]), /on purpose/);
    assert.ok(!(await tables()).includes('half'));
    assert.equal((await applied()).length, 1);
  });

  test('only those that are due run', async () => {
    await migrate(database.kysely, clock, [...MIGRATIONS, NEXT]);
    await migrate(database.kysely, clock, [...MIGRATIONS, NEXT]);
    assert.ok((await tables()).includes('next'));
    assert.equal((await applied()).length, 2);
  });
});
