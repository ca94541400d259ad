import { GatewayError } from '../canonical/gateway-error.ts';
import type { VaultScope } from '../canonical/vault-reference.ts';
import type { Vault, VaultSecret } from './vault.ts';

/** Of one scope: as many as it may have. */
const SECRETS_MAX = 1_000;

/** The intern whose vault it is, and what else counts for it. */
export interface InternVaultOwner {
  readonly id: string;
  readonly workspaceId: string;
  /** The intern whose vault it borrows; null: none. */
  readonly attachedId: string | null;
}

/** Whose secret it is. */
export type EffectiveScope = 'intern' | 'attached' | 'workspace';

export interface EffectiveSecret {
  readonly secret: VaultSecret;
  readonly scope: EffectiveScope;
}

/** Where secrets of an intern are looked for, in this order: the first one of a name counts. */
function scopesOf({
  id,
  workspaceId,
  attachedId,
}: InternVaultOwner): readonly (readonly [EffectiveScope, VaultScope])[] {
  return [
    ['intern', { kind: 'intern', id }],
    ...(attachedId === null ? [] : [['attached', { kind: 'intern', id: attachedId }] as const]),
    ['workspace', { kind: 'workspace', id: workspaceId }],
  ];
}

/**
 * What holds for an intern, by name.
 * @param isThere whether an intern is there: a vault that has vanished takes all secrets with it, or another one of the same
 * name would count in the place of its own
 * @throws GatewayError 404 for an attached vault that has vanished
 */
export async function effectiveSecrets(
  vault: Pick<Vault, 'list'>,
  owner: InternVaultOwner,
  isThere: (internId: string) => Promise<boolean>,
): Promise<readonly EffectiveSecret[]> {
  await requireAttached(owner, isThere);
  const found = new Map<string, EffectiveSecret>();
  for (const [name, scope] of scopesOf(owner)) {
    const { rows } = await vault.list(scope, { offset: 0, limit: SECRETS_MAX });
    for (const secret of rows) if (!found.has(secret.name)) found.set(secret.name, { secret, scope: name });
  }
  return [...found.values()].toSorted((one, other) => (one.secret.name < other.secret.name ? -1 : 1));
}

/** @throws GatewayError 404 */
async function requireAttached(
  { attachedId }: Pick<InternVaultOwner, 'attachedId'>,
  isThere: (internId: string) => Promise<boolean>,
): Promise<void> {
  if (attachedId === null || (await isThere(attachedId))) return;
  throw new GatewayError('not_found', 'The attached vault is gone: set vault_id of the intern anew, or to null.');
}
