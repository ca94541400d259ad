import type { Database } from '../engine/database.ts';
import { consoleLinkRows, type ConsoleLinkRow } from './columns.ts';

export interface ConsoleLinkStore {
  /** Inserts a link and deletes expired ones, which have no other use. */
  insert(row: ConsoleLinkRow, nowMs: number): Promise<void>;
  /** Uses a link up. Returns true to one caller only, however many try at once, and to none after it expires. */
  use(tokenHash: string, nowMs: number): Promise<boolean>;
}

export function createConsoleLinkStore({ database }: { readonly database: Database }): ConsoleLinkStore {
  const { kysely } = database;
  return {
    async insert(row, nowMs) {
      await kysely.deleteFrom('console_links').where('expires_at_ms', '<=', nowMs).execute();
      await kysely.insertInto('console_links').values(consoleLinkRows.toColumns(row)).execute();
    },
    async use(tokenHash, nowMs) {
      const { numDeletedRows } = await kysely
        .deleteFrom('console_links')
        .where('token_hash', '=', tokenHash)
        .where('expires_at_ms', '>', nowMs)
        .executeTakeFirst();
      return numDeletedRows > 0n;
    },
  };
}
