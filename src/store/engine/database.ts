import type { Kysely } from 'kysely';
import type { ApplyBatch } from '../../journal/batch.ts';
import type { Clock } from '../../lib/clock.ts';
import type { Engine, ReadSnapshot, RunAlone } from './engine.ts';
import { migrate } from './migrate.ts';
import { hidePassword } from './postgres/address.ts';
import { openSqlite } from './sqlite/engine.ts';
import type { Tables } from '../tables.ts';

/** The open store. Only this folder reads its members; other folders hand it to the factories of this folder. */
export interface Database {
  readonly engine: Engine['name'];
  /** A query outside a transaction is committed, with all other waiting queries, before its promise settles. */
  readonly kysely: Kysely<Tables>;
  /** For long reads: they delay no charge. */
  readonly reports: Kysely<Tables>;
  /** For writes that are sent again: they do not wait for another writer, and delay no read. */
  readonly background: Kysely<Tables>;
  readonly runAlone: RunAlone;
  readonly readSnapshot: ReadSnapshot;
  readonly applyBatch: ApplyBatch;
  /** Settles once the database answers. @throws DatabaseError when it does not work */
  ping(): Promise<void>;
  /** Finishes accepted work and closes. */
  close(): Promise<void>;
}

export interface DatabaseOptions {
  /** The embedded database: a file, which is made with its folder when it is missing, or `:memory:`. */
  readonly path: string;
  /** `postgres://...`: the tables are there instead. */
  readonly url?: string | undefined;
  readonly clock: Clock;
}

/**
 * Opens the embedded database, or PostgreSQL, and brings its schema up to date.
 * @throws Error in one sentence, when it cannot be used or a newer version wrote it
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
  const { kysely, reports, background, runAlone, applyBatch } = engine;
  return {
    engine: engine.name,
    kysely,
    reports,
    background,
    runAlone,
    readSnapshot: (task) =>
      engine.withPatience((patient) =>
        patient.kysely.transaction().setIsolationLevel('repeatable read').setAccessMode('read only').execute(task),
      ),
    applyBatch,
    ping: () => engine.ping(),
    close: () => engine.close(),
  };
}

async function openEngine(path: string, url: string | undefined): Promise<Engine> {
  if (url === undefined) return openSqlite(path);
  // Loaded only when it is used: it takes another tenth of a second at start.
  const { openPostgres } = await import('./postgres/engine.ts');
  return openPostgres(url);
}

function cannotOpen(name: string, error: unknown): Error {
  const reason = error instanceof Error ? error.message : String(error);
  return new Error(`Cannot open the database ${name}: ${reason}`, { cause: error });
}
