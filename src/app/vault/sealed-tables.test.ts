import assert from 'node:assert/strict';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { sql } from 'kysely';
import { systemClock as clock } from '../../lib/clock.ts';
import { openDatabase } from '../../store/engine/database.ts';
import { sealedTables } from './sealed-tables.ts';

// @spec vault-12
test('has every table with a sealed column, so that a change of the secret visits it', async (t) => {
  const folder = await mkdtemp(join(tmpdir(), 'sealed-'));
  const database = await openDatabase({ path: join(folder, 'gateway.db'), clock });
  t.after(async () => {
    await database.close();
    await rm(folder, { recursive: true, force: true });
  });
  const { rows } = await sql<{ name: string }>`
    select m.name as name from sqlite_master as m join pragma_table_info(m.name) as c
    where m.type = 'table' and c.name = 'secret_id'`.execute(database.kysely);
  assert.equal(sealedTables(database).length, rows.length, rows.map(({ name }) => name).join(', '));
  for (const { rows: sealed } of sealedTables(database)) assert.deepEqual(await sealed.secretIds(), []);
});
