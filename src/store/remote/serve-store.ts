import { RawNode, SelectQueryNode, type CompiledQuery } from 'kysely';
import { DatabaseError, type DatabaseFault } from '../engine/database-error.ts';
import type { Database } from '../engine/database.ts';
import type { GenerationRow } from '../generations/columns.ts';
import type { Charges, GenerationStore } from '../generations/generations.ts';

/** One statement, for one of the queues of the store. */
export interface RemoteQuery {
  /** `sums`: of spending, which must not lack charges that wait to be stored. */
  readonly to: 'database' | 'reports' | 'sums';
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
  /** Returns when the record is stored, or was given up and reported. */
  readonly append: (record: { readonly row: GenerationRow; readonly charges: Charges }) => Promise<void>;
};

const BEHIND: DatabaseFault = { message: 'Charges wait to be stored.', transient: true, duplicate: false };

/** Serves one worker. */
export interface ServedStore {
  readonly procedures: StoreProcedures;
  /** Settles when every record that the worker has sent is stored, or was given up. */
  stored(): Promise<void>;
}

export function serveStore(database: Database, generations: Pick<GenerationStore, 'append' | 'isBehind'>): ServedStore {
  const underWay = new Set<Promise<void>>();
  return {
    procedures: {
      query: (query) => run(database, generations, query),
      ping: () =>
        database.ping().then(
          () => null,
          (error: unknown) => faultOf(error),
        ),
      append({ row, charges }) {
        const stored = generations.append(row, charges).finally(() => underWay.delete(stored));
        underWay.add(stored);
        return stored;
      },
    },
    async stored() {
      await Promise.all(underWay);
    },
  };
}

async function run(
  { kysely, reports }: Database,
  generations: Pick<GenerationStore, 'isBehind'>,
  { to, isSelect, sql, values }: RemoteQuery,
): Promise<RemoteResult> {
  if (to === 'sums' && generations.isBehind()) return { fault: BEHIND };
  // The engine asks for the kind of the statement alone, to tell reads from writes.
  const query: CompiledQuery = {
    query: isSelect ? SelectQueryNode.create() : RawNode.createWithSql(sql),
    queryId: { queryId: '' },
    sql,
    parameters: values,
  };
  try {
    const { rows, numAffectedRows } = await (to === 'reports' ? reports : kysely).executeQuery(query);
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
