import assert from 'node:assert/strict';
import { mkdtemp, open, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { test, type TestContext } from 'node:test';
import { classifyFault } from './fault.ts';

async function makeFile(t: TestContext): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'fault-'));
  t.after(() => rm(folder, { recursive: true }));
  return join(folder, 'test.db');
}

function faultOf(act: () => unknown) {
  try {
    act();
  } catch (error) {
    return classifyFault(error);
  }
  return assert.fail('it worked');
}

function openTable(t: TestContext, file: string): DatabaseSync {
  const database = new DatabaseSync(file);
  t.after(() => database.close());
  database.exec('create table numbers (value integer primary key not null, text text)');
  return database;
}

test('retries a file that takes no writes', async (t) => {
  const file = await makeFile(t);
  const writer = openTable(t, file);
  const reader = new DatabaseSync(file, { readOnly: true });
  t.after(() => reader.close());
  const readOnly = faultOf(() => reader.exec('insert into numbers values (1, null)'));
  assert.deepEqual(readOnly, {
    message: 'attempt to write a readonly database',
    transient: true,
    duplicate: false,
  });
  writer.exec('pragma max_page_count = 2');
  const full = faultOf(() => writer.exec('insert into numbers values (1, hex(zeroblob(100000)))'));
  assert.deepEqual([full.message, full.transient], ['database or disk is full', true]);
  writer.exec('begin exclusive');
  const busy = faultOf(() => reader.exec('select * from numbers'));
  assert.deepEqual([busy.message, busy.transient], ['database is locked', true]);
});

test('retries a broken file: an operator may put a backup in its place', async (t) => {
  const file = await makeFile(t);
  const database = new DatabaseSync(file);
  database.exec('create table numbers (value integer primary key not null, text text)');
  database.exec('insert into numbers values (1, hex(zeroblob(100000)))');
  database.close();
  const handle = await open(file, 'r+');
  await handle.write(Buffer.alloc(4_096, 0xff), 0, 4_096, 4_096);
  await handle.close();
  const broken = new DatabaseSync(file);
  t.after(() => broken.close());
  const corrupt = faultOf(() => broken.prepare('select * from numbers').all());
  assert.deepEqual([corrupt.message, corrupt.transient], ['database disk image is malformed', true]);
  const other = await makeFile(t);
  await writeFile(other, 'no database at all, but long enough to be looked at'.repeat(20));
  const stranger = new DatabaseSync(other);
  t.after(() => stranger.close());
  const notOne = faultOf(() => stranger.exec('select * from numbers'));
  assert.deepEqual([notOne.message, notOne.transient], ['file is not a database', true]);
});

test('does not retry a bad row', async (t) => {
  const database = openTable(t, await makeFile(t));
  database.exec("insert into numbers values (1, 'a')");
  const duplicate = faultOf(() => database.exec("insert into numbers values (1, 'b')"));
  assert.deepEqual([duplicate.transient, duplicate.duplicate], [false, true]);
  const missing = faultOf(() => database.exec('insert into nothing values (1)'));
  assert.deepEqual([missing.transient, missing.duplicate], [false, false]);
  assert.deepEqual(classifyFault('text').transient, false);
});
