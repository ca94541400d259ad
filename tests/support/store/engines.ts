import { randomUUID } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Client } from 'pg';
import { hidePassword } from '../../../src/store/engine/postgres/address.ts';
import { keepSpareThreads } from '../../../src/store/engine/sqlite/thread.ts';

// A suite opens one database after another.
keepSpareThreads(4);

/** Where a database can be opened, as `openDatabase` takes it. */
export interface Place {
  readonly path: string;
  readonly url?: string;
  /** Removes the database. The caller closes every connection first. */
  remove(): Promise<void>;
}

export interface TestEngine {
  readonly name: string;
  readonly isPostgres: boolean;
  /** Makes a place for an empty database. */
  readonly makePlace: () => Promise<Place>;
}

const MEMORY: TestEngine = {
  name: 'SQLite in memory',
  isPostgres: false,
  makePlace: () => Promise.resolve({ path: ':memory:', remove: () => Promise.resolve() }),
};

const FILE: TestEngine = {
  name: 'SQLite in a file',
  isPostgres: false,
  async makePlace() {
    const folder = await mkdtemp(join(tmpdir(), 'store-'));
    return { path: join(folder, 'gateway.db'), remove: () => rm(folder, { recursive: true }) };
  },
};

const SERVER_URL = process.env['TEST_DATABASE_URL'] ?? 'postgres://postgres@127.0.0.1:5432/postgres';

const POSTGRES: TestEngine = {
  name: 'PostgreSQL',
  isPostgres: true,
  async makePlace() {
    const name = spareDatabases.pop() ?? (await createTestDatabase());
    const remove = async (): Promise<void> => {
      await askServer(EMPTY_DATABASE, urlOf(name));
      spareDatabases.push(name);
    };
    return { path: ':memory:', url: urlOf(name), remove };
  },
};

/** Empty databases of this process: the server syncs its disk for each that it makes or drops, for all that use it. */
const spareDatabases: string[] = [];
/** As a new one: without its connections, which a test may have left to a process that it killed, and without a table. */
const EMPTY_DATABASE = `
  select pg_terminate_backend(pid, 5000) from pg_stat_activity
    where datname = current_database() and pid <> pg_backend_pid();
  drop schema public cascade;
  create schema public`;

async function createTestDatabase(): Promise<string> {
  const name = `gateway_test_${process.pid}_${randomUUID().slice(0, 8)}`;
  await askServer(`create database ${name}`);
  return name;
}

function urlOf(name: string): string {
  const url = new URL(SERVER_URL);
  url.pathname = `/${name}`;
  return url.href;
}

// When the last test is over; it comes again after what it begins, and then there are none.
process.on('beforeExit', () => {
  for (const name of spareDatabases.splice(0)) void askServer(`drop database if exists ${name} with (force)`);
});

/** A server that is not there refuses at once; one beside many other processes may be slow. */
const CONNECT_MS_MAX = 15_000;

async function askServer(statement: string, url = SERVER_URL): Promise<readonly unknown[]> {
  const client = new Client({ connectionString: url, connectionTimeoutMillis: CONNECT_MS_MAX });
  await client.connect();
  try {
    const { rows } = await client.query<Record<string, unknown>>(statement);
    return rows;
  } finally {
    await client.end();
  }
}

/** Removes the databases of killed runs: they are older than an hour and have no connections. */
async function removeForgotten(): Promise<void> {
  const forgotten = await askServer(`
    select datname from pg_database where datname like 'gateway\\_test\\_%'
      and (pg_stat_file('base/' || oid || '/PG_VERSION')).modification < now() - interval '1 hour'
      and not exists (select from pg_stat_activity where pg_stat_activity.datname = pg_database.datname)`).catch(
    // Only a superuser may look at the files; for another user nothing is removed, and the server needs another
    // cleanup.
    () => [],
  );
  for (const row of forgotten) {
    if (typeof row !== 'object' || row === null || !('datname' in row)) continue;
    // Another run may remove the same database.
    await askServer(`drop database if exists ${String(row.datname)}`).catch(() => undefined);
  }
}

/** Skips these tests with one loud line where there is no server; where services are required that is a failure. */
async function findPostgres(): Promise<readonly TestEngine[]> {
  try {
    await askServer('select 1');
    await removeForgotten();
    return [POSTGRES];
  } catch (error) {
    const message = `NO POSTGRESQL at ${hidePassword(SERVER_URL)}: its tests are left out. "npm run services" starts one; TEST_DATABASE_URL names another.`;
    if (process.env['REQUIRE_SERVICES'] === '1') throw new Error(message, { cause: error });
    process.stderr.write(`${message}\n`);
    return [];
  }
}

/** The server, where there is one. */
export const POSTGRES_ENGINES: readonly TestEngine[] = await findPostgres();
/** The engines that every promise of the store is tested on. */
export const ENGINES: readonly TestEngine[] = [FILE, ...POSTGRES_ENGINES];
/** The same engines, and a database without a file. */
export const ALL_ENGINES: readonly TestEngine[] = [MEMORY, ...ENGINES];
