import { z } from 'zod';
import { integer, json, nullable, text, textOf } from '../../resources/columns.ts';
import { createRowMapper, type RowOf, type TableOf } from '../../resources/row-mapper.ts';

const texts = z.array(z.string()).readonly();

/** A program that registered itself (RFC 7591). */
const clients = {
  id: text,
  name: text,
  redirect_uris: json(texts),
  created_at_ms: integer,
  /** When a person first agreed to it. Null: never, and it is deleted soon. */
  used_at_ms: nullable(integer),
};
export type McpClientRow = RowOf<typeof clients>;
export type McpClientsTable = TableOf<typeof clients>;
export const mcpClientRows = createRowMapper(clients);

/** What a person agreed to. */
const consentSchema = z
  .object({
    clientId: z.string(),
    clientName: z.string(),
    clientHost: z.string().nullable(),
    redirectUri: z.string(),
    challenge: z.string(),
    resource: z.string(),
    scopes: texts,
    issuerLabel: z.string(),
    workspaceId: z.string(),
    limitNanoUsd: z.number().nullable(),
    limitReset: z.enum(['daily', 'weekly', 'monthly']).nullable(),
    expiresAtMs: z.number().nullable(),
  })
  .readonly();

const codes = {
  /** SHA-256, hex. */
  code_hash: text,
  issuer_key_hash: text,
  user_id: nullable(text),
  consent: json(consentSchema),
  /** What it becomes. */
  connection_id: text,
  expires_at_ms: integer,
  used_at_ms: nullable(integer),
};
export type McpCodeRow = RowOf<typeof codes>;
export type McpCodesTable = TableOf<typeof codes>;
export const mcpCodeRows = createRowMapper(codes);

const connections = {
  id: text,
  /** The key that its calls are charged to, whose text nothing knows. */
  key_hash: text,
  /** What stands for the person that agreed: the digest of a user, of a management key, or of the operator of a link. */
  issuer_key_hash: text,
  user_id: nullable(text),
  client_id: text,
  client_name: text,
  /** Of the document of the client; null: it has none. */
  client_host: nullable(text),
  workspace_id: text,
  scopes: json(texts),
  /** The address of the MCP server that its tokens are for. */
  resource: text,
  created_at_ms: integer,
  /** Null: never. */
  expires_at_ms: nullable(integer),
  last_used_at_ms: nullable(integer),
  revoked_at_ms: nullable(integer),
};
export type McpConnectionRow = RowOf<typeof connections>;
export type McpConnectionsTable = TableOf<typeof connections>;
export const mcpConnectionRows = createRowMapper(connections);

const tokens = {
  /** SHA-256, hex. */
  token_hash: text,
  connection_id: text,
  kind: textOf<'access' | 'refresh'>(),
  /** Null: with the connection. */
  expires_at_ms: nullable(integer),
  /** Of a refresh token: it is good once, and what comes with it again was stolen from one of the two. */
  used_at_ms: nullable(integer),
};
export type McpTokenRow = RowOf<typeof tokens>;
export type McpTokensTable = TableOf<typeof tokens>;
export const mcpTokenRows = createRowMapper(tokens);
