import { integer, jsonObject, nullable, text, textOf } from '../../resources/columns.ts';
import { createRowMapper, type RowOf, type TableOf } from '../../resources/row-mapper.ts';

/** Why a user is a member of a workspace. */
const membershipSources = {
  id: text,
  workspace_id: text,
  user_id: text,
  /** `manual`, or `mapping:ID` of a group. */
  source: text,
  role: textOf<'admin' | 'member'>(),
  created_at_ms: integer,
};
export type MembershipSourceRow = RowOf<typeof membershipSources>;
export type MembershipSourcesTable = TableOf<typeof membershipSources>;
export const membershipSourceRows = createRowMapper(membershipSources);

const scimTokens = {
  id: text,
  /** SHA-256 of the token, hex. */
  token_hash: text,
  name: text,
  /** A masked excerpt. */
  label: text,
  created_at_ms: integer,
  /** Null: never. */
  expires_at_ms: nullable(integer),
  last_used_at_ms: nullable(integer),
  /** The address that sent it. */
  last_used_from: nullable(text),
};
export type ScimTokenRow = RowOf<typeof scimTokens>;
export type ScimTokensTable = TableOf<typeof scimTokens>;
export const scimTokenRows = createRowMapper(scimTokens);

/** What an identity provider says of a user. A deleted one comes back under its id. */
const scimUsers = {
  user_id: text,
  user_name: text,
  /** In lower case. */
  user_name_key: text,
  external_id: nullable(text),
  /** As sent; without what other columns and tables hold. */
  attributes: jsonObject,
  version: integer,
  created_at_ms: integer,
  modified_at_ms: integer,
  deleted_at_ms: nullable(integer),
};
export type ScimUserRow = RowOf<typeof scimUsers>;
export type ScimUsersTable = TableOf<typeof scimUsers>;
export const scimUserRows = createRowMapper(scimUsers);

const scimGroups = {
  id: text,
  display_name: text,
  /** In lower case. */
  display_key: text,
  external_id: nullable(text),
  version: integer,
  created_at_ms: integer,
  modified_at_ms: integer,
};
export type ScimGroupRow = RowOf<typeof scimGroups>;
export type ScimGroupsTable = TableOf<typeof scimGroups>;
export const scimGroupRows = createRowMapper(scimGroups);

export interface ScimGroupMembersTable {
  readonly group_id: string;
  readonly user_id: string;
}

/** A request of an identity provider, without its body. */
const scimRequests = {
  id: text,
  at_ms: integer,
  /** Null: it was refused before a token was known. */
  token_id: nullable(text),
  address: text,
  method: text,
  /** Without the query, which may hold addresses. */
  path: text,
  status: integer,
  /** What changed, or why not. */
  outcome: text,
};
export type ScimRequestRow = RowOf<typeof scimRequests>;
export type ScimRequestsTable = TableOf<typeof scimRequests>;
export const scimRequestRows = createRowMapper(scimRequests);

/** What members of a group are in a workspace. */
const scimGroupMappings = {
  id: text,
  group_id: text,
  workspace_id: text,
  role: textOf<'admin' | 'member'>(),
  created_at_ms: integer,
  updated_at_ms: nullable(integer),
};
export type ScimMappingRow = RowOf<typeof scimGroupMappings>;
export type ScimGroupMappingsTable = TableOf<typeof scimGroupMappings>;
export const scimMappingRows = createRowMapper(scimGroupMappings);
