import { mkdir } from 'node:fs/promises';
import { dirname } from 'node:path';
import { Kysely, type CompiledQuery } from 'kysely';
import type { Clock } from '../lib/clock.ts';
import type { DatabaseFault } from './database-error.ts';
import { migrate } from './migrate.ts';
import { createSqliteDialect } from './sqlite-driver.ts';
import type { SqlValue } from './sqlite-protocol.ts';
import { startSqliteThread } from './sqlite-thread.ts';
import type { Tables } from './tables.ts';

/** A row that a batch left out, and why. */
export interface RefusedRow {
  readonly index: number;
  readonly fault: DatabaseFault;
}

/** The store, open. Only this folder reads its members; others hand it to the factories of this folder. */
export interface Database {
  /** A query outside `transaction()` is committed, with whatever else was waiting, before its promise settles. */
  readonly kysely: Kysely<Tables>;
  /**
   * Runs one statement once for each row of values: one message, one commit. Rows that the database refuses are
   * reported and the others stand; it throws when none does.
   * @throws DatabaseError
   */
  runMany(statement: CompiledQuery, rows: readonly (readonly SqlValue[])[]): Promise<readonly RefusedRow[]>;
  /** Settles once the database answers. @throws DatabaseError when it does not work */
  ping(): Promise<void>;
  /** Lets what was accepted finish, and closes. */
  close(): Promise<void>;
}

export interface DatabaseOptions {
  /** A file, made with its folder when it is missing, or `:memory:`. */
  readonly path: string;
  readonly clock: Clock;
}

/**
 * Opens the embedded database and brings its schema up to date.
 * @throws Error in one sentence, when the file cannot be used or was written by a newer version
 */
export async function openDatabase(options: DatabaseOptions): Promise<Database> {
  const { path, clock } = options;
  const thread = await start(path);
  const kysely = new Kysely<Tables>({ dialect: createSqliteDialect(thread) });
  try {
    await migrate(kysely, clock);
  } catch (error) {
    await thread.close();
    throw cannotOpen(path, error);
  }
  return {
    kysely,
    async runMany(statement, rows) {
      const { refused } = await thread.run({ kind: 'many', sql: statement.sql, rows });
      return refused;
    },
    async ping() {
      await thread.run({ kind: 'read', sql: 'select 1', values: [] });
    },
    close: () => thread.close(),
  };
}

async function start(path: string): Promise<Awaited<ReturnType<typeof startSqliteThread>>> {
  try {
    // The folder holds key hashes and, later, credentials: nobody else on the machine reads them.
    if (path !== ':memory:') await mkdir(dirname(path), { recursive: true, mode: 0o700 });
    return await startSqliteThread(path);
  } catch (error) {
    throw cannotOpen(path, error);
  }
}

function cannotOpen(path: string, error: unknown): Error {
  const reason = error instanceof Error ? error.message : String(error);
  return new Error(`Cannot open the database ${path}: ${reason}`, { cause: error });
}
