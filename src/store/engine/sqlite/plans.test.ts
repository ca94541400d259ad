import assert from 'node:assert/strict';
import { test, type TestContext } from 'node:test';
import { Worker } from 'node:worker_threads';
import { sql } from 'kysely';
import { systemClock as clock } from '../../../lib/clock.ts';
import { openDatabase, type Database } from '../database.ts';
import { createJobStore } from '../../jobs/jobs.ts';
import { createLedgerStore } from '../../usage/ledger.ts';
import { sumRouterSavings } from '../../usage/router-savings.ts';
import { sumSpend } from '../../usage/spend.ts';
import { createTaskTrafficStore } from '../../usage/task-traffic.ts';

/** Explains how SQLite would run the first statement that a task sends. */
async function planOf(t: TestContext, run: (database: Database) => Promise<unknown>): Promise<string> {
  const database = await openDatabase({ path: ':memory:', clock });
  t.after(() => database.close());
  const posts = t.mock.method(Worker.prototype, 'postMessage');
  await run(database);
  const statement = String(posts.mock.calls[0]?.arguments[0].jobs[0].sql);
  posts.mock.restore();
  const plan = await sql.raw(`explain query plan ${statement.replaceAll('?', "''")}`).execute(database.kysely);
  return JSON.stringify(plan.rows);
}

test('sums spending from one row a day, by the primary key', async (t) => {
  const windows = { dayStartMs: 3, weekStartMs: 2, monthStartMs: 1 };
  const plan = await planOf(t, (database) => sumSpend(database, ['key:a', 'key:b'], windows));
  assert.match(plan, /SEARCH spend USING INDEX sqlite_autoindex_spend_1 \(subject=\?\)/);
  assert.doesNotMatch(plan, /SCAN/);
});

test('sums a balance without reading a single charge', async (t) => {
  const plan = await planOf(t, (database) => createLedgerStore({ database }).balance('default'));
  assert.match(plan, /SEARCH ledger_entries USING COVERING INDEX ledger_entries_credit/);
  assert.match(plan, /SEARCH spend USING INDEX sqlite_autoindex_spend_1 \(subject=\?\)/);
  assert.doesNotMatch(plan, /SCAN/);
});

test('reads refundable charges by indexes, however many charges there are', async (t) => {
  const database = await openDatabase({ path: ':memory:', clock });
  t.after(() => database.close());
  const posts = t.mock.method(Worker.prototype, 'postMessage');
  const input = { id: 'refund-1', atMs: 1, accountId: 'default', generationId: 'gen-1' };
  await createLedgerStore({ database }).refund({
    ...input,
    keyHash: null,
    workspaceId: null,
    note: null,
    author: null,
  });
  const statements = posts.mock.calls.map(({ arguments: [message] }) => String(message.jobs?.[0]?.sql));
  posts.mock.restore();
  const sum = statements.find((statement) => statement.includes('sum(')) ?? '';
  const plan = await sql.raw(`explain query plan ${sum.replaceAll('?', "''")}`).execute(database.kysely);
  assert.equal(JSON.stringify(plan.rows).match(/SEARCH ledger_entries USING INDEX/g)?.length, 3);
  assert.doesNotMatch(JSON.stringify(plan.rows), /ledger_entries_at/);
});

test('reads a page of entries in the order of an index', async (t) => {
  const plan = await planOf(t, (database) =>
    createLedgerStore({ database }).list({ accountId: 'default', offset: 0, limit: 20 }),
  );
  assert.match(plan, /SEARCH ledger_entries USING INDEX ledger_entries_at \(account_id=\?\)/);
  assert.doesNotMatch(plan, /SCAN|TEMP B-TREE/);
});

test('reads a page of jobs in the order of an index, also of one state', async (t) => {
  for (const filter of [{}, { state: 'failed' }] as const) {
    const plan = await planOf(t, (database) => createJobStore(database).list(filter, { offset: 0, limit: 100 }));
    assert.match(plan, /USING INDEX jobs_created/);
    assert.doesNotMatch(plan, /TEMP B-TREE/);
  }
});

test('compares a charge with its generation by an index, and reads generations once', async (t) => {
  const database = await openDatabase({ path: ':memory:', clock });
  t.after(() => database.close());
  const posts = t.mock.method(Worker.prototype, 'postMessage');
  await createLedgerStore({ database }).verify('default');
  const statements = posts.mock.calls.map(({ arguments: [message] }) => String(message.jobs?.[0]?.sql));
  posts.mock.restore();
  const [charges, sums] = statements.filter((statement) => statement.includes(' as what'));
  const explain = async (statement = '') =>
    JSON.stringify(
      (await sql.raw(`explain query plan ${statement.replaceAll('?', "''")}`).execute(database.kysely)).rows,
    );
  assert.match(await explain(charges), /SEARCH ledger_entries USING INDEX sqlite_autoindex_ledger_entries_1 \(id=\?\)/);
  assert.match(await explain(charges), /SEARCH generations USING INDEX sqlite_autoindex_generations_1 \(id=\?\)/);
  assert.equal((await explain(sums)).match(/SCAN generations/g)?.length, 1);
});

test('sums task types from the records of the wanted time alone', async (t) => {
  const read = await planOf(t, (database) => createTaskTrafficStore(database).read(1, 2));
  assert.match(read, /SEARCH generations USING INDEX generations_created_at/);
  const first = await planOf(t, (database) => createTaskTrafficStore(database).firstFrom(1));
  assert.match(first, /SEARCH generations USING COVERING INDEX generations_created_at/);
  const report = await planOf(t, (database) => sumRouterSavings(database, 1, 'model'));
  assert.match(report, /SEARCH generations USING INDEX generations_created_at/);
});
