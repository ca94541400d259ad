import { hash, timingSafeEqual } from 'node:crypto';
import { GatewayError } from '../../canonical/gateway-error.ts';
import { assert } from '../../lib/assert.ts';
import type { Clock } from '../../lib/clock.ts';
import type {
  McpCodeRow,
  McpConnectionRow,
  McpConnectionStore,
  McpTokenRow,
} from '../../store/connections/connections.ts';
import { digestOf, isSecret, newSecret } from '../console/secrets.ts';
import type { AdmitKey } from '../keys/authenticate.ts';
import type { CodeIssuers } from '../keys/code-issuers.ts';
import type { Keys } from '../keys/keys.ts';
import type { Principal } from '../principal.ts';
import { endConnection } from './connections.ts';
import { OauthRefusal } from './oauth-refusal.ts';

/** What a client gets for a code or for a refresh token. */
export interface GrantedTokens {
  readonly accessToken: string;
  readonly refreshToken: string;
  readonly lifeSeconds: number;
  readonly scopes: readonly string[];
}

/** A token that may be used now. */
export interface Admitted {
  readonly principal: Principal;
  readonly scopes: readonly string[];
  readonly clientId: string;
  readonly resource: string;
  readonly expiresAtMs: number;
}

/** Codes and tokens of connections. */
export interface Grants {
  /** Exchanges a code, once; a code that comes again ends what it had opened. @throws OauthRefusal */
  exchange(parameters: URLSearchParams): Promise<GrantedTokens>;
  /** Takes a refresh token for new tokens, once; one that comes again ends its connection. @throws OauthRefusal */
  refresh(parameters: URLSearchParams): Promise<GrantedTokens>;
  /** Ends the connection of a token, whatever is sent. */
  revoke(token: string): Promise<void>;
  /** Finds whose token it is. Whether the person may still do this is looked up at each use. `undefined`: it is not good. */
  admit(token: string): Promise<Admitted | undefined>;
}

export interface GrantsDeps {
  readonly store: McpConnectionStore;
  readonly keys: Pick<Keys, 'create' | 'delete'>;
  readonly admitKey: AdmitKey;
  readonly issuers: CodeIssuers;
  /** Whether a user is a member of a workspace now, or an admin of the organization. */
  readonly isMember: (userId: string, workspaceId: string) => Promise<boolean>;
  readonly clock: Clock;
}

const ACCESS_LIFE_MS = 3_600_000;
const USED_EVERY_MS = 60_000;
/** Distinguishes a token from an API key. */
const ACCESS_PREFIX = 'mcp-';
const REFRESH_PREFIX = 'mcpr-';
const VERIFIER = /^[A-Za-z0-9._~-]{43,128}$/;

/** Whether a text is a token of a connection, good or not. */
export function isAccessToken(text: string): boolean {
  return text.startsWith(ACCESS_PREFIX) && isSecret(text.slice(ACCESS_PREFIX.length));
}

export function createGrants(deps: GrantsDeps): Grants {
  const { store, clock } = deps;
  return {
    exchange: (parameters) => exchange(deps, parameters),
    async refresh(parameters) {
      const sent = parameters.get('refresh_token') ?? '';
      const found = await findToken(deps, sent, REFRESH_PREFIX);
      if (found === undefined || found.token.kind !== 'refresh' || !isLive(found.connection, clock)) throw badToken();
      const { connection, token } = found;
      if (parameters.get('client_id') !== connection.clientId) throw badToken();
      checkResource(parameters, connection.resource);
      if ((await admitConnection(deps, connection)) === undefined) throw badToken();
      const next = newTokens(connection, clock.nowMs());
      if (token.usedAtMs !== null || !(await store.rotate(token.tokenHash, clock.nowMs(), next.rows))) {
        // One of the two that used it has stolen it. RFC 9700, 4.14.2
        await endConnection(deps, connection);
        throw new OauthRefusal('invalid_grant', 'The refresh token was used before. The connection has ended.');
      }
      return next.granted;
    },
    async revoke(sent) {
      const found = (await findToken(deps, sent, ACCESS_PREFIX)) ?? (await findToken(deps, sent, REFRESH_PREFIX));
      if (found !== undefined) await endConnection(deps, found.connection);
    },
    async admit(sent) {
      const found = await findToken(deps, sent, ACCESS_PREFIX);
      if (found === undefined) return undefined;
      const { token, connection } = found;
      const { expiresAtMs } = token;
      const nowMs = clock.nowMs();
      if (token.kind !== 'access' || expiresAtMs === null || expiresAtMs <= nowMs || !isLive(connection, clock))
        return undefined;
      const principal = await admitConnection(deps, connection);
      if (principal === undefined) return undefined;
      if (nowMs - (connection.lastUsedAtMs ?? 0) >= USED_EVERY_MS) await store.used(connection.id, nowMs);
      const { scopes, clientId, resource } = connection;
      return { principal, scopes, clientId, resource, expiresAtMs };
    },
  };
}

