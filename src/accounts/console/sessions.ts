import { randomUUID, timingSafeEqual } from 'node:crypto';
import { GatewayError } from '../../canonical/gateway-error.ts';
import type { Clock } from '../../lib/clock.ts';
import type { ConsoleSessionRow } from '../../store/accounts/columns.ts';
import type { ConsoleSessionStore } from '../../store/accounts/console-sessions.ts';
import type { Audit } from '../audit.ts';
import { isPrintableKey, type AdmitKey } from '../keys/authenticate.ts';
import { hashKey } from '../keys/key-format.ts';
import { DEFAULT_ACCOUNT_ID, DEFAULT_WORKSPACE_ID, LINK_OPERATOR_HASH, type Principal } from '../principal.ts';
import type { ConsoleLinks } from './links.ts';
import { digestOf, isSecret, newSecret } from './secrets.ts';
import { addressPrefixOf, type SignInLimit } from './sign-in-limit.ts';

/** A session that is valid now. */
export interface ConsoleSession {
  readonly row: ConsoleSessionRow;
  /** The caller of its requests: its key, or the operator of a link. */
  readonly principal: Principal;
}

/** What a browser has to show, both together. @spec console-6 */
export interface SessionSecrets {
  readonly cookie: string | undefined;
  readonly token: string | undefined;
}

export interface SignIn {
  /** A management key or an API key, or the secret of a one-time link. */
  readonly proof: { readonly key: string } | { readonly link: string };
  readonly userAgent: string;
  readonly address: string;
  /** Of a session that this one takes the place of. */
  readonly previous: SessionSecrets;
}

/** Sessions of the dashboard. */
export interface ConsoleSessions {
  /** @throws GatewayError 401 for every wrong proof alike; 429 after too many */
  signIn(signIn: SignIn): Promise<ConsoleSession & { readonly secrets: Required<SessionSecrets> }>;
  /** @throws GatewayError 401 without both secrets of one session, and when its key is not valid any more */
  find(secrets: SessionSecrets): Promise<ConsoleSession>;
  signOut(session: ConsoleSession): Promise<void>;
  /** Lists the newest first: for operators all sessions, for others their own. */
  list(session: ConsoleSession): Promise<readonly ListedSession[]>;
  /** Ends one of the listed sessions. @throws GatewayError 404 */
  end(session: ConsoleSession, id: string): Promise<void>;
}

export interface ListedSession {
  readonly row: ConsoleSessionRow;
  /** Absent: its key is not valid any more, and so the session will not be. */
  readonly principal?: Principal;
}

export interface ConsoleSessionsDeps {
  readonly store: ConsoleSessionStore;
  readonly links: Pick<ConsoleLinks, 'use'>;
  readonly admitKey: AdmitKey;
  readonly limit: SignInLimit;
  readonly audit: Pick<Audit, 'record'>;
  readonly clock: Clock;
}

/** @spec console-7 */
const IDLE_MS = 8 * 3_600_000;
const LIFE_MS = 7 * 86_400_000;
const SEEN_EVERY_MS = 60_000;
/** Of one key; the oldest end. */
const SESSIONS_PER_SUBJECT_MAX = 50;
const LISTED_MAX = 500;
const USER_AGENT_CHARS_MAX = 256;

const LINK_OPERATOR: Principal = {
  kind: 'management',
  keyHash: LINK_OPERATOR_HASH,
  accountId: DEFAULT_ACCOUNT_ID,
  workspaceId: DEFAULT_WORKSPACE_ID,
  memberId: null,
  name: 'Console link',
  label: 'console link',
};

