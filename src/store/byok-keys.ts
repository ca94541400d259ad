import { parseJson } from '../lib/json.ts';
import { createChanges } from './changes.ts';
import type { Database } from './database.ts';
import type { News } from './shared/contract.ts';
import type { Page, PageWindow } from './page.ts';
import { flagOf, numberOf } from './portable.ts';
import type { ByokKeysTable } from './tables.ts';

/** A credential of a provider that the account brought, without what is secret of it but as it was sealed. */
export interface ByokKeyRow {
  readonly id: string;
  /** Null: every workspace. */
  readonly workspaceId: string | null;
  readonly provider: string;
  readonly name: string | null;
  /** A masked excerpt. */
  readonly label: string;
  readonly sealed: string;
  /** The secret that sealed it. */
  readonly secretId: string;
  readonly disabled: boolean;
  readonly isFallback: boolean;
  readonly alwaysUse: boolean;
  readonly sortOrder: number;
  /** Null: no restriction; empty: nobody. */
  readonly allowedModels: readonly string[] | null;
  readonly allowedApiKeyHashes: readonly string[] | null;
  readonly allowedUserIds: readonly string[] | null;
  readonly createdAtMs: number;
  readonly updatedAtMs: number;
}

export type ByokKeyChanges = Partial<
  Omit<ByokKeyRow, 'id' | 'workspaceId' | 'provider' | 'createdAtMs' | 'updatedAtMs'>
> & { readonly updatedAtMs: number };

export interface ByokKeyFilter extends PageWindow {
  readonly provider?: string;
  readonly workspaceId?: string;
}

/** Credentials that are not deleted. A deleted one is as unknown as one that never was. */
export interface ByokKeyStore {
  find(id: string): Promise<ByokKeyRow | undefined>;
  /** In the order in which they are tried: by provider, `sortOrder`, age. */
  list(filter: ByokKeyFilter): Promise<Page<ByokKeyRow>>;
  /** All of them, at most `limit`, in the same order. */
  all(limit: number): Promise<readonly ByokKeyRow[]>;
  count(): Promise<number>;
  /** Those that there is a credential for. */
  providers(): Promise<readonly string[]>;
  /** The place behind the last credential of a provider. */
  nextSortOrder(provider: string): Promise<number>;
  insert(row: ByokKeyRow): Promise<void>;
  /** The credential after the change; `undefined` when there is none. */
  update(id: string, changes: ByokKeyChanges): Promise<ByokKeyRow | undefined>;
  /** Wipes what is secret and keeps the rest as a tombstone. Whether there was one. */
  remove(id: string, atMs: number): Promise<boolean>;
  /** Told after a credential was changed, here or, as news has it, by another process. */
  subscribe(listener: () => void, onGap?: () => void): void;
}

export function createByokKeyStore({
  database,
  news,
}: {
  readonly database: Database;
  readonly news?: News;
}): ByokKeyStore {
  const { kysely } = database;
  const changed = createChanges('byok', news);
  return {
    ...readers(database),
    async insert(row) {
      await kysely.insertInto('byok_keys').values(columnsOf(row)).execute();
      changed.announce();
    },
    async update(id, changes) {
      const columns = await kysely
        .updateTable('byok_keys')
        .set(changedColumns(changes))
        .where('id', '=', id)
        .where('deleted_at_ms', 'is', null)
        .returningAll()
        .executeTakeFirst();
      changed.announce();
      return columns && rowOf(columns);
    },
    async remove(id, atMs) {
      const { numUpdatedRows } = await kysely
        .updateTable('byok_keys')
        .set(wipedCredential(atMs))
        .where('id', '=', id)
        .where('deleted_at_ms', 'is', null)
        .executeTakeFirst();
      changed.announce();
      return numUpdatedRows > 0n;
    },
    subscribe: (listener, onGap) => changed.subscribe(listener, onGap),
  };
}

/** A tombstone: nothing that could be opened. */
export function wipedCredential(
  atMs: number,
): Pick<ByokKeysTable, 'sealed' | 'secret_id' | 'updated_at_ms' | 'deleted_at_ms'> {
  return { sealed: null, secret_id: null, updated_at_ms: atMs, deleted_at_ms: atMs };
}

type Readers = 'find' | 'list' | 'all' | 'count' | 'providers' | 'nextSortOrder';

