import type { DefaultPlugin } from '../canonical/default-plugins.ts';
import type { DefaultPreferences } from '../canonical/default-preferences.ts';
import type { Database } from './database.ts';
import { readDefaultPlugins, writeDefaultPlugins } from './default-plugins-json.ts';
import { gatherReads } from './gathered-reads.ts';
import { flagOf } from './portable.ts';
import { readPreferences, writePreferences } from './preferences-json.ts';
import { sumSpend, type SpendWindows, type SubjectSpend } from './spend.ts';
import type { News } from './shared/contract.ts';
import type { KeysTable } from './tables.ts';
import { lockWorkspace } from './workspaces.ts';

export type KeyKind = KeysTable['kind'];
export type LimitReset = NonNullable<KeysTable['limit_reset']>;

/** One API key. */
export interface KeyRow {
  /** SHA-256 of the full key, 64 lower-case hex digits: its public name. */
  readonly hash: string;
  /** A masked excerpt. */
  readonly label: string;
  readonly name: string;
  readonly kind: KeyKind;
  readonly disabled: boolean;
  readonly createdAtMs: number;
  /** Null until the first change. */
  readonly updatedAtMs: number | null;
  readonly expiresAtMs: number | null;
  readonly limitNanoUsd: number | null;
  /** Null: the limit is for all time. */
  readonly limitReset: LimitReset | null;
  readonly includeByokInLimit: boolean;
  readonly creatorUserId: string | null;
  readonly workspaceId: string;
  /** Null: none of its own. */
  readonly defaultPreferences: DefaultPreferences | null;
  /** Null: none of its own. */
  readonly defaultPlugins: readonly DefaultPlugin[] | null;
}

export type KeyChanges = Partial<
  Pick<
    KeyRow,
    'name' | 'disabled' | 'limitNanoUsd' | 'limitReset' | 'includeByokInLimit' | 'defaultPreferences' | 'defaultPlugins'
  >
> & { readonly updatedAtMs: number };

export interface KeyFilter {
  readonly kind?: KeyKind;
  readonly includeDisabled: boolean;
  readonly workspaceId?: string;
  readonly creatorUserId?: string;
  readonly offset: number;
  readonly limit: number;
}

/** Told the hash of a key that was inserted, changed or deleted, here or, as news has it, by another process, after its commit. */
export type KeyListener = (hash: string) => void;

/** Keys that are not deleted. A deleted one is as unknown as one that never was. */
export interface KeyStore {
  find(hash: string): Promise<KeyRow | undefined>;
  /** Newest first. */
  list(filter: KeyFilter): Promise<readonly KeyRow[]>;
  insert(row: KeyRow): Promise<void>;
  /** Inserts it unless its workspace is unknown or deleted, and says whether it did. */
  insertInWorkspace(row: KeyRow): Promise<boolean>;
  /** Inserts all or, when the store has or ever had a key, none, however many processes start at once. */
  insertFirst(rows: readonly KeyRow[]): Promise<boolean>;
  /** The key after the change; `undefined` when there is none of this kind. */
  update(hash: string, changes: KeyChanges, kind?: KeyKind): Promise<KeyRow | undefined>;
  /** Whether there was one of this kind. */
  remove(hash: string, atMs: number, kind?: KeyKind): Promise<boolean>;
  /** What each of these keys spent; deleted and unknown ones too. At most 100 hashes. */
  sumSpend(hashes: readonly string[], windows: SpendWindows): Promise<ReadonlyMap<string, SubjectSpend>>;
  /** @param onGap any key may have been changed by another process */
  subscribe(listener: KeyListener, onGap?: () => void): void;
}

export interface KeyStoreParts {
  readonly database: Database;
  /** By which processes that share the database tell each other; absent: there is one. */
  readonly news?: News;
}

const NEWS_OF_KEYS = 'key';

export function createKeyStore({ database, news }: KeyStoreParts): KeyStore {
  const { kysely } = database;
  const listeners: KeyListener[] = [];
  const tell = (hash: string): void => listeners.forEach((listener) => listener(hash));
  news?.subscribe(NEWS_OF_KEYS, tell);
  const announce = (hash: string): void => {
    tell(hash);
    news?.announce(NEWS_OF_KEYS, hash);
  };
  const findColumns = gatherReads((hashes) => findKeys(database, hashes));
  return {
    // Each by itself: one that cannot be read is no matter of those that were looked for together with it.
    async find(hash) {
      const columns = await findColumns(hash);
      return columns && rowOf(columns);
    },
    list: (filter) => listKeys(database, filter),
    async insert(row) {
      await kysely.insertInto('keys').values(columnsOf(row)).execute();
      announce(row.hash);
    },
    async insertInWorkspace(row) {
      const inserted = await kysely.transaction().execute(async (transaction) => {
        if ((await lockWorkspace(transaction, row.workspaceId)) === undefined) return false;
        await transaction.insertInto('keys').values(columnsOf(row)).execute();
        return true;
      });
      if (inserted) announce(row.hash);
      return inserted;
    },
    async insertFirst(rows) {
      const inserted = await database.runAlone('first-keys', async (transaction) => {
        const any = await transaction.selectFrom('keys').select('hash').limit(1).executeTakeFirst();
        if (any !== undefined) return false;
        await transaction.insertInto('keys').values(rows.map(columnsOf)).execute();
        return true;
      });
      if (inserted) for (const { hash } of rows) announce(hash);
      return inserted;
    },
    async update(hash, changes, kind) {
      let query = kysely.updateTable('keys').set(changedColumns(changes)).where('hash', '=', hash);
      if (kind !== undefined) query = query.where('kind', '=', kind);
      const columns = await query.where('deleted_at_ms', 'is', null).returningAll().executeTakeFirst();
      announce(hash);
      return columns && rowOf(columns);
    },
    async remove(hash, atMs, kind) {
      let query = kysely.updateTable('keys').set({ deleted_at_ms: atMs }).where('hash', '=', hash);
      if (kind !== undefined) query = query.where('kind', '=', kind);
      const { numUpdatedRows } = await query.where('deleted_at_ms', 'is', null).executeTakeFirst();
      announce(hash);
      return numUpdatedRows > 0n;
    },
    sumSpend: (hashes, windows) => sumSpendOfKeys(database, hashes, windows),
    subscribe(listener, onGap) {
      listeners.push(listener);
      if (onGap !== undefined) news?.subscribe(NEWS_OF_KEYS, () => undefined, onGap);
    },
  };
}

