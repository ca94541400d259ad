import { GatewayError } from '../../canonical/gateway-error.ts';
import type { Clock } from '../../lib/clock.ts';
import type { KeyStore } from '../../store/accounts/keys.ts';
import { hashKey, labelKey } from './key-format.ts';
import { createKeyCache, type KnownKey } from './key-cache.ts';
import type { StaticKeys } from './keys.ts';
import { DEFAULT_ACCOUNT_ID, DEFAULT_WORKSPACE_ID, type Principal } from '../principal.ts';

type Headers = Readonly<Record<string, string | readonly string[] | undefined>>;

export interface AuthenticateOptions {
  /** Whether `x-api-key` may carry the key where there is no `Authorization`. @spec auth-2 */
  readonly allowApiKeyHeader: boolean;
  /** Whether `api-key` may, too: Azure's clients of the responses format send it. */
  readonly allowAzureHeader?: boolean;
}

/**
 * Finds the caller of a request. Returns at once for a key that was seen a moment ago, else a promise.
 * @throws GatewayError 401; thrown or as a rejection, in the same way
 */
export type Authenticate = (headers: Headers, options: AuthenticateOptions) => Principal | Promise<Principal>;

export interface AuthenticatorDeps {
  readonly keys: Pick<KeyStore, 'find' | 'subscribe'>;
  readonly clock: Clock;
  /** Keys from the environment. They work whatever the store says. */
  readonly staticKeys: StaticKeys;
}

/** Longer than any key: a text that cannot be a key is not hashed. */
const KEY_CHARS_MAX = 512;
const SCHEME = 'bearer ';
const HOW_TO = 'Send an API key in the header "Authorization: Bearer <API_KEY>".';

/**
 * Finds the caller with a key's digest, as `Authenticate` does.
 * @throws GatewayError 401; thrown or as a rejection, in the same way
 */
export type AdmitKey = (keyHash: string) => Principal | Promise<Principal>;

export function createKeyAdmission(deps: AuthenticatorDeps): AdmitKey {
  const { keys, clock } = deps;
  const fixed = parseStaticKeys(deps.staticKeys);
  const cache = createKeyCache(keys, clock);
  return (keyHash) => {
    const principal = fixed.get(keyHash);
    if (principal !== undefined) return principal;
    const known = cache.look(keyHash);
    return known instanceof Promise ? known.then((key) => admit(key, clock)) : admit(known, clock);
  };
}

/**
 * The one place that decides which caller a request has. A key is hashed before any other code sees it, and is looked
 * up by its whole digest only (CVE-2026-42208, CVE-2026-35030: SQL made of a key, a cache keyed by its beginning).
 */
export function createAuthenticator(deps: AuthenticatorDeps | AdmitKey): Authenticate {
  const admitKey = typeof deps === 'function' ? deps : createKeyAdmission(deps);
  return (headers, options) => admitKey(hashKey(parseKey(headers, options)));
}

/** @throws GatewayError 403 when the key is of the other kind. @spec auth-6 */
export function requireKind(principal: Principal, kind: Principal['kind']): void {
  if (principal.kind === kind) return;
  throw new GatewayError(
    'permission_denied',
    kind === 'management'
      ? 'This operation needs a management key.'
      : 'A management key cannot be used for generations. Use a normal API key.',
  );
}

function admit(key: KnownKey | undefined, clock: Clock): Principal {
  if (key === undefined) throw refuse('The API key is not valid.');
  if (key.disabled) throw refuse('The API key is disabled.');
  if (key.expiresAtMs !== null && key.expiresAtMs <= clock.nowMs()) throw refuse('The API key has expired.');
  return key.principal;
}

/** Reads the key as the caller sent it. A text that cannot be a key is refused before it is hashed or looked up. */
function parseKey(headers: Headers, options: AuthenticateOptions): string {
  const { authorization } = headers;
  if (authorization === undefined) {
    const key =
      (options.allowApiKeyHeader ? headers['x-api-key'] : undefined) ??
      (options.allowAzureHeader === true ? headers['api-key'] : undefined);
    if (key === undefined) throw refuse(`No API key was sent. ${HOW_TO}`);
    return checkKey(key);
  }
  if (typeof authorization !== 'string' || authorization.slice(0, SCHEME.length).toLowerCase() !== SCHEME)
    throw refuse(`The Authorization header is not "Bearer" with an API key. ${HOW_TO}`);
  return checkKey(authorization.slice(SCHEME.length).trim());
}

function checkKey(key: string | readonly string[]): string {
  if (typeof key === 'string' && isPrintableKey(key)) return key;
  throw refuse(`The API key is not well-formed. ${HOW_TO}`);
}

/** Returns whether a text can be a key: visible ASCII without blanks, 1 to 512 characters. */
export function isPrintableKey(text: string): boolean {
  if (text.length === 0 || text.length > KEY_CHARS_MAX) return false;
  for (let index = 0; index < text.length; index++) {
    const code = text.charCodeAt(index);
    if (code < 0x21 || code > 0x7e) return false;
  }
  return true;
}

/** The callers that keys from the environment stand for, by the digests of the keys. */
export function parseStaticKeys({ management, normal }: StaticKeys): ReadonlyMap<string, Principal> {
  if (management !== undefined && management === normal)
    throw new Error('GATEWAY_MANAGEMENT_KEY and GATEWAY_API_KEY must not be the same key.');
  const fixed = new Map<string, Principal>();
  if (management !== undefined) addStaticKey(fixed, 'management', management, 'GATEWAY_MANAGEMENT_KEY');
  if (normal !== undefined) addStaticKey(fixed, 'normal', normal, 'GATEWAY_API_KEY');
  return fixed;
}

/** Keys from the environment have no row, and so no member and no limit. */
const UNOWNED = { accountId: DEFAULT_ACCOUNT_ID, workspaceId: DEFAULT_WORKSPACE_ID, memberId: null } as const;

function addStaticKey(fixed: Map<string, Principal>, kind: Principal['kind'], key: string, name: string): void {
  if (!isPrintableKey(key)) throw new Error(`${name} must be 1 to ${KEY_CHARS_MAX} visible ASCII characters.`);
  const keyHash = hashKey(key);
  fixed.set(keyHash, { kind, keyHash, ...UNOWNED, name, label: labelKey(key) });
}

function refuse(message: string): GatewayError {
  return new GatewayError('authentication', message);
}
