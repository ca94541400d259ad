import assert from 'node:assert/strict';
import { after, before, suite, test } from 'node:test';
import { sql } from 'kysely';
import { openDatabase, type Database } from './database.ts';
import { ALL_ENGINES, type Place } from '../../../tests/support/store/engines.ts';
import { migrate, MIGRATIONS, type Migration } from './migrate.ts';

const clock = { nowMs: () => 1_790_000_000_000, monotonicMs: () => 0 };

const NEXT: Migration = {
  name: '9998-next',
  async up(schema) {
    await schema.createTable('next').addColumn('id', 'text').execute();
  },
};

for (const { name: engine, makePlace } of ALL_ENGINES)
  suite(`migrations: ${engine}`, () => {
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

    const isTable = (table: string) =>
      sql`select 1 from ${sql.table(table)}`.execute(database.kysely).then(
        () => true,
        () => false,
      );
    const applied = () => database.kysely.selectFrom('schema_migrations').selectAll().orderBy('name').execute();

    test('have names that sort in the order in which they run', () => {
      const names = MIGRATIONS.map(({ name }) => name);
      assert.deepEqual(names, names.toSorted());
      assert.equal(new Set(names).size, names.length);
    });

    test('are noted with their time', async () => {
      assert.deepEqual(
        await applied(),
        MIGRATIONS.map(({ name }) => ({ name, applied_at_ms: clock.nowMs() })),
      );
    });

    test('leave neither a part nor a note when one fails', async () => {
      const broken: Migration = {
        name: '9999-broken',
        async up(schema) {
          await schema.createTable('half').addColumn('id', 'text').execute();
          throw new Error('on purpose');
        },
      };
      await assert.rejects(migrate(database.runAlone, clock, [...MIGRATIONS, broken]), /on purpose/);
      assert.equal(await isTable('half'), false);
      assert.equal((await applied()).length, MIGRATIONS.length);
    });

    test('run only when they are due', async () => {
      await migrate(database.runAlone, clock, [...MIGRATIONS, NEXT]);
      await migrate(database.runAlone, clock, [...MIGRATIONS, NEXT]);
      assert.equal(await isTable('next'), true);
      assert.equal((await applied()).length, MIGRATIONS.length + 1);
    });
  });