function readers({ kysely }: Database): Pick<ByokKeyStore, Readers> {
  const live = () => kysely.selectFrom('byok_keys').where('deleted_at_ms', 'is', null);
  const inOrder = () =>
    live().selectAll().orderBy('provider').orderBy('sort_order').orderBy('created_at_ms').orderBy('id');
  return {
    async find(id) {
      const columns = await live().selectAll().where('id', '=', id).executeTakeFirst();
      return columns && rowOf(columns);
    },
    async list({ provider, workspaceId, offset, limit }) {
      let page = inOrder();
      let all = live().select(({ fn }) => fn.countAll().as('rows'));
      if (provider !== undefined) {
        page = page.where('provider', '=', provider);
        all = all.where('provider', '=', provider);
      }
      if (workspaceId !== undefined) {
        page = page.where('workspace_id', '=', workspaceId);
        all = all.where('workspace_id', '=', workspaceId);
      }
      const [rows, total] = await Promise.all([
        page.limit(limit).offset(offset).execute(),
        all.executeTakeFirstOrThrow(),
      ]);
      return { rows: rows.map(rowOf), totalCount: numberOf(total.rows) };
    },
    async all(limit) {
      return (await inOrder().limit(limit).execute()).map(rowOf);
    },
    async count() {
      const { rows } = await live()
        .select(({ fn }) => fn.countAll().as('rows'))
        .executeTakeFirstOrThrow();
      return numberOf(rows);
    },
    async providers() {
      const rows = await live().select('provider').distinct().execute();
      return rows.map(({ provider }) => provider);
    },
    async nextSortOrder(provider) {
      const row = await live()
        .select('sort_order')
        .where('provider', '=', provider)
        .orderBy('sort_order', 'desc')
        .limit(1)
        .executeTakeFirst();
      return row === undefined ? 0 : numberOf(row.sort_order) + 1;
    },
  };
}

function changedColumns(changes: ByokKeyChanges): Partial<ByokKeysTable> {
  const { name, label, sealed, secretId, disabled, isFallback, alwaysUse, sortOrder } = changes;
  const { allowedModels, allowedApiKeyHashes, allowedUserIds } = changes;
  return {
    updated_at_ms: changes.updatedAtMs,
    ...(name !== undefined && { name }),
    ...(label !== undefined && { label }),
    ...(sealed !== undefined && { sealed }),
    ...(secretId !== undefined && { secret_id: secretId }),
    ...(disabled !== undefined && { disabled: flagOf(disabled) }),
    ...(isFallback !== undefined && { is_fallback: flagOf(isFallback) }),
    ...(alwaysUse !== undefined && { always_use: flagOf(alwaysUse) }),
    ...(sortOrder !== undefined && { sort_order: sortOrder }),
    ...(allowedModels !== undefined && { allowed_models: writeList(allowedModels) }),
    ...(allowedApiKeyHashes !== undefined && { allowed_api_key_hashes: writeList(allowedApiKeyHashes) }),
    ...(allowedUserIds !== undefined && { allowed_user_ids: writeList(allowedUserIds) }),
  };
}

function columnsOf(row: ByokKeyRow): ByokKeysTable {
  return {
    id: row.id,
    workspace_id: row.workspaceId,
    provider: row.provider,
    name: row.name,
    label: row.label,
    sealed: row.sealed,
    secret_id: row.secretId,
    disabled: flagOf(row.disabled),
    is_fallback: flagOf(row.isFallback),
    always_use: flagOf(row.alwaysUse),
    sort_order: row.sortOrder,
    allowed_models: writeList(row.allowedModels),
    allowed_api_key_hashes: writeList(row.allowedApiKeyHashes),
    allowed_user_ids: writeList(row.allowedUserIds),
    created_at_ms: row.createdAtMs,
    updated_at_ms: row.updatedAtMs,
    deleted_at_ms: null,
  };
}

function rowOf(columns: ByokKeysTable): ByokKeyRow {
  return {
    id: columns.id,
    workspaceId: columns.workspace_id,
    provider: columns.provider,
    name: columns.name,
    label: columns.label,
    sealed: columns.sealed ?? '',
    secretId: columns.secret_id ?? '',
    disabled: numberOf(columns.disabled) === 1,
    isFallback: numberOf(columns.is_fallback) === 1,
    alwaysUse: numberOf(columns.always_use) === 1,
    sortOrder: numberOf(columns.sort_order),
    allowedModels: readList(columns.allowed_models),
    allowedApiKeyHashes: readList(columns.allowed_api_key_hashes),
    allowedUserIds: readList(columns.allowed_user_ids),
    createdAtMs: numberOf(columns.created_at_ms),
    updatedAtMs: numberOf(columns.updated_at_ms),
  };
}

function writeList(list: readonly string[] | null): string | null {
  return list === null ? null : JSON.stringify(list);
}

/** What cannot be read restricts to nobody: a filter that is lost must not open the credential to all. */
function readList(text: string | null): readonly string[] | null {
  if (text === null) return null;
  const value = parseJson(text);
  return Array.isArray(value) ? value.filter((one) => typeof one === 'string') : [];
}
