import assert from 'node:assert/strict';
import { after, before, suite, test } from 'node:test';
import { sql } from 'kysely';
import { systemClock as clock } from '../lib/clock.ts';
import { auditEventResource } from '../resources/audit-events.ts';
import { byokKeyResource } from '../resources/byok-keys.ts';
import { destinationResource } from '../resources/destinations.ts';
import { serviceFileResource } from '../resources/files.ts';
import { keyAssignmentResource } from '../resources/guardrail-assignments.ts';
import { guardrailResource } from '../resources/guardrails.ts';
import { keyResource } from '../resources/keys.ts';
import { ledgerEntryResource } from '../resources/ledger-entries.ts';
import { presetResource, presetVersionResource } from '../resources/presets.ts';
import { camelCase } from '../resources/row-mapper.ts';
import { budgetResource } from '../resources/workspace-parts.ts';
import { workspaceResource } from '../resources/workspaces.ts';
import {
  consoleLinkRows,
  consoleSessionRows,
  contentRows,
  generationRouteRows,
  oauthCodeRows,
} from './accounts/columns.ts';
import { openDatabase, type Database } from './engine/database.ts';
import { backgroundResponseRows, responseEventRows, storedMediaRows, storedResponseRows } from './responses/columns.ts';
import { membershipSourceRows, scimGroupRows, scimMappingRows, scimTokenRows, scimUserRows } from './scim/columns.ts';
import { invitationRows, userRows } from './people/columns.ts';
import { mcpClientRows, mcpCodeRows, mcpConnectionRows, mcpTokenRows } from './connections/columns.ts';
import { generationRows } from './generations/columns.ts';
import { channelResource } from '../resources/notification-channels.ts';
import { notificationDeliveryRows, notificationEventRows } from './notifications/columns.ts';
import { datasetRows, resultRows, runRows, scoreRows } from './evaluations/columns.ts';
import { jobRows } from './jobs/columns.ts';
import { vaultReleaseRows, vaultSecretRows } from './vault/columns.ts';
import { videoJobRows } from './video-jobs/columns.ts';
import type { Tables } from './tables.ts';
import { ALL_ENGINES, type Place } from '../../tests/support/store/engines.ts';

const RULES = {
  allowedProviders: ['alpha'],
  ignoredProviders: null,
  allowedModels: null,
  ignoredModels: ['acme/old'],
  zeroRetention: { anthropic: true, openai: null, google: false, xai: null, other: null },
  paidTraining: false,
  freeTraining: null,
  freePublication: true,
  contentFilters: [{ pattern: 'x', action: 'block', label: null, scanOutput: true }],
  builtinFilters: null,
  judgeFilters: [{ model: 'm', question: 'q', threshold: 0.5, action: 'block', onError: 'allow', label: null }],
};
const PLUGINS = [{ id: 'web', enabled: true, options: { max: 3 }, preventOverrides: true }];
const ATTEMPTS = [{ provider: 'alpha', model: 'acme/one', status: 200, latencyMs: 7 }];
const WARNINGS = [{ code: 'field-dropped', path: 'seed', message: 'is not supported' }];

