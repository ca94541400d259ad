import { sql } from 'kysely';
import type { Database } from '../engine/database.ts';
import { fetchPage, type Page, type PageWindow } from '../engine/page.ts';
import { numberOf } from '../portable.ts';
import { vaultReleaseRows, type VaultReleaseRow } from './columns.ts';
import type { VaultScope } from '../../canonical/vault-reference.ts';

const { toColumns, toRow } = vaultReleaseRows;

export interface VaultReleaseFilter extends PageWindow {
  readonly scope?: VaultScope;
  readonly name?: string;
}

export interface VaultReleaseStore {
  /** Adds counts to those of the same hour. */
  add(rows: readonly VaultReleaseRow[]): Promise<void>;
  /** Lists the newest first. */
  list(filter: VaultReleaseFilter): Promise<Page<VaultReleaseRow>>;
  /** When each of these names was last released, Unix ms. */
  lastReleases(scope: VaultScope, names: readonly string[]): Promise<ReadonlyMap<string, number>>;
  /** Deletes the hours before a time. */
  removeBefore(atMs: number): Promise<void>;
}

/** One after the other in a fixed order: two processes that store the same hour must not deadlock. */
const KEY = ['hour_ms', 'scope_kind', 'scope_id', 'name', 'host', 'caller', 'key_hash', 'verdict'] as const;

export function createVaultReleaseStore({ database }: { readonly database: Database }): VaultReleaseStore {
  const { kysely, background } = database;
  return {
    async add(rows) {
      const sorted = rows.map(toColumns).toSorted((one, other) => (keyOf(one) < keyOf(other) ? -1 : 1));
      if (sorted.length === 0) return;
      await kysely
        .insertInto('vault_releases')
        .values(sorted)
        .onConflict((conflict) =>
          conflict.columns([...KEY]).doUpdateSet((set) => ({
            count: sql`${sql.ref('vault_releases.count')} + ${sql.ref('excluded.count')}`,
            last_at_ms: set.ref('excluded.last_at_ms'),
          })),
        )
        .execute();
    },
    list({ scope, name, ...window }) {
      let found = kysely.selectFrom('vault_releases');
      if (scope !== undefined) found = found.where('scope_kind', '=', scope.kind).where('scope_id', '=', scope.id);
      if (name !== undefined) found = found.where('name', '=', name);
      const inOrder = (rows: typeof found) => {
        let ordered = rows.selectAll().orderBy('hour_ms', 'desc');
        for (const column of KEY.slice(1)) ordered = ordered.orderBy(column);
        return ordered;
      };
      return fetchPage(found, window, inOrder, toRow);
    },
    async lastReleases({ kind, id }, names) {
      if (names.length === 0) return new Map();
      const rows = await kysely
        .selectFrom('vault_releases')
        .select(['name', ({ fn }) => fn.max('last_at_ms').as('at_ms')])
        .where('scope_kind', '=', kind)
        .where('scope_id', '=', id)
        .where('verdict', '=', 'released')
        .where('name', 'in', [...names])
        .groupBy('name')
        .execute();
      return new Map(rows.map(({ name, at_ms: atMs }) => [name, numberOf(atMs)]));
    },
    async removeBefore(atMs) {
      await background.deleteFrom('vault_releases').where('hour_ms', '<', atMs).execute();
    },
  };
}

function keyOf(row: Readonly<Record<(typeof KEY)[number], string | number>>): string {
  return KEY.map((column) => row[column]).join('\n');
}
