import type { Transaction } from 'kysely';
import { z } from 'zod';
import type { DefaultPlugin } from '../canonical/default-plugins.ts';
import type { DefaultPreferences } from '../canonical/default-preferences.ts';
import type { ProviderSortMetric } from '../canonical/directives.ts';
import { wipedCredential } from './byok-keys.ts';
import type { Database } from './database.ts';
import { readDefaultPlugins, writeDefaultPlugins } from './default-plugins-json.ts';
import type { Page, PageWindow } from './page.ts';
import { flagOf, numberOf } from './portable.ts';
import { readPreferences, writePreferences } from './preferences-json.ts';
import type { Tables, WorkspacesTable } from './tables.ts';

export interface WorkspaceRow {
  readonly id: string;
  readonly slug: string;
  readonly name: string;
  readonly description: string | null;
  readonly defaultTextModel: string | null;
  readonly defaultImageModel: string | null;
  readonly defaultProviderSort: ProviderSortMetric | null;
  readonly defaultPreferences: DefaultPreferences | null;
  readonly defaultPlugins: readonly DefaultPlugin[] | null;
  readonly logsContent: boolean;
  /** Of a million generations. */
  readonly logsContentPpm: number;
  /** Null: all keys. */
  readonly logsContentOfKeyIds: readonly number[] | null;
  readonly logsContentOfKeyHashes: readonly string[] | null;
  readonly broadcasts: boolean;
  readonly logsForDiscount: boolean;
  readonly includeByokInBudgets: boolean;
  readonly defaultGuardrailId: string;
  readonly createdAtMs: number;
  /** Null until the first change. */
  readonly updatedAtMs: number | null;
  /** The hash of a management key; null: nobody in particular. */
  readonly createdBy: string | null;
}

export type WorkspaceChanges = Partial<
  Omit<WorkspaceRow, 'id' | 'includeByokInBudgets' | 'defaultGuardrailId' | 'createdAtMs' | 'updatedAtMs' | 'createdBy'>
> & { readonly updatedAtMs: number };

/** Workspaces that are not deleted. */
export interface WorkspaceStore {
  find(idOrSlug: string): Promise<WorkspaceRow | undefined>;
  findByGuardrail(defaultGuardrailId: string): Promise<WorkspaceRow | undefined>;
  /** Oldest first. */
  list(window: PageWindow): Promise<Page<WorkspaceRow>>;
  /** Whether its slug was free. */
  insert(row: WorkspaceRow): Promise<boolean>;
  /** The workspace after the change; `undefined` when there is none. @throws DatabaseError when the slug is taken */
  update(id: string, changes: WorkspaceChanges): Promise<WorkspaceRow | undefined>;
  /**
   * Deletes it with its budgets, members, guardrails and keys. Nothing happens while it has a key that works.
   */
  remove(id: string, atMs: number): Promise<'removed' | 'unknown' | 'has-active-keys'>;
}

export function createWorkspaceStore({ database }: { readonly database: Database }): WorkspaceStore {
  const { kysely } = database;
  const live = () => kysely.selectFrom('workspaces').selectAll().where('deleted_at_ms', 'is', null);
  return {
    async find(idOrSlug) {
      const columns = await live()
        .where((where) => where.or([where('id', '=', idOrSlug), where('slug', '=', idOrSlug)]))
        .executeTakeFirst();
      return columns && workspaceOf(columns);
    },
    async findByGuardrail(guardrailId) {
      const columns = await live().where('default_guardrail_id', '=', guardrailId).executeTakeFirst();
      return columns && workspaceOf(columns);
    },
    async list({ offset, limit }) {
      const [rows, count] = await Promise.all([
        live().orderBy('created_at_ms').orderBy('id').limit(limit).offset(offset).execute(),
        kysely
          .selectFrom('workspaces')
          .where('deleted_at_ms', 'is', null)
          .select(({ fn }) => fn.countAll<number>().as('count'))
          .executeTakeFirst(),
      ]);
      return { rows: rows.map(workspaceOf), totalCount: numberOf(count?.count) };
    },
    async insert(row) {
      const inserted = await kysely
        .insertInto('workspaces')
        .values(columnsOf(row))
        .onConflict((conflict) => conflict.doNothing())
        .returning('id')
        .execute();
      return inserted.length > 0;
    },
    async update(id, changes) {
      const columns = await kysely
        .updateTable('workspaces')
        .set(changedColumns(changes))
        .where('id', '=', id)
        .where('deleted_at_ms', 'is', null)
        .returningAll()
        .executeTakeFirst();
      return columns && workspaceOf(columns);
    },
    remove: (id, atMs) => removeWorkspace(database, id, atMs),
  };
}