/** Values of columns that are neither text, a number nor a boolean, by table and column. */
const STRUCTURED: Readonly<Record<string, unknown>> = {
  'keys.default_provider_preferences': { order: ['alpha'], zdr: true },
  'keys.default_plugins': PLUGINS,
  'workspaces.default_provider_preferences': { only: ['alpha'] },
  'workspaces.default_plugins': PLUGINS,
  'workspaces.io_logging_api_key_ids': [1, 2],
  'workspaces.io_logging_api_key_hashes': ['a'],
  'guardrails.rules': RULES,
  'byok_keys.allowed_models': ['acme/one'],
  'byok_keys.allowed_api_key_hashes': [],
  'byok_keys.allowed_user_ids': ['user'],
  'destinations.api_key_hashes': ['a', 'b'],
  'preset_versions.config': { temperature: 0.5 },
  'audit_events.changes': { name: 'x' },
  'scim_users.attributes': { title: 'x' },
  'generations.attempts': ATTEMPTS,
  'generations.warnings': WARNINGS,
  'jobs.checkpoint': { at: 7 },
  'evaluation_runs.settings': {
    models: [{ model: 'acme/one' }],
    repeats: 1,
    sample: null,
    seed: 7,
    concurrency: 4,
    max_tokens: 100,
    cache: false,
    judge: null,
  },
  'vault_secrets.hosts': ['a.example'],
  'notification_channels.events': ['key.limit'],
  'notification_channels.workspace_ids': ['a'],
  'notification_channels.recipients': ['a@b.test'],
  'notification_channels.quiet_hours': { tz: 'Europe/Vienna', from: '22:00', to: '07:00' },
  'notification_events.facts': { limit: 7 },
  'video_jobs.assets': [{ fileId: 'file_1', mediaType: 'video/mp4', bytes: 7 }],
  'mcp_clients.redirect_uris': ['https://editor.example/back'],
  'mcp_connections.scopes': ['mcp:read'],
  'mcp_codes.consent': {
    clientId: 'editor',
    clientName: 'Editor',
    clientHost: null,
    redirectUri: 'https://editor.example/back',
    challenge: 'c',
    resource: 'https://gateway.example/mcp',
    scopes: ['mcp:read'],
    issuerLabel: 'Ann',
    workspaceId: 'w',
    limitNanoUsd: 7,
    limitReset: 'daily',
    expiresAtMs: null,
  },
  'invitations.workspaces': [{ workspaceId: 'w', role: 'admin' }],
};

/** Columns that only the store's statements use; they are no members of rows. */
const APART: Readonly<Record<string, Readonly<Record<string, unknown>>>> = {
  keys: { deleted_at_ms: 1 },
  workspaces: { deleted_at_ms: 2 },
  byok_keys: { deleted_at_ms: 3 },
  guardrail_assignments: { subject_kind: 'key' },
  oauth_codes: { used_at_ms: 4 },
  files: { status: 'stored' },
};

interface Mapper {
  readonly toColumns: (row: never) => object;
  readonly toRow: (columns: never) => object;
  readonly toChanges: (changes: never) => object;
}

const MAPPERS: Partial<Readonly<Record<keyof Tables, Mapper>>> = {
  keys: keyResource.rows,
  workspaces: workspaceResource.rows,
  membership_sources: membershipSourceRows,
  scim_tokens: scimTokenRows,
  mcp_clients: mcpClientRows,
  mcp_codes: mcpCodeRows,
  mcp_connections: mcpConnectionRows,
  mcp_tokens: mcpTokenRows,
  scim_users: scimUserRows,
  scim_groups: scimGroupRows,
  scim_group_mappings: scimMappingRows,
  workspace_budgets: budgetResource.rows,
  guardrails: guardrailResource.rows,
  guardrail_assignments: keyAssignmentResource.rows,
  byok_keys: byokKeyResource.rows,
  presets: presetResource.rows,
  preset_versions: presetVersionResource.rows,
  destinations: destinationResource.rows,
  ledger_entries: ledgerEntryResource.rows,
  audit_events: auditEventResource.rows,
  oauth_codes: oauthCodeRows,
  console_sessions: consoleSessionRows,
  console_links: consoleLinkRows,
  users: userRows,
  invitations: invitationRows,
  files: serviceFileResource.rows,
  generation_content: contentRows,
  generation_routes: generationRouteRows,
  generations: generationRows,
  stored_responses: storedResponseRows,
  stored_media: storedMediaRows,
  vault_secrets: vaultSecretRows,
  vault_releases: vaultReleaseRows,
  video_jobs: videoJobRows,
  jobs: jobRows,
  evaluation_datasets: datasetRows,
  evaluation_runs: runRows,
  evaluation_results: resultRows,
  evaluation_scores: scoreRows,
  notification_channels: channelResource.rows,
  notification_events: notificationEventRows,
  notification_deliveries: notificationDeliveryRows,
  background_responses: backgroundResponseRows,
  response_events: responseEventRows,
};