async function sumSpendOfKeys(
  database: Database,
  hashes: readonly string[],
  windows: SpendWindows,
): Promise<ReadonlyMap<string, SubjectSpend>> {
  const nameOf = (hash: string): string => `key:${hash}`;
  const sums = await sumSpend(database, hashes.map(nameOf), windows);
  return new Map(
    hashes.flatMap((hash) => {
      const sum = sums.get(nameOf(hash));
      return sum === undefined ? [] : [[hash, sum]];
    }),
  );
}

async function findKeys({ kysely }: Database, hashes: readonly string[]): Promise<ReadonlyMap<string, KeysTable>> {
  const rows = await kysely
    .selectFrom('keys')
    .selectAll()
    .where('hash', 'in', hashes)
    .where('deleted_at_ms', 'is', null)
    .execute();
  return new Map(rows.map((columns) => [columns.hash, columns]));
}

async function listKeys(database: Database, filter: KeyFilter): Promise<readonly KeyRow[]> {
  let query = database.kysely.selectFrom('keys').selectAll().where('deleted_at_ms', 'is', null);
  if (filter.kind !== undefined) query = query.where('kind', '=', filter.kind);
  if (filter.workspaceId !== undefined) query = query.where('workspace_id', '=', filter.workspaceId);
  if (filter.creatorUserId !== undefined) query = query.where('creator_user_id', '=', filter.creatorUserId);
  if (!filter.includeDisabled) query = query.where('disabled', '=', 0);
  // The hash makes the order total, so that pages neither repeat nor skip a key.
  const rows = await query
    .orderBy('created_at_ms', 'desc')
    .orderBy('hash')
    .limit(filter.limit)
    .offset(filter.offset)
    .execute();
  return rows.map(rowOf);
}

function changedColumns(changes: KeyChanges): Partial<KeysTable> {
  const { name, disabled, limitNanoUsd, limitReset, includeByokInLimit, updatedAtMs } = changes;
  const { defaultPreferences, defaultPlugins } = changes;
  return {
    updated_at_ms: updatedAtMs,
    ...(name !== undefined && { name }),
    ...(disabled !== undefined && { disabled: flagOf(disabled) }),
    ...(limitNanoUsd !== undefined && { limit_nano_usd: limitNanoUsd }),
    ...(limitReset !== undefined && { limit_reset: limitReset }),
    ...(includeByokInLimit !== undefined && { include_byok_in_limit: flagOf(includeByokInLimit) }),
    ...(defaultPreferences !== undefined && { default_provider_preferences: writePreferences(defaultPreferences) }),
    ...(defaultPlugins !== undefined && { default_plugins: writeDefaultPlugins(defaultPlugins) }),
  };
}

function columnsOf(row: KeyRow): KeysTable {
  return {
    hash: row.hash,
    label: row.label,
    name: row.name,
    kind: row.kind,
    disabled: flagOf(row.disabled),
    created_at_ms: row.createdAtMs,
    updated_at_ms: row.updatedAtMs,
    expires_at_ms: row.expiresAtMs,
    limit_nano_usd: row.limitNanoUsd,
    limit_reset: row.limitReset,
    include_byok_in_limit: flagOf(row.includeByokInLimit),
    creator_user_id: row.creatorUserId,
    workspace_id: row.workspaceId,
    default_provider_preferences: writePreferences(row.defaultPreferences),
    default_plugins: writeDefaultPlugins(row.defaultPlugins),
    deleted_at_ms: null,
  };
}

function rowOf(columns: KeysTable): KeyRow {
  return {
    hash: columns.hash,
    label: columns.label,
    name: columns.name,
    kind: columns.kind,
    disabled: columns.disabled === 1,
    createdAtMs: columns.created_at_ms,
    updatedAtMs: columns.updated_at_ms,
    expiresAtMs: columns.expires_at_ms,
    limitNanoUsd: columns.limit_nano_usd,
    limitReset: columns.limit_reset,
    includeByokInLimit: columns.include_byok_in_limit === 1,
    creatorUserId: columns.creator_user_id,
    workspaceId: columns.workspace_id,
    defaultPreferences: readPreferences(columns.default_provider_preferences),
    defaultPlugins: readDefaultPlugins(columns.default_plugins),
  };
}
