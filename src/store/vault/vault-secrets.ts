import type { VaultScope } from '../../canonical/vault-reference.ts';
import type { InvalidationBus } from '../../state/contract.ts';
import { createChanges } from '../engine/changes.ts';
import type { Database } from '../engine/database.ts';
import { fetchPage, type Page, type PageWindow } from '../engine/page.ts';
import { numberOf } from '../portable.ts';
import { vaultSecretRows, type VaultSecretRow } from './columns.ts';

const { toColumns, toRow } = vaultSecretRows;

export interface VaultSecretStore {
  find(scope: VaultScope, name: string): Promise<VaultSecretRow | undefined>;
  /** Lists by name. */
  list(scope: VaultScope, window: PageWindow): Promise<Page<VaultSecretRow>>;
  /** Lists the secrets of all scopes by scope and name, at most `limit`. */
  all(limit: number): Promise<readonly VaultSecretRow[]>;
  count(scope: VaultScope): Promise<number>;
  /** Inserts a secret, or replaces the one of the same name, whose id and time of creation stay. Returns what is stored. */
  put(row: VaultSecretRow): Promise<VaultSecretRow>;
  /** The same of several, all of them or none. */
  putAll(rows: readonly VaultSecretRow[]): Promise<void>;
  /** All secrets of a scope. */
  removeAll(scope: VaultScope): Promise<void>;
  /** Returns whether there was one. */
  remove(scope: VaultScope, name: string): Promise<boolean>;
  /** Calls the listener after a secret was changed here or, as the invalidation bus reports, by another process. */
  subscribe(listener: () => void, onGap?: () => void): void;
}

export function createVaultSecretStore({
  database,
  invalidations,
}: {
  readonly database: Database;
  readonly invalidations?: InvalidationBus;
}): VaultSecretStore {
  const { kysely } = database;
  const changed = createChanges('vault', invalidations);
  const within = ({ kind, id }: VaultScope) =>
    kysely.selectFrom('vault_secrets').where('scope_kind', '=', kind).where('scope_id', '=', id);
  const upsert = (rows: readonly VaultSecretRow[]) =>
    kysely
      .insertInto('vault_secrets')
      .values(rows.map(toColumns))
      .onConflict((conflict) =>
        conflict.columns(['scope_kind', 'scope_id', 'name']).doUpdateSet((set) => ({
          hosts: set.ref('excluded.hosts'),
          sealed: set.ref('excluded.sealed'),
          secret_id: set.ref('excluded.secret_id'),
          external: set.ref('excluded.external'),
          updated_at_ms: set.ref('excluded.updated_at_ms'),
        })),
      );
  return {
    async find(scope, name) {
      const columns = await within(scope).selectAll().where('name', '=', name).executeTakeFirst();
      return columns && toRow(columns);
    },
    list: (scope, window) => fetchPage(within(scope), window, (found) => found.selectAll().orderBy('name'), toRow),
    async all(limit) {
      const found = kysely.selectFrom('vault_secrets').selectAll();
      const rows = await found.orderBy('scope_kind').orderBy('scope_id').orderBy('name').limit(limit).execute();
      return rows.map(toRow);
    },
    async count(scope) {
      const { rows } = await within(scope)
        .select(({ fn }) => fn.countAll().as('rows'))
        .executeTakeFirstOrThrow();
      return numberOf(rows);
    },
    async put(row) {
      const columns = await upsert([row]).returningAll().executeTakeFirstOrThrow();
      changed.announce();
      return toRow(columns);
    },
    async putAll(rows) {
      if (rows.length === 0) return;
      await upsert(rows).execute();
      changed.announce();
    },
    async removeAll({ kind, id }) {
      await kysely.deleteFrom('vault_secrets').where('scope_kind', '=', kind).where('scope_id', '=', id).execute();
      changed.announce();
    },
    async remove({ kind, id }, name) {
      const { numDeletedRows } = await kysely
        .deleteFrom('vault_secrets')
        .where('scope_kind', '=', kind)
        .where('scope_id', '=', id)
        .where('name', '=', name)
        .executeTakeFirst();
      changed.announce();
      return numDeletedRows > 0n;
    },
    subscribe: (listener, onGap) => changed.subscribe(listener, onGap),
  };
}
