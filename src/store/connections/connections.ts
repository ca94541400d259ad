import type { Transaction } from 'kysely';
import type { Database } from '../engine/database.ts';
import { numberOf } from '../portable.ts';
import type { Tables } from '../tables.ts';
import {
  mcpCodeRows,
  mcpConnectionRows,
  mcpTokenRows,
  type McpCodeRow,
  type McpConnectionRow,
  type McpTokenRow,
} from './columns.ts';

export type { McpCodeRow, McpConnectionRow, McpTokenRow } from './columns.ts';

/** Connections of programs to `/mcp`, and the codes and tokens by which they come about. */
export interface McpConnectionStore {
  /** Inserts a code, and deletes those that have expired. @returns false where its issuer has as many as may be */
  insertCode(row: McpCodeRow, nowMs: number, openMax: number): Promise<boolean>;
  /** A code, used or not. */
  findCode(codeHash: string): Promise<McpCodeRow | undefined>;
  /** Marks a code as used. @returns true to one caller alone */
  useCode(codeHash: string, nowMs: number): Promise<boolean>;
  insert(row: McpConnectionRow, tokens: readonly McpTokenRow[]): Promise<void>;
  /** A token with its connection, whether they are good or not. */
  findToken(
    tokenHash: string,
  ): Promise<{ readonly token: McpTokenRow; readonly connection: McpConnectionRow } | undefined>;
  /** Uses a refresh token up, and stores what takes its place, in one commit. @returns false: it was used before */
  rotate(tokenHash: string, nowMs: number, next: readonly McpTokenRow[]): Promise<boolean>;
  /** Counts those of an issuer that are neither revoked nor over. */
  count(issuerKeyHash: string, nowMs: number): Promise<number>;
  /** Lists the newest first that are neither revoked nor over, of all issuers or of one. */
  list(nowMs: number, limit: number, issuerKeyHash?: string): Promise<readonly McpConnectionRow[]>;
  find(id: string): Promise<McpConnectionRow | undefined>;
  used(id: string, atMs: number): Promise<void>;
  /** Ends a connection with all of its tokens. @returns false: there is none, or it has ended */
  revoke(id: string, atMs: number): Promise<boolean>;
}

const { toRow } = mcpConnectionRows;

export function createMcpConnectionStore({ database }: { readonly database: Database }): McpConnectionStore {
  const { kysely } = database;
  const live = (nowMs: number) =>
    kysely
      .selectFrom('mcp_connections')
      .where('revoked_at_ms', 'is', null)
      .where((is) => is.or([is('expires_at_ms', 'is', null), is('expires_at_ms', '>', nowMs)]));
  return {
    ...codesIn(database),
    async insert(row, tokens) {
      await kysely.transaction().execute(async (transaction) => {
        await transaction.insertInto('mcp_connections').values(mcpConnectionRows.toColumns(row)).execute();
        await insertTokens(transaction, tokens);
      });
    },
    async findToken(tokenHash) {
      const found = await kysely
        .selectFrom('mcp_tokens')
        .selectAll()
        .where('token_hash', '=', tokenHash)
        .executeTakeFirst();
      if (found === undefined) return undefined;
      const connection = await findConnection(database, found.connection_id);
      return connection && { token: mcpTokenRows.toRow(found), connection };
    },
    rotate: (tokenHash, nowMs, next) =>
      kysely.transaction().execute(async (transaction) => {
        const { numUpdatedRows } = await transaction
          .updateTable('mcp_tokens')
          .set({ used_at_ms: nowMs })
          .where('token_hash', '=', tokenHash)
          .where('used_at_ms', 'is', null)
          .executeTakeFirst();
        if (numUpdatedRows === 0n) return false;
        // Used refresh tokens stay as long as their connection: that they come again says that they were stolen.
        await transaction.deleteFrom('mcp_tokens').where('expires_at_ms', '<=', nowMs).execute();
        await insertTokens(transaction, next);
        return true;
      }),
    async count(issuerKeyHash, nowMs) {
      const { count } = await live(nowMs)
        .select(({ fn }) => fn.countAll<number>().as('count'))
        .where('issuer_key_hash', '=', issuerKeyHash)
        .executeTakeFirstOrThrow();
      return numberOf(count);
    },
    async list(nowMs, limit, issuerKeyHash) {
      let query = live(nowMs).selectAll();
      if (issuerKeyHash !== undefined) query = query.where('issuer_key_hash', '=', issuerKeyHash);
      const rows = await query.orderBy('created_at_ms', 'desc').orderBy('id').limit(limit).execute();
      return rows.map(toRow);
    },
    find: (id) => findConnection(database, id),
    async used(id, atMs) {
      await kysely.updateTable('mcp_connections').set({ last_used_at_ms: atMs }).where('id', '=', id).execute();
    },
    revoke: (id, atMs) =>
      kysely.transaction().execute(async (transaction) => {
        const { numUpdatedRows } = await transaction
          .updateTable('mcp_connections')
          .set({ revoked_at_ms: atMs })
          .where('id', '=', id)
          .where('revoked_at_ms', 'is', null)
          .executeTakeFirst();
        await transaction.deleteFrom('mcp_tokens').where('connection_id', '=', id).execute();
        return numUpdatedRows > 0n;
      }),
  };
}

