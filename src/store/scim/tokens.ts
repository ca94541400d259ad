import type { Database } from '../engine/database.ts';
import { scimTokenRows, type ScimTokenRow } from './columns.ts';

export interface ScimTokenStore {
  /** @returns false where there are as many live ones as may be */
  insert(row: ScimTokenRow, tokensMax: number): Promise<boolean>;
  list(nowMs: number): Promise<readonly ScimTokenRow[]>;
  find(tokenHash: string, nowMs: number): Promise<ScimTokenRow | undefined>;
  used(id: string, atMs: number, address: string): Promise<void>;
  delete(id: string): Promise<boolean>;
}

export function createScimTokenStore({ database }: { readonly database: Database }): ScimTokenStore {
  const { kysely } = database;
  const live = (nowMs: number) =>
    kysely
      .selectFrom('scim_tokens')
      .selectAll()
      .where((is) => is.or([is('expires_at_ms', 'is', null), is('expires_at_ms', '>', nowMs)]));
  return {
    insert: (row, tokensMax) =>
      database.runAlone('people', async (transaction) => {
        await transaction.deleteFrom('scim_tokens').where('expires_at_ms', '<=', row.createdAtMs).execute();
        const { length } = await transaction.selectFrom('scim_tokens').select('id').execute();
        if (length >= tokensMax) return false;
        await transaction.insertInto('scim_tokens').values(scimTokenRows.toColumns(row)).execute();
        return true;
      }),
    async list(nowMs) {
      const rows = await live(nowMs).orderBy('created_at_ms', 'desc').orderBy('id').execute();
      return rows.map(scimTokenRows.toRow);
    },
    async find(tokenHash, nowMs) {
      const columns = await live(nowMs).where('token_hash', '=', tokenHash).executeTakeFirst();
      return columns && scimTokenRows.toRow(columns);
    },
    async used(id, atMs, address) {
      await kysely
        .updateTable('scim_tokens')
        .set({ last_used_at_ms: atMs, last_used_from: address })
        .where('id', '=', id)
        .execute();
    },
    async delete(id) {
      const { numDeletedRows } = await kysely.deleteFrom('scim_tokens').where('id', '=', id).executeTakeFirst();
      return numDeletedRows > 0n;
    },
  };
}
