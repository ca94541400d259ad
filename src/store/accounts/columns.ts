import { flag, integer, jsonObject, nullable, text, textOf } from '../../resources/columns.ts';
import { createRowMapper, type RowOf, type TableOf } from '../../resources/row-mapper.ts';

/** One change, and who made it. It holds no secret. Only ever inserted. */
const auditEvents = {
  id: text,
  at_ms: integer,
  /** Null: not by a key. */
  actor_key_hash: nullable(text),
  actor_label: text,
  /** What was done: `updateKey`. */
  action: text,
  /** To what: `/keys/HASH`. */
  subject: text,
  /** Members and what they were set to. */
  changes: jsonObject,
};
export type AuditEvent = RowOf<typeof auditEvents>;
export type AuditEventsTable = TableOf<typeof auditEvents>;
export const auditEventRows = createRowMapper(auditEvents);

/** A guardrail of a key, by its hash, or of a member, by the user's id: at most one each. */
const assignments = {
  id: text,
  guardrail_id: text,
  subject_id: text,
  /** The hash of a management key. */
  assigned_by: nullable(text),
  created_at_ms: integer,
};
export type AssignedKind = 'key' | 'member';
export type AssignmentRow = RowOf<typeof assignments>;
export type GuardrailAssignmentsTable = TableOf<typeof assignments> & { readonly subject_kind: AssignedKind };
export const assignmentRows = createRowMapper(assignments);

/** A code that an application exchanges, once, for the key that its owner agreed to. */
const oauthCodes = {
  /** SHA-256 of the code, hex. The code itself is stored nowhere. */
  code_hash: text,
  created_at_ms: integer,
  expires_at_ms: integer,
  /** Null: the code alone may be exchanged. */
  challenge: nullable(text),
  challenge_method: nullable(textOf<'S256' | 'plain'>()),
  /** The key that agreed to it. */
  issuer_key_hash: text,
  issuer_label: text,
  /** Of the key that it will become, and so are the next five. */
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

/** What callers stored to refer to it later, and what tools made for them. The content is a file of `blobs.ts`. */
const files = {
  id: text,
  workspace_id: text,
  filename: text,
  /** Found from the bytes. Empty while it is written. */
  mime_type: text,
  size_bytes: integer,
  /** A tool made it: what was uploaded cannot be downloaded. */
  made_here: flag,
  /** In the words of a vendor. */
  purpose: text,
  key_hash: text,
  created_at_ms: integer,
  expires_at_ms: nullable(integer),
};
export type FileRow = RowOf<typeof files>;
/** Only a `stored` file can be seen. */
export type FilesTable = TableOf<typeof files> & { readonly status: 'writing' | 'stored' | 'deleted' };
export const fileRows = createRowMapper(files);

/** What was said in one generation, where its workspace logs that. Deleted when its time is over. */
const generationContent = {
  generation_id: text,
  created_at_ms: integer,
  workspace_id: text,
  /** Compressed JSON as `lib/secret-box.ts` sealed it. */
  sealed: text,
  /** The secret that sealed it. */
  secret_id: text,
};
export type ContentRow = RowOf<typeof generationContent>;
export type GenerationContentTable = TableOf<typeof generationContent>;
export const contentRows = createRowMapper(generationContent);
