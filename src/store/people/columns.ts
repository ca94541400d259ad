import { z } from 'zod';
import { integer, json, nullable, text, textOf } from '../../resources/columns.ts';
import { createRowMapper, type RowOf, type TableOf } from '../../resources/row-mapper.ts';

export type OrganizationRole = 'org:admin' | 'org:member';
export type DisabledBy = 'admin' | 'scim';

/** A user that may sign in. A deleted one stays as a row, so that no key is made for it any more. */
const users = {
  id: text,
  /** As it was written at first. Empty: the user was deleted. */
  email: text,
  /** In lower case, by which users are found; null: the user was deleted. */
  email_key: nullable(text),
  first_name: nullable(text),
  last_name: nullable(text),
  role: textOf<OrganizationRole>(),
  /** With its salt and its cost. Null: no password opens a session. */
  password_hash: nullable(text),
  /** The issuer and the subject of an identity provider. */
  oidc_subject: nullable(text),
  created_at_ms: integer,
  updated_at_ms: nullable(integer),
  last_seen_at_ms: nullable(integer),
  disabled_at_ms: nullable(integer),
  /** Null: the user is not disabled, or was before this column was there. */
  disabled_by: nullable(textOf<DisabledBy>()),
  deleted_at_ms: nullable(integer),
};
export type UserRow = RowOf<typeof users>;
export type UsersTable = TableOf<typeof users>;
export const userRows = createRowMapper(users);

const invitedWorkspaces = z.array(z.object({ workspaceId: z.string(), role: z.enum(['admin', 'member']) })).readonly();

/** A link that makes a user, or lets one choose another password. Used, withdrawn or expired it is deleted. */
const invitations = {
  id: text,
  /** SHA-256 of the secret of the link, hex. */
  token_hash: text,
  email: text,
  email_key: text,
  role: textOf<OrganizationRole>(),
  /** The user that may choose another password. Null: the link makes one. */
  user_id: nullable(text),
  workspaces: json(invitedWorkspaces),
  /** A masked excerpt of the key, or the address of the user, that made it. */
  invited_by: text,
  created_at_ms: integer,
  expires_at_ms: integer,
};
export type InvitationRow = RowOf<typeof invitations>;
export type InvitationsTable = TableOf<typeof invitations>;
export const invitationRows = createRowMapper(invitations);
