import { z } from 'zod';
import type { VaultScope } from '../../canonical/vault-reference.ts';
import { integer, list, nullable, text, textOf } from '../../resources/columns.ts';
import { createRowMapper, type RowOf, type TableOf } from '../../resources/row-mapper.ts';

/** The result of a check before a secret leaves. */
export type ReleaseVerdict = 'released' | 'refused';

/** A secret that is bound to hosts. */
const vaultSecrets = {
  id: text,
  scope_kind: textOf<VaultScope['kind']>(),
  scope_id: text,
  name: text,
  /** Null: the secret is bound to no host yet, and is released to none. */
  hosts: nullable(list(z.string())),
  /** The value, as `lib/secret-box.ts` sealed it; null: an outer store has it. */
  sealed: nullable(text),
  secret_id: nullable(text),
  /** Where the outer store has it. */
  external: nullable(text),
  created_at_ms: integer,
  updated_at_ms: integer,
};
export type VaultSecretRow = RowOf<typeof vaultSecrets>;
export type VaultSecretsTable = TableOf<typeof vaultSecrets>;
export const vaultSecretRows = createRowMapper(vaultSecrets);

/** How often a secret was released, or refused, in an hour. */
const vaultReleases = {
  hour_ms: integer,
  scope_kind: textOf<VaultScope['kind']>(),
  scope_id: text,
  name: text,
  host: text,
  /** What it was for: `provider:alpha`, `mcp:wiki`. */
  caller: text,
  /** The key whose request it served; empty: none. */
  key_hash: text,
  verdict: textOf<ReleaseVerdict>(),
  count: integer,
  last_at_ms: integer,
};
export type VaultReleaseRow = RowOf<typeof vaultReleases>;
export type VaultReleasesTable = TableOf<typeof vaultReleases>;
export const vaultReleaseRows = createRowMapper(vaultReleases);
