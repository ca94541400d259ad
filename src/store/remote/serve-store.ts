import type { AppliedBatch, JournalBatch } from '../../journal/batch.ts';
import { RawNode, SelectQueryNode, type CompiledQuery } from 'kysely';
import { DatabaseError, type DatabaseFault } from '../engine/database-error.ts';
import type { Database } from '../engine/database.ts';

/** One statement, for one of the queues of the store. */
export interface RemoteQuery {
  readonly to: 'database' | 'reports' | 'background';
  /** It sees what is committed, and changes nothing. */
  readonly isSelect: boolean;
  readonly sql: string;
  readonly values: readonly unknown[];
}

export type RemoteResult = { readonly rows: unknown[]; readonly changes: number } | { readonly fault: DatabaseFault };

/** What the process that has the store offers its workers. */
export type StoreProcedures = {
  readonly query: (query: RemoteQuery) => Promise<RemoteResult>;
  /** @returns why the database does not work; null: it works */
  readonly ping: () => Promise<DatabaseFault | null>;
  /** Stores a part of the worker's journal, which is read here. */
  readonly applyBatch: (batch: JournalBatch) => Promise<AppliedBatch | { readonly fault: DatabaseFault }>;
};

/** Serves one worker. */
export function serveStore(database: Database): StoreProcedures {
  return {
    query: (query) => run(database, query),
    ping: () =>
      database.ping().then(
        () => null,
        (error: unknown) => faultOf(error),
      ),
    applyBatch: (batch) => database.applyBatch(batch).catch((error: unknown) => ({ fault: faultOf(error) })),
  };
}

async function run(
  { kysely, reports, background }: Database,
  { to, isSelect, sql, values }: RemoteQuery,
): Promise<RemoteResult> {
  // The engine asks for the kind of the statement alone, to tell reads from writes.
  const query: CompiledQuery = {
    query: isSelect ? SelectQueryNode.create() : RawNode.createWithSql(sql),
    queryId: { queryId: '' },
    sql,
    parameters: values,
  };
  try {
    const { rows, numAffectedRows } = await { database: kysely, reports, background }[to].executeQuery(query);
    return { rows, changes: Number(numAffectedRows ?? 0) };
  } catch (error) {
    return { fault: faultOf(error) };
  }
}

/** @throws what is no error of the database */
function faultOf(error: unknown): DatabaseFault {
  if (!(error instanceof DatabaseError)) throw error;
  const { message, transient, duplicate } = error;
  return { message, transient, duplicate };
}