function codesIn({ kysely }: Database): Pick<McpConnectionStore, 'insertCode' | 'findCode' | 'useCode'> {
  return {
    insertCode: (row, nowMs, openMax) =>
      kysely.transaction().execute(async (transaction) => {
        await transaction.deleteFrom('mcp_codes').where('expires_at_ms', '<', nowMs).execute();
        const { count } = await transaction
          .selectFrom('mcp_codes')
          .select(({ fn }) => fn.countAll<number>().as('count'))
          .where('issuer_key_hash', '=', row.issuerKeyHash)
          .executeTakeFirstOrThrow();
        if (numberOf(count) >= openMax) return false;
        await transaction.insertInto('mcp_codes').values(mcpCodeRows.toColumns(row)).execute();
        return true;
      }),
    async findCode(codeHash) {
      const found = await kysely
        .selectFrom('mcp_codes')
        .selectAll()
        .where('code_hash', '=', codeHash)
        .executeTakeFirst();
      return found && mcpCodeRows.toRow(found);
    },
    async useCode(codeHash, nowMs) {
      const { numUpdatedRows } = await kysely
        .updateTable('mcp_codes')
        .set({ used_at_ms: nowMs })
        .where('code_hash', '=', codeHash)
        .where('used_at_ms', 'is', null)
        .where('expires_at_ms', '>', nowMs)
        .executeTakeFirst();
      return numUpdatedRows > 0n;
    },
  };
}

async function findConnection({ kysely }: Database, id: string): Promise<McpConnectionRow | undefined> {
  const found = await kysely.selectFrom('mcp_connections').selectAll().where('id', '=', id).executeTakeFirst();
  return found && toRow(found);
}

async function insertTokens(transaction: Transaction<Tables>, tokens: readonly McpTokenRow[]): Promise<void> {
  await transaction
    .insertInto('mcp_tokens')
    .values(tokens.map((token) => mcpTokenRows.toColumns(token)))
    .execute();
}

/** Ends what a user agreed to, in the transaction that ends the user. */
export async function revokeConnectionsOf(
  transaction: Transaction<Tables>,
  userId: string,
  atMs: number,
): Promise<void> {
  await transaction.deleteFrom('mcp_codes').where('user_id', '=', userId).execute();
  await transaction
    .deleteFrom('mcp_tokens')
    .where('connection_id', 'in', (from) =>
      from.selectFrom('mcp_connections').select('id').where('user_id', '=', userId),
    )
    .execute();
  await transaction
    .updateTable('mcp_connections')
    .set({ revoked_at_ms: atMs })
    .where('user_id', '=', userId)
    .where('revoked_at_ms', 'is', null)
    .execute();
}
