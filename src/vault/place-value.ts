import { GatewayError, invalid } from '../canonical/gateway-error.ts';
import type { VaultScope } from '../canonical/vault-reference.ts';
import { SecretBoxError, type SecretBox } from '../lib/secret-box.ts';
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
  if (outside === undefined) return seal(await box(), scope, name, value);
  const { writer } = outside;
  if (writer === undefined)
    throw invalid('value', `cannot be stored: the back end ${outside.kind} is read-only; name its place with external`);
  const place = writer.placeOf(scope, name);
  await within(outside, () => writer.put(place, value));
  return { sealed: null, secretId: null, external: `${outside.kind}:${place}` };
}

/**
 * Stores the value of a secret for another scope as well, where it is kept as before. What others keep outside is named there, too.
 * @throws GatewayError 409 for a value that is gone, 502
 */
export async function copyValue(places: ValuePlaces, row: VaultSecretRow, to: VaultScope): Promise<Place> {
  const { box, outside } = places;
  if (row.sealed !== null) {
    const open = await box();
    return seal(open, to, row.name, openSealed(open, row, row.sealed));
  }
  const place = ownPlaceOf(outside, row);
  if (outside === undefined || place === undefined) return { sealed: null, secretId: null, external: row.external };
  const value = await within(outside, () => outside.get(place));
  if (value === undefined) throw unreadable(row.name);
  return placeValue(places, to, row.name, { value });
}

/** Removes a value that the gateway itself has stored outside. What others keep there stays. @throws GatewayError 502 */
export async function removeValue({ outside }: ValuePlaces, row: VaultSecretRow): Promise<void> {
  const place = ownPlaceOf(outside, row);
  const writer = outside?.writer;
  if (outside !== undefined && writer !== undefined && place !== undefined)
    await within(outside, () => writer.remove(place));
}

/** Where the gateway itself has stored a value outside; `undefined`: it is sealed, or others keep it. */
function ownPlaceOf(outside: ValueStore | undefined, row: VaultSecretRow): string | undefined {
  const place = outside?.writer?.placeOf(scopeOf(row), row.name);
  return place !== undefined && row.external === `${outside?.kind}:${place}` ? place : undefined;
}

function scopeOf({ scopeKind, scopeId }: VaultSecretRow): VaultScope {
  return { kind: scopeKind, id: scopeId };
}

function seal(box: SecretBox, scope: VaultScope, name: string, value: string): Place {
  return { sealed: box.seal(value, vaultPurpose(scope, name)), secretId: box.currentId, external: null };
}

function openSealed(box: SecretBox, row: VaultSecretRow, sealed: string): string {
  try {
    return box.open(sealed, vaultPurpose(scopeOf(row), row.name));
  } catch (error) {
    if (error instanceof SecretBoxError) throw unreadable(row.name, error);
    throw error;
  }
}

function unreadable(name: string, cause?: unknown): GatewayError {
  return new GatewayError('invalid_request', `The secret "${name}" cannot be read any more: store it again.`, {
    status: 409,
    cause,
  });
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
