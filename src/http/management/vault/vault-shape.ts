import { z } from 'zod';
import type { Principal } from '../../../accounts/principal.ts';
import { GatewayError } from '../../../canonical/gateway-error.ts';
import { assert } from '../../../lib/assert.ts';
import { serializeTime } from '../../../resources/columns.ts';
import type { VaultScope } from '../../../canonical/vault-reference.ts';
import { HOSTS_MAX } from '../../../vault/hosts.ts';
import { OPERATOR_SCOPE, VALUE_CHARS_MAX, type VaultSecret } from '../../../vault/vault.ts';
import { ownerOf } from '../owner.ts';
import type { ManagementServices } from '../route.ts';

export const vaultSecretSchema = z
  .strictObject({
    name: z.string(),
    hosts: z.array(z.string()).nullable().describe('The hosts to which it may be sent; null: none.'),
    fingerprint: z
      .string()
      .nullable()
      .describe('Equal for equal values of one scope; null: the value is outside, or cannot be opened any more.'),
    backend: z.enum(['builtin', 'file', 'hashicorp']).describe('Where the value is kept.'),
    external: z
      .string()
      .nullable()
      .describe('Where the value is in a back end outside: a file, or `path#field`; null: in the database.'),
    created_at: z.iso.datetime(),
    updated_at: z.iso.datetime(),
    is_stale: z.boolean().describe('The value is older than `vault.max_age_days`.'),
    last_released_at: z.iso.datetime().nullable().describe('Within the last 90 days; null: not then.'),
  })
  .meta({ id: 'VaultSecret' });

export function serializeVaultSecret(secret: VaultSecret): z.output<typeof vaultSecretSchema> {
  const { name, hosts, fingerprint, backend, external, createdAtMs, updatedAtMs, lastReleasedAtMs } = secret;
  return {
    name,
    hosts: hosts && [...hosts],
    fingerprint,
    backend,
    external,
    created_at: serializeTime(createdAtMs),
    updated_at: serializeTime(updatedAtMs),
    is_stale: secret.isStale,
    last_released_at: lastReleasedAtMs === null ? null : serializeTime(lastReleasedAtMs),
  };
}

/** The body that stores a secret. */
export const putSecretBody = z
  .strictObject({
    value: z.string().min(1).max(VALUE_CHARS_MAX).optional().describe('The secret. It is never shown again.'),
    external: z
      .string()
      .min(1)
      .optional()
      .describe(
        'In place of `value`, with a management key: where the value is in `vault.backend`: a file, or `path#field`.',
      ),
    hosts: z
      .array(z.string())
      .min(1)
      .max(HOSTS_MAX)
      .describe('Exact host names, without scheme, port and wildcard, to which it may be sent.'),
  })
  .meta({ id: 'PutVaultSecretRequest' });

const PAGE_ROWS = 100;
const OFFSET_MAX = 10_000;

/** The query of a list of secrets. */
export const secretWindow = {
  offset: z.coerce.number().int().min(0).max(OFFSET_MAX).optional().describe('Rows to skip. Default 0.'),
  limit: z.coerce.number().int().min(1).max(PAGE_ROWS).optional().describe('Rows on the page. Default 100.'),
};

export function windowOf({
  offset = 0,
  limit = PAGE_ROWS,
}: {
  readonly offset?: number | undefined;
  readonly limit?: number | undefined;
}): { readonly offset: number; readonly limit: number } {
  return { offset, limit };
}

/** The path of one secret. */
export const vaultPathSchema = z.strictObject({ name: z.string().describe('The `name` of the secret.') });

/** The scope that a management key means. @spec vault-1 */
export const scopeShape = {
  workspace_id: z
    .union([z.literal('operator'), z.uuid()])
    .optional()
    .describe(
      'For management keys: a workspace, or `operator` for secrets that the configuration names. Default: the default workspace.',
    ),
};

type Context = {
  readonly principal: Principal | undefined;
  readonly services: Pick<ManagementServices, 'workspaces'>;
};

/** @throws GatewayError 400, 404 as for presets */
export async function vaultScopeOf(
  { workspace_id: named }: { readonly workspace_id?: string | undefined },
  context: Context,
): Promise<VaultScope> {
  if (named === OPERATOR_SCOPE.id && context.principal?.kind === 'management') return OPERATOR_SCOPE;
  const { workspaceId } = await ownerOf({ workspace_id: named }, context);
  return { kind: 'workspace', id: workspaceId };
}

/**
 * Lets management keys write, and of normal keys those of admins of the workspace, unless the configuration says `any`:
 * with a leaked key one could send a secret to a host of one's choice. @spec vault-6
 */
export async function requireWriter(
  principal: Principal | undefined,
  { members, vaultWriters }: Pick<ManagementServices, 'members' | 'vaultWriters'>,
): Promise<void> {
  assert(principal !== undefined, 'the vault is not public');
  if (principal.kind === 'management' || vaultWriters === 'any') return;
  const { memberId, workspaceId } = principal;
  if (memberId !== null && (await members.isAdmin(workspaceId, memberId))) return;
  throw new GatewayError(
    'permission_denied',
    "Secrets are changed with a management key, or with the key of an admin of the workspace; vault.writers: any in the gateway's configuration lets every key do it.",
  );
}

/**
 * A place outside is named with a management key alone: a key that names one has its value sent to hosts of its choice.
 * @spec vault-23
 */
export function requireOperator(principal: Principal | undefined): void {
  if (principal?.kind === 'management') return;
  throw new GatewayError('permission_denied', 'Places of a back end are named with a management key; send a value.');
}

/** Of an audit event: the name alone is in many scopes. */
export function subjectOf(scope: VaultScope, name: string): string {
  return `/vault/secrets/${name} in ${scope.id}`;
}
