import {
  SqliteAdapter,
  SqliteIntrospector,
  SqliteQueryCompiler,
  type CompiledQuery,
  type DatabaseConnection,
  type DatabaseIntrospector,
  type Dialect,
  type DialectAdapter,
  type Driver,
  type Kysely,
  type QueryCompiler,
  type QueryResult,
} from 'kysely';
import { assert } from '../../../lib/assert.ts';
import { bindable } from '../../portable.ts';
import type { SqliteJob, SqliteJobDone } from './protocol.ts';
import type { SqliteThread, SqliteTransaction } from './thread.ts';

export interface SqliteDialectOptions {
  /** A transaction is rolled back after this. Default: seconds. */
  readonly transactionMsMax?: number;
  /** Writes are sent again where they fail: they wait for no other writer. */
  readonly isBackground?: boolean;
}

/** Runs Kysely over the database thread. Values are only ever bound; the SQL is Kysely's own text. */
export function createSqliteDialect(thread: SqliteThread, options: SqliteDialectOptions = {}): Dialect {
  return {
    createDriver: () => createDriver(thread, options),
    createAdapter: (): DialectAdapter => new SharedSqliteAdapter(),
    createIntrospector: (kysely: Kysely<unknown>): DatabaseIntrospector => new SqliteIntrospector(kysely),
    createQueryCompiler: (): QueryCompiler => new SqliteQueryCompiler(),
  };
}

/** Kysely would send one query at a time, which leaves nothing to commit as a group; the thread takes many. */
class SharedSqliteAdapter extends SqliteAdapter {
  override get supportsMultipleConnections(): boolean {
    return true;
  }
  override get supportsTransactionalDdl(): boolean {
    return true;
  }
}

class SharedConnection implements DatabaseConnection {
  readonly #thread: SqliteThread;
  readonly #writes: 'write' | 'late-write';
  transaction: SqliteTransaction | undefined;

  constructor(thread: SqliteThread, isBackground: boolean) {
    this.#thread = thread;
    this.#writes = isBackground ? 'late-write' : 'write';
  }

  async executeQuery<R>(query: CompiledQuery): Promise<QueryResult<R>> {
    const done = await (this.transaction ?? this.#thread).run(jobOf(query, this.#writes));
    return resultOf<R>(done);
  }

  /** Streams one page that holds all rows: the thread sends whole results. */
  async *streamQuery<R>(query: CompiledQuery): AsyncIterableIterator<QueryResult<R>> {
    yield await this.executeQuery<R>(query);
  }
}

function createDriver(thread: SqliteThread, { transactionMsMax, isBackground = false }: SqliteDialectOptions): Driver {
  return {
    init: () => Promise.resolve(),
    acquireConnection: () => Promise.resolve(new SharedConnection(thread, isBackground)),
    releaseConnection: () => Promise.resolve(),
    destroy: () => thread.close(),
    // A SQLite transaction sees one moment in any case.
    async beginTransaction(connection, { accessMode }) {
      const isReadOnly = accessMode === 'read only';
      shared(connection).transaction = await thread.begin({ isReadOnly, msMax: transactionMsMax });
    },
    async commitTransaction(connection) {
      await opened(connection).commit();
      shared(connection).transaction = undefined;
    },
    async rollbackTransaction(connection) {
      const { transaction } = shared(connection);
      shared(connection).transaction = undefined;
      await transaction?.rollback();
    },
  };
}

function shared(connection: DatabaseConnection): SharedConnection {
  assert(connection instanceof SharedConnection, 'a connection comes back to the driver that made it');
  return connection;
}

function opened(connection: DatabaseConnection): SqliteTransaction {
  const { transaction } = shared(connection);
  assert(transaction !== undefined, 'a transaction was begun');
  return transaction;
}

/** A select sees what is committed; any other statement, raw SQL included, counts as a write. */
function jobOf(query: CompiledQuery, writes: 'write' | 'late-write'): SqliteJob {
  const kind = query.query.kind === 'SelectQueryNode' ? 'read' : writes;
  return { kind, sql: query.sql, values: query.parameters.map(bindable) };
}

function resultOf<R>(done: SqliteJobDone): QueryResult<R> {
  const { rows, changes } = done;
  assert(areRows<R>(rows), 'a row is an object');
  return { rows, numAffectedRows: BigInt(changes) };
}

/** The table types say what the rows hold. */
function areRows<R>(rows: readonly unknown[]): rows is R[] {
  return rows.length === 0 || typeof rows[0] === 'object';
}
