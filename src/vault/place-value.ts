import { GatewayError, invalid } from '../canonical/gateway-error.ts';
import type { VaultScope } from '../canonical/vault-reference.ts';
import type { SecretBox } from '../lib/secret-box.ts';
import type { VaultSecretRow } from '../store/vault/columns.ts';
import { ValueStoreError, type ValueStore } from './back-ends/contract.ts';
import { vaultPurpose } from './find-secret.ts';

/** The value itself, or where it is outside of the gateway: exactly one of both. */
export interface NewValue {
  readonly value?: string | undefined;
  readonly external?: string | undefined;
}

export interface ValuePlaces {
  readonly box: () => Promise<SecretBox>;
  /** Absent: all values are sealed in the database. */
  readonly outside: ValueStore | undefined;
}

type Place = Pick<VaultSecretRow, 'sealed' | 'secretId' | 'external'>;

/**
 * Stores a value where the configuration keeps values, or notes where it is.
 * @throws GatewayError 400, 502 when the store outside fails
 */
export async function placeValue(
  { box, outside }: ValuePlaces,
  scope: VaultScope,
  name: string,
  { value, external }: NewValue,
): Promise<Place> {
  if (value !== undefined && external !== undefined) throw invalid('external', 'cannot be given beside value');
  if (external !== undefined) return noteExternal(outside, external);
  if (value === undefined) throw invalid('value', 'is needed');
  if (outside === undefined) {
    const open = await box();
    return { sealed: open.seal(value, vaultPurpose(scope, name)), secretId: open.currentId, external: null };
  }
  const { writer } = outside;
  if (writer === undefined)
    throw invalid('value', `cannot be stored: the back end ${outside.kind} is read-only; name its place with external`);
  const place = writer.placeOf(scope, name);
  await within(outside, () => writer.put(place, value));
  return { sealed: null, secretId: null, external: `${outside.kind}:${place}` };
}

/** Removes a value that the gateway itself has stored outside. What others keep there stays. @throws GatewayError 502 */
export async function removeValue({ outside }: ValuePlaces, row: VaultSecretRow): Promise<void> {
  const writer = outside?.writer;
  if (outside === undefined || writer === undefined) return;
  const place = writer.placeOf({ kind: row.scopeKind, id: row.scopeId }, row.name);
  if (row.external === `${outside.kind}:${place}`) await within(outside, () => writer.remove(place));
}

async function noteExternal(outside: ValueStore | undefined, place: string): Promise<Place> {
  if (outside === undefined)
    throw invalid('external', 'needs a back end: vault.backend in the configuration is builtin, which takes a value');
  const fault = outside.faultOf(place);
  if (fault !== undefined) throw invalid('external', fault);
  const found = await within(outside, () => outside.get(place));
  if (found === undefined) throw invalid('external', `names a place of the back end ${outside.kind} that has no value`);
  return { sealed: null, secretId: null, external: `${outside.kind}:${place}` };
}

async function within<Result>({ kind }: ValueStore, work: () => Promise<Result>): Promise<Result> {
  try {
    return await work();
  } catch (cause) {
    if (!(cause instanceof ValueStoreError)) throw cause;
    throw new GatewayError('provider_unavailable', `The back end ${kind} of the vault ${cause.message}.`, { cause });
  }
}