interface ColumnFacts {
  readonly name: string;
  readonly isText: boolean;
  readonly mayBeNull: boolean;
}

async function columnsOf({ kysely, engine }: Database, table: string): Promise<readonly ColumnFacts[]> {
  if (engine === 'postgres') {
    const { rows } = await sql<{ name: string; type: string; nullable: string }>`
      select column_name as name, data_type as type, is_nullable as nullable
      from information_schema.columns where table_name = ${table}`.execute(kysely);
    return rows.map(({ name, type, nullable }) => ({ name, isText: type === 'text', mayBeNull: nullable === 'YES' }));
  }
  const { rows } = await sql<{ name: string; type: string; notnull: number; pk: number }>`
    select name, type, "notnull", pk from pragma_table_info(${table})`.execute(kysely);
  return rows.map(({ name, type, notnull, pk }) => ({
    name,
    isText: type.toLowerCase() === 'text',
    mayBeNull: notnull === 0 && pk === 0,
  }));
}

/** Makes a row in which no two columns hold the same value, so that a mix-up shows. */
function sampleOf(table: string, columns: readonly ColumnFacts[]): Readonly<Record<string, unknown>> {
  const isFlag = ({ name }: ColumnFacts): boolean =>
    /^(?:is_(?!.*_ms$)|include_|sends_|disabled$|enabled$|privacy_mode$|always_use$|streamed$|cancelled$|made_here$|background$)/.test(
      name,
    );
  return Object.fromEntries(
    columns
      .filter(({ name }) => APART[table]?.[name] === undefined)
      .map((column, index) => {
        const { name, isText } = column;
        const value = STRUCTURED[`${table}.${name}`] ?? (isText ? `${name} ${index}` : isFlag(column) || 1_000 + index);
        return [camelCase(name), value];
      }),
  );
}

for (const { name: engine, makePlace } of ALL_ENGINES)
  suite(`rows of every table map to columns and back: ${engine}`, () => {
    let database: Database;
    let place: Place;
    before(async () => {
      place = await makePlace();
      database = await openDatabase({ ...place, clock });
    });
    after(async () => {
      await database.close();
      await place.remove();
    });

    const write = async (table: string, columns: object): Promise<object | undefined> => {
      await sql`delete from ${sql.table(table)}`.execute(database.kysely);
      const entries = Object.entries({ ...columns, ...APART[table] });
      const names = sql.join(entries.map(([name]) => sql.ref(name)));
      const values = sql.join(entries.map(([, value]) => value));
      await sql`insert into ${sql.table(table)} (${names}) values (${values})`.execute(database.kysely);
      const { rows } = await sql<object>`select * from ${sql.table(table)}`.execute(database.kysely);
      return rows[0];
    };

    for (const [table, mapper] of Object.entries(MAPPERS)) {
      test(`keeps every column of ${table}`, async () => {
        const facts = await columnsOf(database, table);
        const row = sampleOf(table, facts);
        const written = mapper.toColumns(row as never);
        const expected = facts.map(({ name }) => name).filter((name) => APART[table]?.[name] === undefined);
        assert.deepEqual(Object.keys(written).toSorted(), expected.toSorted());
        const read = await write(table, written);
        assert.deepEqual(read, { ...written, ...APART[table] });
        assert.deepEqual(mapper.toRow(read as never), row);
        assert.deepEqual(mapper.toChanges(row as never), written);
      });

      test(`keeps null in every column of ${table} that may be null`, async () => {
        const facts = await columnsOf(database, table);
        const nothing = facts.filter(({ name, mayBeNull }) => mayBeNull && APART[table]?.[name] === undefined);
        const nulls = Object.fromEntries(nothing.map(({ name }) => [camelCase(name), null]));
        const row = { ...sampleOf(table, facts), ...nulls };
        const wiped = table === 'byok_keys' ? { sealed: '', secretId: '' } : {};
        assert.deepEqual(mapper.toRow((await write(table, mapper.toColumns(row as never))) as never), {
          ...row,
          ...wiped,
        });
      });
    }
  });
