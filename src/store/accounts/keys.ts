import type { Transaction } from 'kysely';
import { keyResource, type KeyKind, type KeyPatch, type KeyRow } from '../../resources/keys.ts';
import type { Database } from '../engine/database.ts';
import { createBatchedReads } from '../engine/batched-reads.ts';
import { changeIssued, lockIssuer, lockOwner, sumIssuedSpend, type CascadingChange } from './issued-keys.ts';
import { sumSpend, type SpendWindows, type SubjectSpend } from '../usage/spend.ts';
import type { InvalidationBus } from '../../state/contract.ts';
import { numberOf } from '../portable.ts';
import type { KeysTable, Tables } from '../tables.ts';
import { lockWorkspace } from './workspaces.ts';

const { toColumns, toRow, toChanges } = keyResource.rows;

export type KeyChanges = KeyPatch & Pick<KeyRow, 'updatedAtMs'>;

export interface KeyFilter {
  readonly kind?: KeyKind;
  readonly includeDisabled: boolean;
  readonly workspaceId?: string;
  readonly creatorUserId?: string;
  readonly issuerKeyHash?: string;
  readonly offset: number;
  readonly limit: number;
}

export type Cascade = { readonly deletedAtMs: number } | { readonly disabled: true; readonly updatedAtMs: number };

/**
 * Gets the hash of a key after the commit that inserted, changed or deleted it, here or, as the invalidation bus
 * reports, in another process.
 */
export type KeyListener = (hash: string) => void;

/** Keys that are not deleted. A deleted one is treated like one that never existed. */
export interface KeyStore {
  find(hash: string): Promise<KeyRow | undefined>;
  /** Lists the newest first. */
  list(filter: KeyFilter): Promise<readonly KeyRow[]>;
  insert(row: KeyRow): Promise<void>;
  /**
   * Inserts the key unless its workspace is unknown or deleted, or its issuer or the user that it is for was disabled or
   * deleted meanwhile.
   */
  /** `not new`: there is such a key, or there was one. */
  insertInWorkspace(row: KeyRow): Promise<'inserted' | 'not new' | 'no workspace' | 'no issuer' | 'no owner'>;
  /** Inserts all keys; inserts none when the store has or ever had a key, however many processes start at once. */
  insertFirst(rows: readonly KeyRow[]): Promise<boolean>;
  /** Returns the key after the change; `undefined` when there is none of this kind. */
  update(hash: string, changes: KeyChanges, kind?: KeyKind): Promise<KeyRow | undefined>;
  /** Returns whether there was a key of this kind. */
  remove(hash: string, atMs: number, kind?: KeyKind): Promise<boolean>;
  /**
   * Deletes or disables a key and all keys that it issued, directly or not, in one commit.
   * @returns the hashes of the other changed keys; `undefined` when there is no such key of this kind
   */
  cascade(hash: string, change: Cascade, kind?: KeyKind): Promise<readonly string[] | undefined>;
  /** Sums what each of these keys spent, also deleted and unknown ones. At most 100 hashes. */
  sumSpend(hashes: readonly string[], windows: SpendWindows): Promise<ReadonlyMap<string, SubjectSpend>>;
  /** Sums, for each root, the spending of the keys whose limits it counts; a root without such keys is absent. */
  sumIssuedSpend(hashes: readonly string[], windows: SpendWindows): Promise<ReadonlyMap<string, SubjectSpend>>;
  /** Reports keys that another statement changed. */
  announce(hashes: readonly string[]): void;
  /** @param onGap runs when another process may have changed any key */
  subscribe(listener: KeyListener, onGap?: () => void): void;
}

export interface KeyStoreDeps {
  readonly database: Database;
  /** How processes that share the database report changes to each other; absent: there is one process. */
  readonly invalidations?: InvalidationBus;
}

const KEY_INVALIDATIONS = 'key';