export function createConsoleSessions(deps: ConsoleSessionsDeps): ConsoleSessions {
  const { store, limit, audit, clock } = deps;
  const principalOf = async ({ subjectKind, subjectId }: ConsoleSessionRow): Promise<Principal> =>
    subjectKind === 'link' ? LINK_OPERATOR : deps.admitKey(subjectId);

  async function look({ cookie, token }: SessionSecrets): Promise<ConsoleSessionRow | undefined> {
    if (cookie === undefined || token === undefined || !isSecret(cookie) || !isSecret(token)) return undefined;
    const row = await store.find(digestOf(cookie), clock.nowMs());
    return row !== undefined && isSame(row.tokenHash, digestOf(token)) ? row : undefined;
  }

  return {
    async signIn({ proof, userAgent, address, previous }) {
      const { principal, ...subject } = await limit.attempt(address, () => prove(deps, proof));
      // A session that was there before the sign-in never becomes one that is signed in, nor stays beside it.
      const before = await look(previous);
      if (before !== undefined) await store.delete(before.id);
      const secrets = { cookie: newSecret(), token: newSecret() };
      const nowMs = clock.nowMs();
      const row: ConsoleSessionRow = {
        id: randomUUID(),
        idHash: digestOf(secrets.cookie),
        tokenHash: digestOf(secrets.token),
        ...subject,
        role: principal.kind === 'management' ? 'operator' : 'member',
        createdAtMs: nowMs,
        lastSeenAtMs: nowMs,
        idleUntilMs: nowMs + IDLE_MS,
        endsAtMs: nowMs + LIFE_MS,
        userAgent: userAgent.slice(0, USER_AGENT_CHARS_MAX),
        addressPrefix: addressPrefixOf(address),
      };
      await store.insert(row, SESSIONS_PER_SUBJECT_MAX);
      const changes = { subject: row.subjectKind, role: row.role, address: row.addressPrefix };
      await audit.record({ actor: principal, action: 'signIn', subject: `/sessions/${row.id}`, changes });
      return { row, principal, secrets };
    },
    async find(secrets) {
      const row = await look(secrets);
      if (row === undefined) throw notSignedIn();
      const principal = await principalOf(row);
      const nowMs = clock.nowMs();
      if (nowMs - row.lastSeenAtMs < SEEN_EVERY_MS) return { row, principal };
      const seen = { lastSeenAtMs: nowMs, idleUntilMs: Math.min(nowMs + IDLE_MS, row.endsAtMs) };
      await store.seen(row.id, seen);
      return { row: { ...row, ...seen }, principal };
    },
    async signOut({ row, principal }) {
      await store.delete(row.id);
      await audit.record({ actor: principal, action: 'signOut', subject: `/sessions/${row.id}`, changes: {} });
    },
    async list({ row: { role, subjectId } }) {
      const rows = await store.list(clock.nowMs(), LISTED_MAX, role === 'operator' ? undefined : subjectId);
      return Promise.all(rows.map((row) => withPrincipal(row, principalOf)));
    },
    async end({ row: { role, subjectId }, principal }, id) {
      const isThere = await store.delete(id, role === 'operator' ? undefined : subjectId);
      if (!isThere) throw new GatewayError('not_found', 'There is no such session.');
      await audit.record({ actor: principal, action: 'endSession', subject: `/sessions/${id}`, changes: {} });
    },
  };
}

type Proven = Pick<ConsoleSessionRow, 'subjectKind' | 'subjectId'> & { readonly principal: Principal };

/** @throws GatewayError 401 in the same words for every proof that is wrong */
async function prove({ links, admitKey }: ConsoleSessionsDeps, proof: SignIn['proof']): Promise<Proven> {
  if ('link' in proof) {
    const subjectId = await links.use(proof.link);
    if (subjectId === undefined) throw wrongProof();
    return { subjectKind: 'link', subjectId, principal: LINK_OPERATOR };
  }
  if (!isPrintableKey(proof.key)) throw wrongProof();
  const subjectId = hashKey(proof.key);
  try {
    const principal = await admitKey(subjectId);
    return { subjectKind: principal.kind === 'management' ? 'management-key' : 'api-key', subjectId, principal };
  } catch (error) {
    if (error instanceof GatewayError && error.status === 401) throw wrongProof();
    throw error;
  }
}

async function withPrincipal(
  row: ConsoleSessionRow,
  principalOf: (row: ConsoleSessionRow) => Promise<Principal>,
): Promise<ListedSession> {
  try {
    return { row, principal: await principalOf(row) };
  } catch (error) {
    // Listing is no use of the key: one that is disabled, or cannot be looked up now, is shown by its session alone.
    if (error instanceof GatewayError) return { row };
    throw error;
  }
}

function isSame(one: string, other: string): boolean {
  return timingSafeEqual(Buffer.from(one), Buffer.from(other));
}

function wrongProof(): GatewayError {
  return new GatewayError('authentication', 'The key or link is not valid.');
}

function notSignedIn(): GatewayError {
  return new GatewayError('authentication', 'The session has ended, or was never opened. Sign in.');
}
