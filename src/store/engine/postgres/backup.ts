import { spawn } from 'node:child_process';
import { makeFile } from '../new-file.ts';
import { RENEW_CURSORS, RENEW_ROWS } from '../../exports/renew-positions.ts';
import { openConnections } from './pool.ts';

/** How much of a tool's error output is kept. */
const COMPLAINT_CHARS_MAX = 4_000;
const RENEW_MS_MAX = 600_000;

/**
 * Writes a dump in PostgreSQL's own format, with its own tool.
 * @throws Error in one sentence
 */
export async function backUpPostgres(url: string, file: string): Promise<void> {
  await makeFile(file, (partial) =>
    runTool('pg_dump', ['--format=custom', '--no-owner', '--no-privileges', `--file=${partial}`], url),
  );
}

/**
 * Fills an empty database from a dump: all of it or nothing.
 * @throws Error in one sentence
 */
export async function restorePostgres(file: string, url: string): Promise<void> {
  const connections = openConnections(url, { connectionsMax: 1, statementMsMax: 10_000 });
  try {
    const [first] = await connections.run({
      text: "select 1 from pg_tables where schemaname = current_schema() and tablename = 'schema_migrations'",
      values: [],
    });
    if (first !== undefined) throw new Error('There are tables in this database already: restore into an empty one.');
  } finally {
    await connections.end();
  }
  await runTool('pg_restore', ['--no-owner', '--no-privileges', '--single-transaction', '--exit-on-error', file], url);
  await renewIdentity(url);
}

/**
 * Journals of the database that the backup was made of must not be applied to what it was restored to, and records that
 * wait for destinations must not be ordered by the transactions of its cluster.
 */
async function renewIdentity(url: string): Promise<void> {
  const connections = openConnections(url, { connectionsMax: 1, statementMsMax: RENEW_MS_MAX });
  try {
    await connections.run({
      text: `do $$ begin
        if to_regclass('database_identity') is not null then update database_identity set id = gen_random_uuid()::text; end if;
        if to_regclass('export_rows') is not null then
          ${RENEW_CURSORS};
          loop ${RENEW_ROWS}; exit when not found; end loop;
        end if;
      end $$`,
      values: [],
    });
  } finally {
    await connections.end();
  }
}

/** Passes the password in the environment: every user of the machine can read a command line. */
async function runTool(tool: 'pg_dump' | 'pg_restore', args: readonly string[], url: string): Promise<void> {
  const address = new URL(url);
  const password = address.searchParams.get('password') ?? decodeURIComponent(address.password);
  address.password = '';
  address.searchParams.delete('password');
  const child = spawn(tool, [...args, `--dbname=${address.href}`], {
    env: { ...process.env, ...(password !== '' && { PGPASSWORD: password }) },
    stdio: ['ignore', 'ignore', 'pipe'],
  });
  let complaint = '';
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    complaint = (complaint + text).slice(0, COMPLAINT_CHARS_MAX);
  });
  const code = await new Promise<number | null>((resolve, reject) => {
    child.once('error', (error) =>
      reject(new Error(`${tool}, PostgreSQL's own tool for this, is not on this machine: ${error.message}`)),
    );
    child.once('close', resolve);
  });
  if (code !== 0) throw new Error(`${tool} failed: ${complaint.trim().replaceAll('\n', '; ')}`);
}