/**
 * Keeps a workspace from being deleted, and others who call this from going on, until the transaction ends. A change of
 * nothing does that in both engines. `undefined`: there is none.
 */
export async function lockWorkspace(
  transaction: Transaction<Tables>,
  id: string,
): Promise<Pick<WorkspacesTable, 'id' | 'include_byok_in_budgets'> | undefined> {
  return transaction
    .updateTable('workspaces')
    .set((set) => ({ slug: set.ref('slug') }))
    .where('id', '=', id)
    .where('deleted_at_ms', 'is', null)
    .returning(['id', 'include_byok_in_budgets'])
    .executeTakeFirst();
}

class HasActiveKeys extends Error {}

async function removeWorkspace(database: Database, id: string, atMs: number) {
  try {
    return await database.kysely.transaction().execute(async (transaction) => {
      const removed = await transaction
        .updateTable('workspaces')
        .set({ deleted_at_ms: atMs })
        .where('id', '=', id)
        .where('deleted_at_ms', 'is', null)
        .returning('id')
        .executeTakeFirst();
      if (removed === undefined) return 'unknown' as const;
      if (await hasActiveKeys(transaction, id, atMs)) throw new HasActiveKeys();
      await removeContents(transaction, id, atMs);
      return 'removed' as const;
    });
  } catch (error) {
    if (error instanceof HasActiveKeys) return 'has-active-keys' as const;
    throw error;
  }
}

/** Management keys act on the whole account, wherever they are filed. */
async function hasActiveKeys(transaction: Transaction<Tables>, id: string, atMs: number): Promise<boolean> {
  const active = await transaction
    .selectFrom('keys')
    .select('hash')
    .where('workspace_id', '=', id)
    .where('kind', '=', 'normal')
    .where('deleted_at_ms', 'is', null)
    .where('disabled', '=', 0)
    .where((where) => where.or([where('expires_at_ms', 'is', null), where('expires_at_ms', '>', atMs)]))
    .limit(1)
    .executeTakeFirst();
  return active !== undefined;
}

async function removeContents(transaction: Transaction<Tables>, id: string, atMs: number): Promise<void> {
  const guardrails = transaction.selectFrom('guardrails').select('id').where('workspace_id', '=', id);
  await transaction.deleteFrom('guardrail_assignments').where('guardrail_id', 'in', guardrails).execute();
  await transaction.deleteFrom('guardrails').where('workspace_id', '=', id).execute();
  await transaction.deleteFrom('workspace_budgets').where('workspace_id', '=', id).execute();
  await transaction.deleteFrom('workspace_members').where('workspace_id', '=', id).execute();
  await transaction
    .updateTable('destinations')
    .set({ enabled: flagOf(false), updated_at_ms: atMs })
    .where('workspace_id', '=', id)
    .where('enabled', '=', flagOf(true))
    .execute();
  // Nobody is left who could use them: what is secret is not kept for nothing, and no code becomes a key of nowhere.
  await transaction
    .updateTable('byok_keys')
    .set(wipedCredential(atMs))
    .where('workspace_id', '=', id)
    .where('deleted_at_ms', 'is', null)
    .execute();
  await transaction.deleteFrom('oauth_codes').where('workspace_id', '=', id).execute();
  // What is left is disabled or expired: nobody may enable a key that belongs nowhere.
  await transaction
    .updateTable('keys')
    .set({ deleted_at_ms: atMs })
    .where('workspace_id', '=', id)
    .where('kind', '=', 'normal')
    .where('deleted_at_ms', 'is', null)
    .execute();
}

