import {
  Kysely,
  PostgresAdapter,
  PostgresIntrospector,
  PostgresQueryCompiler,
  SqliteAdapter,
  SqliteIntrospector,
  SqliteQueryCompiler,
  type CompiledQuery,
  type DatabaseConnection,
  type Dialect,
  type Driver,
  type QueryResult,
} from 'kysely';
import { LinkError, type MessageLink } from '../../lib/net/message-link.ts';
import { DatabaseError, type DatabaseFault } from '../engine/database-error.ts';
import type { Database } from '../engine/database.ts';
import { bindable } from '../portable.ts';
import type { Tables } from '../tables.ts';
import type { RemoteQuery, StoreProcedures } from './serve-store.ts';

/**
 * The database of the first process as a worker uses it: single statements, which run there among all others. There are no
 * transactions, and so nothing that needs one: management routes run in the first process.
 */
export function createRemoteDatabase(link: MessageLink<StoreProcedures>, engine: Database['engine']): Database {
  const over = (to: RemoteQuery['to']) => new Kysely<Tables>({ dialect: dialectOf(link, engine, to) });
  return {
    engine,
    kysely: over('database'),
    reports: over('reports'),
    background: over('background'),
    runAlone: refuse,
    readSnapshot: refuse,
    async applyBatch(batch) {
      const applied = await link.call('applyBatch', batch).catch((error: unknown) => ({ fault: faultOf(error) }));
      if ('fault' in applied) throw new DatabaseError(applied.fault);
      return applied;
    },
    async ping() {
      const fault = await link.call('ping', undefined).catch(faultOf);
      if (fault !== null) throw new DatabaseError(fault);
    },
    close: () => Promise.resolve(),
  };
}

function refuse(): Promise<never> {
  return Promise.reject(new Error('Only the first process changes the store in transactions.'));
}

function dialectOf(link: MessageLink<StoreProcedures>, engine: Database['engine'], to: RemoteQuery['to']): Dialect {
  const createDriver = (): Driver => createRemoteDriver(link, to);
  return engine === 'sqlite'
    ? {
        createDriver,
        createAdapter: () => new SharedSqliteAdapter(),
        createIntrospector: (kysely) => new SqliteIntrospector(kysely),
        createQueryCompiler: () => new SqliteQueryCompiler(),
      }
    : {
        createDriver,
        createAdapter: () => new PostgresAdapter(),
        createIntrospector: (kysely) => new PostgresIntrospector(kysely),
        createQueryCompiler: () => new PostgresQueryCompiler(),
      };
}

/** Kysely would send one query at a time. */
class SharedSqliteAdapter extends SqliteAdapter {
  override get supportsMultipleConnections(): boolean {
    return true;
  }
}

function createRemoteDriver(link: MessageLink<StoreProcedures>, to: RemoteQuery['to']): Driver {
  const connection: DatabaseConnection = {
    executeQuery: (query) => execute(link, to, query),
    async *streamQuery<Row>(query: CompiledQuery) {
      yield await execute<Row>(link, to, query);
    },
  };
  return {
    init: () => Promise.resolve(),
    acquireConnection: () => Promise.resolve(connection),
    releaseConnection: () => Promise.resolve(),
    destroy: () => Promise.resolve(),
    beginTransaction: refuse,
    commitTransaction: refuse,
    rollbackTransaction: refuse,
  };
}

async function execute<Row>(
  link: MessageLink<StoreProcedures>,
  to: RemoteQuery['to'],
  { query, sql, parameters }: CompiledQuery,
): Promise<QueryResult<Row>> {
  const isSelect = query.kind === 'SelectQueryNode';
  const asked = { to, isSelect, sql, values: parameters.map(bindable) };
  const result = await link.call('query', asked).catch((error: unknown) => ({ fault: faultOf(error) }));
  if ('fault' in result) throw new DatabaseError(result.fault);
  const { rows, changes } = result;
  if (!areRows<Row>(rows)) throw new Error('A row is an object.');
  return { rows, numAffectedRows: BigInt(changes) };
}

/** The table types say what the rows hold. */
function areRows<Row>(rows: unknown[]): rows is Row[] {
  return rows.length === 0 || typeof rows[0] === 'object';
}

function faultOf(error: unknown): DatabaseFault {
  if (!(error instanceof LinkError)) throw error;
  return { message: error.message, transient: true, duplicate: false };
}
