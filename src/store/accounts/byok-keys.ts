import { byokKeyResource, type ByokKeyPatch, type ByokKeyRow } from '../../resources/byok-keys.ts';
import { createChanges } from '../engine/changes.ts';
import type { Database } from '../engine/database.ts';
import type { InvalidationBus } from '../../state/contract.ts';
import { fetchPage, type Page, type PageWindow } from '../engine/page.ts';
import { numberOf } from '../portable.ts';
import type { ByokKeysTable } from '../tables.ts';

const { toColumns, toRow, toChanges } = byokKeyResource.rows;

/** A new secret always comes with its label. */
export type ByokKeyChanges = ByokKeyPatch &
  Partial<Pick<ByokKeyRow, 'label' | 'sealed' | 'secretId'>> &
  Pick<ByokKeyRow, 'updatedAtMs'>;

export interface ByokKeyFilter extends PageWindow {
  readonly provider?: string;
  readonly workspaceId?: string;
}

/** Credentials that are not deleted. A deleted one is treated like one that never existed. */
export interface ByokKeyStore {
  find(id: string): Promise<ByokKeyRow | undefined>;
  /** Lists credentials in the order in which they are tried: by provider, `sortOrder`, age. */
  list(filter: ByokKeyFilter): Promise<Page<ByokKeyRow>>;
  /** Lists all credentials, at most `limit`, in the same order. */
  all(limit: number): Promise<readonly ByokKeyRow[]>;
  count(): Promise<number>;
  /** Lists the providers that have a credential. */
  providers(): Promise<readonly string[]>;
  /** Finds the place behind the last credential of a provider. */
  nextSortOrder(provider: string): Promise<number>;
  insert(row: ByokKeyRow): Promise<void>;
  /** Returns the credential after the change; `undefined` when there is none. */
  update(id: string, changes: ByokKeyChanges): Promise<ByokKeyRow | undefined>;
  /** Wipes what is secret and keeps the rest as a tombstone. Returns whether there was one. */
  remove(id: string, atMs: number): Promise<boolean>;
  /** Calls the listener after a credential was changed here or, as the invalidation bus reports, by another process. */
  subscribe(listener: () => void, onGap?: () => void): void;
}

export function createByokKeyStore({
  database,
  invalidations,
}: {
  readonly database: Database;
  readonly invalidations?: InvalidationBus;
}): ByokKeyStore {
  const { kysely } = database;
  const changed = createChanges('byok', invalidations);
  return {
    ...readers(database),
    async insert(row) {
      await kysely.insertInto('byok_keys').values(toColumns(row)).execute();
      changed.announce();
    },
    async update(id, changes) {
      const columns = await kysely
        .updateTable('byok_keys')
        .set(toChanges(changes))
        .where('id', '=', id)
        .where('deleted_at_ms', 'is', null)
        .returningAll()
        .executeTakeFirst();
      changed.announce();
      return columns && toRow(columns);
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

/** The columns of a tombstone: nothing in it can be opened. */
export function wipedCredential(
  atMs: number,
): Pick<ByokKeysTable, 'sealed' | 'secret_id' | 'updated_at_ms' | 'deleted_at_ms'> {
  return { sealed: null, secret_id: null, updated_at_ms: atMs, deleted_at_ms: atMs };
}

type Readers = 'find' | 'list' | 'all' | 'count' | 'providers' | 'nextSortOrder';

function readers({ kysely }: Database): Pick<ByokKeyStore, Readers> {
  const live = () => kysely.selectFrom('byok_keys').where('deleted_at_ms', 'is', null);
  const inOrder = (found: ReturnType<typeof live>) =>
    found.selectAll().orderBy('provider').orderBy('sort_order').orderBy('created_at_ms').orderBy('id');
  return {
    async find(id) {
      const columns = await live().selectAll().where('id', '=', id).executeTakeFirst();
      return columns && toRow(columns);
    },
    async list({ provider, workspaceId, ...window }) {
      let found = live();
      if (provider !== undefined) found = found.where('provider', '=', provider);
      if (workspaceId !== undefined) found = found.where('workspace_id', '=', workspaceId);
      return fetchPage(found, window, inOrder, toRow);
    },
    async all(limit) {
      return (await inOrder(live()).limit(limit).execute()).map(toRow);
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