function changedColumns(changes: WorkspaceChanges): Partial<WorkspacesTable> {
  const { defaultPreferences, defaultPlugins, logsContentOfKeyIds, logsContentOfKeyHashes } = changes;
  return {
    updated_at_ms: changes.updatedAtMs,
    ...(changes.slug !== undefined && { slug: changes.slug }),
    ...(changes.name !== undefined && { name: changes.name }),
    ...(changes.description !== undefined && { description: changes.description }),
    ...(changes.defaultTextModel !== undefined && { default_text_model: changes.defaultTextModel }),
    ...(changes.defaultImageModel !== undefined && { default_image_model: changes.defaultImageModel }),
    ...(changes.defaultProviderSort !== undefined && { default_provider_sort: changes.defaultProviderSort }),
    ...(defaultPreferences !== undefined && { default_provider_preferences: writePreferences(defaultPreferences) }),
    ...(defaultPlugins !== undefined && { default_plugins: writeDefaultPlugins(defaultPlugins) }),
    ...(changes.logsContent !== undefined && { is_io_logging_enabled: flagOf(changes.logsContent) }),
    ...(changes.logsContentPpm !== undefined && { io_logging_sampling_ppm: changes.logsContentPpm }),
    ...(logsContentOfKeyIds !== undefined && { io_logging_api_key_ids: writeList(logsContentOfKeyIds) }),
    ...(logsContentOfKeyHashes !== undefined && { io_logging_api_key_hashes: writeList(logsContentOfKeyHashes) }),
    ...(changes.broadcasts !== undefined && { is_broadcast_enabled: flagOf(changes.broadcasts) }),
    ...(changes.logsForDiscount !== undefined && {
      is_data_discount_logging_enabled: flagOf(changes.logsForDiscount),
    }),
  };
}

function columnsOf(row: WorkspaceRow): WorkspacesTable {
  return {
    id: row.id,
    slug: row.slug,
    name: row.name,
    description: row.description,
    default_text_model: row.defaultTextModel,
    default_image_model: row.defaultImageModel,
    default_provider_sort: row.defaultProviderSort,
    default_provider_preferences: writePreferences(row.defaultPreferences),
    default_plugins: writeDefaultPlugins(row.defaultPlugins),
    is_io_logging_enabled: flagOf(row.logsContent),
    io_logging_sampling_ppm: row.logsContentPpm,
    io_logging_api_key_ids: writeList(row.logsContentOfKeyIds),
    io_logging_api_key_hashes: writeList(row.logsContentOfKeyHashes),
    is_broadcast_enabled: flagOf(row.broadcasts),
    is_data_discount_logging_enabled: flagOf(row.logsForDiscount),
    include_byok_in_budgets: flagOf(row.includeByokInBudgets),
    default_guardrail_id: row.defaultGuardrailId,
    created_at_ms: row.createdAtMs,
    updated_at_ms: row.updatedAtMs,
    created_by: row.createdBy,
    deleted_at_ms: null,
  };
}

const SORTS: readonly ProviderSortMetric[] = ['price', 'throughput', 'latency', 'exacto'];

export function workspaceOf(columns: WorkspacesTable): WorkspaceRow {
  return {
    id: columns.id,
    slug: columns.slug,
    name: columns.name,
    description: columns.description,
    defaultTextModel: columns.default_text_model,
    defaultImageModel: columns.default_image_model,
    defaultProviderSort: SORTS.find((sort) => sort === columns.default_provider_sort) ?? null,
    defaultPreferences: readPreferences(columns.default_provider_preferences),
    defaultPlugins: readDefaultPlugins(columns.default_plugins),
    logsContent: columns.is_io_logging_enabled === 1,
    logsContentPpm: columns.io_logging_sampling_ppm,
    logsContentOfKeyIds: readList(numbers, columns.io_logging_api_key_ids),
    logsContentOfKeyHashes: readList(texts, columns.io_logging_api_key_hashes),
    broadcasts: columns.is_broadcast_enabled === 1,
    logsForDiscount: columns.is_data_discount_logging_enabled === 1,
    includeByokInBudgets: columns.include_byok_in_budgets === 1,
    defaultGuardrailId: columns.default_guardrail_id,
    createdAtMs: columns.created_at_ms,
    updatedAtMs: columns.updated_at_ms,
    createdBy: columns.created_by,
  };
}

const numbers = z.array(z.int()).readonly();
const texts = z.array(z.string()).readonly();

function readList<List extends z.ZodType>(schema: List, text: string | null): z.output<List> | null {
  return text === null ? null : schema.parse(JSON.parse(text));
}

function writeList(list: readonly (string | number)[] | null): string | null {
  return list === null ? null : JSON.stringify(list);
}