async function exchange(deps: GrantsDeps, parameters: URLSearchParams): Promise<GrantedTokens> {
  const { store, clock } = deps;
  const code = parameters.get('code') ?? '';
  const row = isSecret(code) ? await store.findCode(digestOf(code)) : undefined;
  if (row === undefined) throw badCode();
  const { consent, connectionId } = row;
  const { clientId, redirectUri, challenge, resource } = consent;
  const isTheirs = parameters.get('client_id') === clientId && parameters.get('redirect_uri') === redirectUri;
  if (!isTheirs || !isVerified(challenge, parameters.get('code_verifier') ?? '')) throw badCode();
  checkResource(parameters, resource);
  const nowMs = clock.nowMs();
  if (!(await store.useCode(row.codeHash, nowMs))) {
    // One of the two that sent it has stolen it. RFC 6749, 4.1.2
    const opened = row.usedAtMs === null ? undefined : await store.find(connectionId);
    if (opened !== undefined) await endConnection(deps, opened);
    throw badCode();
  }
  if (!(await mayStill(deps, row.issuerKeyHash, row.userId, consent.workspaceId))) throw badCode();
  const connection = await openConnection(deps, row, nowMs);
  const next = newTokens(connection, nowMs);
  await store.insert(connection, next.rows);
  return next.granted;
}

/** Makes the key that calls are charged to; nothing knows its text. */
async function openConnection(
  { keys, issuers }: GrantsDeps,
  { consent, connectionId: id, issuerKeyHash, userId }: McpCodeRow,
  nowMs: number,
): Promise<McpConnectionRow> {
  const { clientId, clientName, clientHost, resource, scopes, workspaceId, limitNanoUsd, limitReset } = consent;
  const { record } = await keys
    .create({
      name: `MCP: ${clientName}`,
      workspaceId,
      limitNanoUsd,
      limitReset,
      expiresAtMs: consent.expiresAtMs,
      creatorUserId: userId,
      issuerKeyHash,
      issuerLabel: consent.issuerLabel,
      rootKeyHash: await issuers.rootOf(issuerKeyHash, userId),
    })
    .catch(refuseGrant);
  return {
    id,
    keyHash: record.hash,
    issuerKeyHash,
    userId,
    clientId,
    clientName,
    clientHost,
    workspaceId,
    scopes,
    resource,
    createdAtMs: nowMs,
    expiresAtMs: consent.expiresAtMs,
    lastUsedAtMs: null,
    revokedAtMs: null,
  };
}

/** What rules its key or its person does not allow any more is an answer to the client; all else is a fault of ours. */
function refuseGrant(error: unknown): never {
  if (error instanceof GatewayError && error.status < 500)
    throw new OauthRefusal('invalid_grant', error.message, { cause: error });
  throw error;
}

/** The key of a connection, where its person may still use it. */
async function admitConnection(deps: GrantsDeps, connection: McpConnectionRow): Promise<Principal | undefined> {
  const { keyHash, issuerKeyHash, userId, workspaceId } = connection;
  if (!(await mayStill(deps, issuerKeyHash, userId, workspaceId))) return undefined;
  try {
    return await deps.admitKey(keyHash);
  } catch (error) {
    if (error instanceof GatewayError && error.status === 401) return undefined;
    throw error;
  }
}

async function mayStill(
  { issuers, isMember }: GrantsDeps,
  issuerKeyHash: string,
  userId: string | null,
  workspaceId: string,
): Promise<boolean> {
  if ((await issuers.refusalOf(issuerKeyHash, userId)) !== undefined) return false;
  return userId === null || isMember(userId, workspaceId);
}

async function findToken({ store }: GrantsDeps, sent: string, prefix: string) {
  if (!sent.startsWith(prefix)) return undefined;
  const secret = sent.slice(prefix.length);
  return isSecret(secret) ? store.findToken(digestOf(sent)) : undefined;
}

function isLive({ revokedAtMs, expiresAtMs }: McpConnectionRow, clock: Clock): boolean {
  return revokedAtMs === null && (expiresAtMs === null || expiresAtMs > clock.nowMs());
}

function newTokens(
  { id: connectionId, scopes, expiresAtMs }: McpConnectionRow,
  nowMs: number,
): { readonly granted: GrantedTokens; readonly rows: readonly McpTokenRow[] } {
  const accessToken = ACCESS_PREFIX + newSecret();
  const refreshToken = REFRESH_PREFIX + newSecret();
  const endsAtMs = Math.min(nowMs + ACCESS_LIFE_MS, expiresAtMs ?? Infinity);
  const shared = { connectionId, usedAtMs: null };
  return {
    granted: { accessToken, refreshToken, lifeSeconds: Math.floor((endsAtMs - nowMs) / 1_000), scopes },
    rows: [
      { ...shared, tokenHash: digestOf(accessToken), kind: 'access', expiresAtMs: endsAtMs },
      { ...shared, tokenHash: digestOf(refreshToken), kind: 'refresh', expiresAtMs: null },
    ],
  };
}

function isVerified(challenge: string, verifier: string): boolean {
  if (!VERIFIER.test(verifier)) return false;
  const [own, given] = [Buffer.from(challenge), Buffer.from(hash('sha256', verifier, 'base64url'))];
  assert(own.length === given.length, 'a challenge is a digest');
  return timingSafeEqual(own, given);
}

/** @throws OauthRefusal. @source RFC 8707, 2.2 */
function checkResource(parameters: URLSearchParams, resource: string): void {
  const sent = parameters.get('resource');
  if (sent !== null && sent !== resource)
    throw new OauthRefusal('invalid_target', 'resource: is another one than at the start.');
}

function badCode(): OauthRefusal {
  return new OauthRefusal('invalid_grant', 'The code is not valid, has expired, or was used.');
}

function badToken(): OauthRefusal {
  return new OauthRefusal('invalid_grant', 'The refresh token is not valid, or its connection has ended.');
}
