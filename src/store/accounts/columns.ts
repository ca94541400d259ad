import { integer, nullable, text, textOf } from '../../resources/columns.ts';
import { createRowMapper, type RowOf, type TableOf } from '../../resources/row-mapper.ts';

/** A code that an application exchanges, once, for the key that its owner agreed to. */
const oauthCodes = {
  /** SHA-256 of the code, hex. The code itself is stored nowhere. */
  code_hash: text,
  created_at_ms: integer,
  expires_at_ms: integer,
  /** Null: the code alone is enough for the exchange. */
  challenge: nullable(text),
  challenge_method: nullable(textOf<'S256' | 'plain'>()),
  /** The key that agreed to it. */
  issuer_key_hash: text,
  issuer_label: text,
  /** The name of the key that the code becomes; the next five columns describe that key too. */
  key_name: text,
  limit_nano_usd: nullable(integer),
  limit_reset: nullable(textOf<'daily' | 'weekly' | 'monthly'>()),
  key_expires_at_ms: nullable(integer),
  workspace_id: text,
  user_id: nullable(text),
};
export type OauthCodeRow = RowOf<typeof oauthCodes>;
export type OauthCodesTable = TableOf<typeof oauthCodes> & { readonly used_at_ms: number | null };
export const oauthCodeRows = createRowMapper(oauthCodes);

/** The texts of one generation, where its workspace logs them. Deleted when their retention ends. */
const generationContent = {
  generation_id: text,
  created_at_ms: integer,
  workspace_id: text,
  /** Compressed JSON as `lib/secret-box.ts` sealed it. */
  sealed: text,
  /** The id of the secret that sealed it. */
  secret_id: text,
};
export type ContentRow = RowOf<typeof generationContent>;
export type GenerationContentTable = TableOf<typeof generationContent>;
export const contentRows = createRowMapper(generationContent);

/** How one request was routed. Deleted when its retention ends. */
const generationRoutes = {
  generation_id: text,
  created_at_ms: integer,
  /** JSON, compressed, in base64. */
  body: text,
};
export type GenerationRouteRow = RowOf<typeof generationRoutes>;
export type GenerationRoutesTable = TableOf<typeof generationRoutes>;
export const generationRouteRows = createRowMapper(generationRoutes);

/** A session of the dashboard. Its two secrets, the cookie and the token, are stored nowhere. */
const consoleSessions = {
  /** Its public name, by which it is listed and ended. */
  id: text,
  /** SHA-256 of the cookie, hex. */
  id_hash: text,
  /** SHA-256 of the token, hex. */
  token_hash: text,
  /** What was shown at sign-in: a key, a one-time link, or what proves a user. */
  subject_kind: textOf<'management-key' | 'api-key' | 'link' | 'user'>(),
  /** The hash of the key; of a link, that of the link; of a user, the id. */
  subject_id: text,
  /** As it was at sign-in: the role of a user is looked up again. */
  role: textOf<'operator' | 'member'>(),
  created_at_ms: integer,
  last_seen_at_ms: integer,
  idle_until_ms: integer,
  ends_at_ms: integer,
  user_agent: text,
  address_prefix: text,
};
export type ConsoleSessionRow = RowOf<typeof consoleSessions>;
export type ConsoleSessionsTable = TableOf<typeof consoleSessions>;
export const consoleSessionRows = createRowMapper(consoleSessions);

/** A link that signs in once. Used or expired it is deleted. */
const consoleLinks = {
  /** SHA-256 of the link's token, hex. */
  token_hash: text,
  created_at_ms: integer,
  expires_at_ms: integer,
};
export type ConsoleLinkRow = RowOf<typeof consoleLinks>;
export type ConsoleLinksTable = TableOf<typeof consoleLinks>;
export const consoleLinkRows = createRowMapper(consoleLinks);
