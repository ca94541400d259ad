import type { Kysely } from 'kysely';
import type { Clock } from '../../lib/clock.ts';
import type { Engine, ReadSnapshot, RunAlone } from './engine.ts';
import { migrate } from './migrate.ts';
import { hidePassword } from './postgres/address.ts';
import type { AppendSettlements } from '../generations/settlement.ts';
import { openSqlite } from './sqlite/engine.ts';
import type { Tables } from '../tables.ts';

/** The store, open. Only this folder reads its members; others hand it to the factories of this folder. */
export interface Database {
  readonly engine: Engine['name'];
  /** A query outside a transaction is committed, with whatever else was waiting, before its promise settles. */
  readonly kysely: Kysely<Tables>;
  /** For reads that take long: they hold up nobody's charge. */
  readonly reports: Kysely<Tables>;
  readonly runAlone: RunAlone;
  readonly readSnapshot: ReadSnapshot;
  readonly appendSettlements: AppendSettlements;
  /** Settles once the database answers. @throws DatabaseError when it does not work */
  ping(): Promise<void>;
  /** Lets what was accepted finish, and closes. */
  close(): Promise<void>;
}

export interface DatabaseOptions {
  /** Of the embedded database: a file, made with its folder when it is missing, or `:memory:`. */
  readonly path: string;
  /** `postgres://...`: where the tables are instead. */
  readonly url?: string | undefined;
  readonly clock: Clock;
}

/**
 * Opens the embedded database, or PostgreSQL, and brings its schema up to date.
 * @throws Error in one sentence, when it cannot be used or was written by a newer version
 */
export async function openDatabase({ path, url, clock }: DatabaseOptions): Promise<Database> {
  const name = url === undefined ? path : hidePassword(url);
  const engine = await openEngine(path, url).catch((error: unknown) => {
    throw cannotOpen(name, error);
  });
  try {
    await engine.withPatience(({ runAlone }) => migrate(runAlone, clock));
  } catch (error) {
    await engine.close();
    throw cannotOpen(name, error);
  }
  const { kysely, reports, runAlone, appendSettlements } = engine;
  return {
    engine: engine.name,
    kysely,
    reports,
    runAlone,
    readSnapshot: (task) =>
      engine.withPatience((patient) =>
        patient.kysely.transaction().setIsolationLevel('repeatable read').setAccessMode('read only').execute(task),
      ),
    appendSettlements,
    ping: () => engine.ping(),
    close: () => engine.close(),
  };
}

async function openEngine(path: string, url: string | undefined): Promise<Engine> {
  if (url === undefined) return openSqlite(path);
  // Loaded only where it is used: it is another tenth of a second of a start.
  const { openPostgres } = await import('./postgres/engine.ts');
  return openPostgres(url);
}

function cannotOpen(name: string, error: unknown): Error {
  const reason = error instanceof Error ? error.message : String(error);
  return new Error(`Cannot open the database ${name}: ${reason}`, { cause: error });
}
