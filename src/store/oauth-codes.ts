import type { Database } from './database.ts';
import type { OauthCodesTable } from './tables.ts';
import { numberOf } from './portable.ts';

export type ChallengeMethod = NonNullable<OauthCodesTable['challenge_method']>;

/** What a code stands for: a key that somebody agreed to. */
export interface OauthCodeRow {
  /** SHA-256 of the code, hex. */
  readonly codeHash: string;
  readonly createdAtMs: number;
  readonly expiresAtMs: number;
  /** Null: whoever brings the code may exchange it. */
  readonly challenge: string | null;
  readonly challengeMethod: ChallengeMethod | null;
  /** The key that agreed to it. */
  readonly issuerKeyHash: string;
  readonly issuerLabel: string;
  readonly keyName: string;
  readonly limitNanoUsd: number | null;
  readonly limitReset: OauthCodesTable['limit_reset'];
  readonly keyExpiresAtMs: number | null;
  readonly workspaceId: string;
  readonly userId: string | null;
}

export interface OauthCodeStore {
  /** Drops codes whose time is over, too: nothing else needs them. Whether there was none of this digest. */
  insert(row: OauthCodeRow, nowMs: number): Promise<boolean>;
  /** Those of a key that were neither used nor expired. */
  countOpen(issuerKeyHash: string, nowMs: number): Promise<number>;
  /** One that was not used, expired or not. */
  find(codeHash: string): Promise<OauthCodeRow | undefined>;
  /** Marks it as used. True for one caller only, however many ask at once, and for none after its time. */
  use(codeHash: string, nowMs: number): Promise<boolean>;
}

export function createOauthCodeStore({ database }: { readonly database: Database }): OauthCodeStore {
  const { kysely } = database;
  return {
    async insert(row, nowMs) {
      await kysely.deleteFrom('oauth_codes').where('expires_at_ms', '<', nowMs).execute();
      const { numInsertedOrUpdatedRows: inserted } = await kysely
        .insertInto('oauth_codes')
        .values(columnsOf(row))
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
      return columns && rowOf(columns);
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

function columnsOf(row: OauthCodeRow): OauthCodesTable {
  return {
    code_hash: row.codeHash,
    created_at_ms: row.createdAtMs,
    expires_at_ms: row.expiresAtMs,
    used_at_ms: null,
    challenge: row.challenge,
    challenge_method: row.challengeMethod,
    issuer_key_hash: row.issuerKeyHash,
    issuer_label: row.issuerLabel,
    key_name: row.keyName,
    limit_nano_usd: row.limitNanoUsd,
    limit_reset: row.limitReset,
    key_expires_at_ms: row.keyExpiresAtMs,
    workspace_id: row.workspaceId,
    user_id: row.userId,
  };
}

function rowOf(columns: OauthCodesTable): OauthCodeRow {
  const { limit_nano_usd: limit, key_expires_at_ms: keyExpires } = columns;
  return {
    codeHash: columns.code_hash,
    createdAtMs: numberOf(columns.created_at_ms),
    expiresAtMs: numberOf(columns.expires_at_ms),
    challenge: columns.challenge,
    challengeMethod: columns.challenge_method,
    issuerKeyHash: columns.issuer_key_hash,
    issuerLabel: columns.issuer_label,
    keyName: columns.key_name,
    limitNanoUsd: limit === null ? null : numberOf(limit),
    limitReset: columns.limit_reset,
    keyExpiresAtMs: keyExpires === null ? null : numberOf(keyExpires),
    workspaceId: columns.workspace_id,
    userId: columns.user_id,
  };
}
