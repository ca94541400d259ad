import type { Kysely, SchemaModule } from 'kysely';
import type { Clock } from '../../lib/clock.ts';
import type { RunAlone } from './engine.ts';
import { up as up0001 } from '../migrations/0001-keys-and-generations.ts';
import { up as up0002 } from '../migrations/0002-ledger.ts';
import { up as up0003 } from '../migrations/0003-workspaces-guardrails.ts';
import { up as up0004 } from '../migrations/0004-presets-byok-oauth.ts';
import { up as up0005 } from '../migrations/0005-content-analytics-destinations.ts';
import { up as up0006 } from '../migrations/0006-cached-answers.ts';
import { up as up0007 } from '../migrations/0007-default-plugins.ts';
import { up as up0008 } from '../migrations/0008-files.ts';
import { up as up0009 } from '../migrations/0009-task-types.ts';
import { up as up0010 } from '../migrations/0010-fewer-indexes.ts';
import { up as up0011 } from '../migrations/0011-tool-costs-and-apps.ts';
import { up as up0012 } from '../migrations/0012-key-issuers.ts';
import { up as up0013 } from '../migrations/0013-mend-edited-migrations.ts';
import { up as up0014 } from '../migrations/0014-journal.ts';
import { up as up0015 } from '../migrations/0015-stored-responses.ts';
import { up as up0016 } from '../migrations/0016-media-units.ts';
import { up as up0017 } from '../migrations/0017-video-jobs.ts';
import { up as up0018 } from '../migrations/0018-background-responses.ts';
import { up as up0019 } from '../migrations/0019-exports.ts';
import { up as up0020 } from '../migrations/0020-response-records.ts';
import { up as up0021 } from '../migrations/0021-console-sessions.ts';
import { up as up0022 } from '../migrations/0022-generation-routes.ts';
import { up as up0023 } from '../migrations/0023-jobs.ts';
import { up as up0024 } from '../migrations/0024-vault.ts';
import { up as up0025 } from '../migrations/0025-people.ts';
import { up as up0026 } from '../migrations/0026-notifications.ts';
import { up as up0027 } from '../migrations/0027-scim.ts';
import { up as up0028 } from '../migrations/0028-interns.ts';
import { up as up0029 } from '../migrations/0029-generation-origins.ts';
import { up as up0031 } from '../migrations/0031-evaluations.ts';
import { up as up0033 } from '../migrations/0033-mcp-connections.ts';
import { up as up0035 } from '../migrations/0035-intern-workers.ts';
import { up as up0036 } from '../migrations/0036-classifiers.ts';
import { up as up0037 } from '../migrations/0037-intern-schedules.ts';
import { up as up0038 } from '../migrations/0038-disabled-by.ts';
import { up as up0039 } from '../migrations/0039-scim-requests.ts';
import { up as up0040 } from '../migrations/0040-jobs-by-time.ts';
import { COLUMN_TYPE } from '../portable.ts';
import type { Tables } from '../tables.ts';

/** One step forward. It runs once, in one transaction with all other due migrations; the only way back is a backup. */
export interface Migration {
  /** The file's name. Names sort in the order in which they run. */
  readonly name: string;
  up(schema: SchemaModule, rows: Kysely<Tables>, nowMs: number): Promise<void>;
}

export const MIGRATIONS: readonly Migration[] = [
  { name: '0001-keys-and-generations', up: up0001 },
  { name: '0002-ledger', up: up0002 },
  { name: '0003-workspaces-guardrails', up: up0003 },
  { name: '0004-presets-byok-oauth', up: up0004 },
  { name: '0005-content-analytics-destinations', up: up0005 },
  { name: '0006-cached-answers', up: up0006 },
  { name: '0007-default-plugins', up: up0007 },
  { name: '0008-files', up: up0008 },
  { name: '0009-task-types', up: up0009 },
  { name: '0010-fewer-indexes', up: up0010 },
  { name: '0011-tool-costs-and-apps', up: up0011 },
  { name: '0012-key-issuers', up: up0012 },
  { name: '0013-mend-edited-migrations', up: up0013 },
  { name: '0014-journal', up: up0014 },
  { name: '0015-stored-responses', up: up0015 },
  { name: '0016-media-units', up: up0016 },
  { name: '0017-video-jobs', up: up0017 },
  { name: '0018-background-responses', up: up0018 },
  { name: '0019-exports', up: up0019 },
  { name: '0020-response-records', up: up0020 },
  { name: '0021-console-sessions', up: up0021 },
  { name: '0022-generation-routes', up: up0022 },
  { name: '0023-jobs', up: up0023 },
  { name: '0024-vault', up: up0024 },
  { name: '0025-people', up: up0025 },
  { name: '0026-notifications', up: up0026 },
  { name: '0027-scim', up: up0027 },
  { name: '0028-interns', up: up0028 },
  { name: '0029-generation-origins', up: up0029 },
  { name: '0031-evaluations', up: up0031 },
  { name: '0033-mcp-connections', up: up0033 },
  { name: '0035-intern-workers', up: up0035 },
  { name: '0036-classifiers', up: up0036 },
  { name: '0037-intern-schedules', up: up0037 },
  { name: '0038-disabled-by', up: up0038 },
  { name: '0039-scim-requests', up: up0039 },
  { name: '0040-jobs-by-time', up: up0040 },
];

/**
 * Brings the schema up to date: all of it or nothing.
 * @throws Error when a newer version of the gateway wrote the schema, or when a migration fails
 */
export async function migrate(
  runAlone: RunAlone,
  clock: Clock,
  migrations: readonly Migration[] = MIGRATIONS,
): Promise<void> {
  await runAlone('migrations', async (transaction) => {
    await transaction.schema
      .createTable('schema_migrations')
      .ifNotExists()
      .addColumn('name', COLUMN_TYPE.text, (column) => column.primaryKey().notNull())
      .addColumn('applied_at_ms', COLUMN_TYPE.integer, (column) => column.notNull())
      .execute();
    const applied = await transaction.selectFrom('schema_migrations').select('name').orderBy('name').execute();
    refuseNewer(applied, migrations);
    for (const migration of migrations.slice(applied.length)) {
      await migration.up(transaction.schema, transaction, clock.nowMs());
      await transaction
        .insertInto('schema_migrations')
        .values({ name: migration.name, applied_at_ms: clock.nowMs() })
        .execute();
    }
  });
}

/** @throws Error when these migrations are not the first of those that this version knows */
export function refuseNewer(
  applied: readonly { readonly name: string }[],
  migrations: readonly Migration[] = MIGRATIONS,
): void {
  const stranger = applied.find(({ name }, index) => migrations[index]?.name !== name);
  if (stranger === undefined) return;
  throw new Error(
    `The database was written by another, probably newer version of the gateway (it has the migration ${stranger.name}, which this version does not know).`,
  );
}
