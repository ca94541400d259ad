import type { Database } from '../engine/database.ts';
import { oauthCodeRows, type OauthCodeRow } from './columns.ts';
import { numberOf } from '../portable.ts';

export type ChallengeMethod = NonNullable<OauthCodeRow['challengeMethod']>;

const { toColumns, toRow } = oauthCodeRows;

export interface OauthCodeStore {
  /**
   * Inserts a code and deletes expired codes, which have no other use. Returns whether there was no code of this
   * digest.
   */
  insert(row: OauthCodeRow, nowMs: number): Promise<boolean>;
  /** Counts the codes of a key that were neither used nor expired. */
  countOpen(issuerKeyHash: string, nowMs: number): Promise<number>;
  /** Finds a code that was not used, expired or not. */
  find(codeHash: string): Promise<OauthCodeRow | undefined>;
  /** Marks a code as used. Returns true to one caller only, however many try at once, and to none after it expires. */
  use(codeHash: string, nowMs: number): Promise<boolean>;
}

export function createOauthCodeStore({ database }: { readonly database: Database }): OauthCodeStore {
  const { kysely } = database;
  return {
    async insert(row, nowMs) {
      await kysely.deleteFrom('oauth_codes').where('expires_at_ms', '<', nowMs).execute();
      const { numInsertedOrUpdatedRows: inserted } = await kysely
        .insertInto('oauth_codes')
        .values(toColumns(row))
        .onConflict((conflict) => conflict.column('code_hash').doNothing())
        .executeTakeFirst();
      return inserted !== 0n;
    },
    async countOpen(issuerKeyHash, nowMs) {
      const { rows } = await kysely
        .selectFrom('oauth_codes')
        .select(({ fn }) => fn.countAll().as('rows'))
        .where('issuer_key_hash', '=', issuerKeyHash)
        .where('used_at_ms', 'is', null)
        .where('expires_at_ms', '>', nowMs)
        .executeTakeFirstOrThrow();
      return numberOf(rows);
    },
    async find(codeHash) {
      const columns = await kysely
        .selectFrom('oauth_codes')
        .selectAll()
        .where('code_hash', '=', codeHash)
        .where('used_at_ms', 'is', null)
        .executeTakeFirst();
      return columns && toRow(columns);
    },
    async use(codeHash, nowMs) {
      const { numUpdatedRows } = await kysely
        .updateTable('oauth_codes')
        .set({ used_at_ms: nowMs })
        .where('code_hash', '=', codeHash)
        .where('used_at_ms', 'is', null)
        .where('expires_at_ms', '>', nowMs)
        .executeTakeFirst();
      return numUpdatedRows > 0n;
    },
  };
}
