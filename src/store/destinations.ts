import type { Database } from './database.ts';
import type { Page, PageWindow } from './page.ts';
import { flagOf, numberOf } from './portable.ts';
import type { DestinationsTable } from './tables.ts';

export interface DestinationRow {
  readonly id: string;
  readonly workspaceId: string;
  readonly type: string;
  readonly name: string;
  readonly enabled: boolean;
  readonly privacyMode: boolean;
  /** Of a million generations. */
  readonly samplingPpm: number;
  readonly sendsCost: boolean;
  readonly sendsIdentity: boolean;
  readonly sendsRequestContext: boolean;
  /** Null: all keys. */
  readonly apiKeyHashes: readonly string[] | null;
  /** JSON. */
  readonly filterRules: string | null;
  readonly sealedConfig: string;
  readonly secretId: string;
  readonly createdAtMs: number;
  readonly updatedAtMs: number;
}

/**
 * Sees every destination that there is, while nobody else makes or changes one; what it throws keeps the row as it was.
 * Whoever looks before has looked too early.
 */
export type Admit = (all: readonly DestinationRow[]) => void;

/** Where records are sent, with configurations sealed. */
export interface DestinationStore {
  find(id: string): Promise<DestinationRow | undefined>;
  /** Oldest first. */
  list(window: PageWindow & { readonly workspaceId?: string }): Promise<Page<DestinationRow>>;
  insert(row: DestinationRow, admit: Admit): Promise<void>;
  /** Whether it was there, as it was when it was read. */
  update(row: DestinationRow, before: Pick<DestinationRow, 'updatedAtMs'>, admit: Admit): Promise<boolean>;
  remove(id: string): Promise<boolean>;
}

export function createDestinationStore({ database }: { readonly database: Database }): DestinationStore {
  const { kysely, runAlone } = database;
  return {
    async find(id) {
      const columns = await kysely.selectFrom('destinations').selectAll().where('id', '=', id).executeTakeFirst();
      return columns && rowOf(columns);
    },
    async list({ offset, limit, workspaceId }) {
      let page = kysely.selectFrom('destinations').selectAll();
      let all = kysely.selectFrom('destinations').select(({ fn }) => fn.countAll().as('rows'));
      if (workspaceId !== undefined) {
        page = page.where('workspace_id', '=', workspaceId);
        all = all.where('workspace_id', '=', workspaceId);
      }
      const [rows, count] = await Promise.all([
        page.orderBy('created_at_ms').orderBy('id').limit(limit).offset(offset).execute(),
        all.executeTakeFirstOrThrow(),
      ]);
      return { rows: rows.map(rowOf), totalCount: numberOf(count.rows) };
    },
    insert: (row, admit) =>
      runAlone('destinations', async (transaction) => {
        admit((await transaction.selectFrom('destinations').selectAll().execute()).map(rowOf));
        await transaction.insertInto('destinations').values(columnsOf(row)).execute();
      }),
    update: (row, before, admit) =>
      runAlone('destinations', async (transaction) => {
        admit((await transaction.selectFrom('destinations').selectAll().execute()).map(rowOf));
        const { numUpdatedRows } = await transaction
          .updateTable('destinations')
          .set(columnsOf(row))
          .where('id', '=', row.id)
          .where('updated_at_ms', '=', before.updatedAtMs)
          .executeTakeFirst();
        return numUpdatedRows > 0n;
      }),
    async remove(id) {
      const { numDeletedRows } = await kysely.deleteFrom('destinations').where('id', '=', id).executeTakeFirst();
      return numDeletedRows > 0n;
    },
  };
}

function columnsOf(row: DestinationRow): DestinationsTable {
  return {
    id: row.id,
    workspace_id: row.workspaceId,
    type: row.type,
    name: row.name,
    enabled: flagOf(row.enabled),
    privacy_mode: flagOf(row.privacyMode),
    sampling_ppm: row.samplingPpm,
    sends_cost: flagOf(row.sendsCost),
    sends_identity: flagOf(row.sendsIdentity),
    sends_request_context: flagOf(row.sendsRequestContext),
    api_key_hashes: row.apiKeyHashes === null ? null : JSON.stringify(row.apiKeyHashes),
    filter_rules: row.filterRules,
    sealed_config: row.sealedConfig,
    secret_id: row.secretId,
    created_at_ms: row.createdAtMs,
    updated_at_ms: row.updatedAtMs,
  };
}

function rowOf(columns: DestinationsTable): DestinationRow {
  return {
    id: columns.id,
    workspaceId: columns.workspace_id,
    type: columns.type,
    name: columns.name,
    enabled: numberOf(columns.enabled) === 1,
    privacyMode: numberOf(columns.privacy_mode) === 1,
    samplingPpm: numberOf(columns.sampling_ppm),
    sendsCost: numberOf(columns.sends_cost) === 1,
    sendsIdentity: numberOf(columns.sends_identity) === 1,
    sendsRequestContext: numberOf(columns.sends_request_context) === 1,
    apiKeyHashes: readHashes(columns.api_key_hashes),
    filterRules: columns.filter_rules,
    sealedConfig: columns.sealed_config,
    secretId: columns.secret_id,
    createdAtMs: numberOf(columns.created_at_ms),
    updatedAtMs: numberOf(columns.updated_at_ms),
  };
}

/** What cannot be read names no key: nothing is sent that was not meant to be. */
function readHashes(text: string | null): readonly string[] | null {
  if (text === null) return null;
  const value: unknown = JSON.parse(text);
  return Array.isArray(value) ? value.filter((one) => typeof one === 'string') : [];
}
