import assert from 'node:assert/strict';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { DatabaseError } from '../database-error.ts';
import { keepSpareThreads, startSqliteThread, type SqliteThread } from './thread.ts';

test('opens the next file in a spare thread with nothing of the last file', async (t) => {
  keepSpareThreads(4);
  const folder = await mkdtemp(join(tmpdir(), 'threads-'));
  t.after(() => rm(folder, { recursive: true }));
  for (const name of ['one', 'two', 'three']) {
    const thread = await startSqliteThread(join(folder, `${name}.db`));
    await write(thread, 'create table notes (text)');
    await write(thread, 'insert into notes values (?)', name);
    const { rows } = await thread.run({ kind: 'read', sql: 'select text from notes', values: [] });
    await thread.close();
    assert.deepEqual(
      rows.map(({ text }) => text),
      [name],
    );
    await assert.rejects(write(thread, 'delete from notes'), DatabaseError, 'what was closed stays closed');
  }
});

test('refuses a file that cannot be opened after spare threads, too', async (t) => {
  keepSpareThreads(4);
  const folder = await mkdtemp(join(tmpdir(), 'threads-'));
  t.after(() => rm(folder, { recursive: true }));
  const path = join(folder, 'one.db');
  await (await startSqliteThread(path)).close();
  await assert.rejects(startSqliteThread(join(folder, 'missing', 'two.db')), DatabaseError);
  await (await startSqliteThread(path)).close();
});

function write(thread: SqliteThread, sql: string, ...values: readonly string[]): Promise<unknown> {
  return thread.run({ kind: 'write', sql, values });
}