export function createKeyStore({ database, invalidations }: KeyStoreDeps): KeyStore {
  const { kysely } = database;
  const listeners: KeyListener[] = [];
  const notify = (hash: string): void => listeners.forEach((listener) => listener(hash));
  invalidations?.subscribe(KEY_INVALIDATIONS, notify);
  const announce = (hash: string): void => {
    notify(hash);
    invalidations?.announce(KEY_INVALIDATIONS, hash);
  };
  const findColumns = createBatchedReads((hashes) => findKeys(database, hashes));
  return {
    // Decodes each row separately: a row that cannot be read must not fail the lookups that share its statement.
    async find(hash) {
      const columns = await findColumns(hash);
      return columns && toRow(columns);
    },
    list: (filter) => listKeys(database, filter),
    async insert(row) {
      await kysely.insertInto('keys').values(toColumns(row)).execute();
      announce(row.hash);
    },
    async insertInWorkspace(row) {
      const inserted = await kysely.transaction().execute(async (transaction) => {
        if ((await lockWorkspace(transaction, row.workspaceId)) === undefined) return 'no workspace';
        if (row.issuerKeyHash !== null && !(await lockIssuer(transaction, row.issuerKeyHash))) return 'no issuer';
        if (row.creatorUserId !== null && !(await lockOwner(transaction, row.creatorUserId))) return 'no owner';
        return (await insertNew(transaction, row)) ? 'inserted' : 'not new';
      });
      if (inserted === 'inserted') announce(row.hash);
      return inserted;
    },
    async insertFirst(rows) {
      const inserted = await database.runAlone('first-keys', async (transaction) => {
        const any = await transaction.selectFrom('keys').select('hash').limit(1).executeTakeFirst();
        if (any !== undefined) return false;
        await transaction.insertInto('keys').values(rows.map(toColumns)).execute();
        return true;
      });
      if (inserted) for (const { hash } of rows) announce(hash);
      return inserted;
    },
    async update(hash, changes, kind) {
      let query = kysely.updateTable('keys').set(toChanges(changes)).where('hash', '=', hash);
      if (kind !== undefined) query = query.where('kind', '=', kind);
      const columns = await query.where('deleted_at_ms', 'is', null).returningAll().executeTakeFirst();
      announce(hash);
      return columns && toRow(columns);
    },
    async remove(hash, atMs, kind) {
      let query = kysely.updateTable('keys').set({ deleted_at_ms: atMs }).where('hash', '=', hash);
      if (kind !== undefined) query = query.where('kind', '=', kind);
      const { numUpdatedRows } = await query.where('deleted_at_ms', 'is', null).executeTakeFirst();
      announce(hash);
      return numUpdatedRows > 0n;
    },
    async cascade(hash, change, kind) {
      const changed = await changeWithIssued(database, hash, cascadeColumns(change), kind);
      for (const each of [hash, ...(changed ?? [])]) announce(each);
      return changed;
    },
    sumSpend: (hashes, windows) => sumSpendOfKeys(database, hashes, windows),
    sumIssuedSpend: (hashes, windows) => sumIssuedSpend(database, hashes, windows),
    announce: (hashes) => hashes.forEach(announce),
    subscribe(listener, onGap) {
      listeners.push(listener);
      if (onGap !== undefined) invalidations?.subscribe(KEY_INVALIDATIONS, () => undefined, onGap);
    },
  };
}

function cascadeColumns(change: Cascade): CascadingChange {
  if ('deletedAtMs' in change) return { deleted_at_ms: change.deletedAtMs };
  return { disabled: 1, updated_at_ms: change.updatedAtMs };
}

async function changeWithIssued(
  { kysely }: Database,
  hash: string,
  change: CascadingChange,
  kind: KeyKind | undefined,
): Promise<readonly string[] | undefined> {
  return kysely.transaction().execute(async (transaction) => {
    let query = transaction.updateTable('keys').set(change).where('hash', '=', hash).where('deleted_at_ms', 'is', null);
    if (kind !== undefined) query = query.where('kind', '=', kind);
    const { numUpdatedRows } = await query.executeTakeFirst();
    return numUpdatedRows === 0n ? undefined : changeIssued(transaction, hash, change);
  });
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
  if (filter.issuerKeyHash !== undefined) query = query.where('issuer_key_hash', '=', filter.issuerKeyHash);
  if (!filter.includeDisabled) query = query.where('disabled', '=', 0);
  // The hash makes the order total, so that pages neither repeat nor skip a key.
  const rows = await query
    .orderBy('created_at_ms', 'desc')
    .orderBy('hash')
    .limit(filter.limit)
    .offset(filter.offset)
    .execute();
  return rows.map(toRow);
}

/** @returns whether there was no key of this hash, also none that was deleted */
async function insertNew(transaction: Transaction<Tables>, row: KeyRow): Promise<boolean> {
  const { numInsertedOrUpdatedRows: added } = await transaction
    .insertInto('keys')
    .values(toColumns(row))
    .onConflict((conflict) => conflict.column('hash').doNothing())
    .executeTakeFirstOrThrow();
  return numberOf(added) > 0;
}
