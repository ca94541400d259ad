import { randomUUID, timingSafeEqual } from 'node:crypto';
import { GatewayError, invalid } from '../../canonical/gateway-error.ts';
import type { Clock } from '../../lib/clock.ts';
import type { ConsoleSessionRow } from '../../store/accounts/columns.ts';
import type { ConsoleSessionStore } from '../../store/accounts/console-sessions.ts';
import type { Audit } from '../audit.ts';
import { isPrintableKey, type AdmitKey } from '../keys/authenticate.ts';
import { hashKey } from '../keys/key-format.ts';
import { DEFAULT_ACCOUNT_ID, DEFAULT_WORKSPACE_ID, LINK_OPERATOR_HASH, type Principal } from '../principal.ts';
import type { Acceptance, InvitationRow, People, UserRow } from '../people/people.ts';
import { principalOfUser, viewerOf, type Viewer } from '../people/viewer.ts';
import type { ConsoleLinks } from './links.ts';
import { digestOf, isSecret, newSecret } from './secrets.ts';
import { addressPrefixOf, type SignInLimit } from './sign-in-limit.ts';

/** A session that is valid now. */
export interface ConsoleSession {
  readonly row: ConsoleSessionRow;
  /** As it is now: that of a user may have changed since the sign-in. */
  readonly role: ConsoleSessionRow['role'];
  /** The caller of its requests: its key, the operator of a link, or its user. */
  readonly principal: Principal;
  /** The user, where it is no operator: what it may see and do depends on its workspaces. */
  readonly viewer?: Viewer | undefined;
}

/** What opens a session. */
export type Proof =
  | { readonly key: string }
  | { readonly link: string }
  | { readonly email: string; readonly password: string }
  | { readonly invitation: Acceptance }
  | { readonly oidc: OidcProof };

/** What an identity provider sent the browser back with, and what the browser kept meanwhile. */
export interface OidcProof {
  /** The query of the address that the provider sent the browser to. */
  readonly query: string;
  readonly token: string;
  /** What the cookie of the start holds. */
  readonly sealed: string | undefined;
  /** The address of the dashboard, as the browser has it. */
  readonly origin: string;
}

/** What a browser has to show, both together. @spec console-6 */
export interface SessionSecrets {
  readonly cookie: string | undefined;
  readonly token: string | undefined;
}

export interface SignIn {
  readonly proof: Proof;
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
  /** What a link of an invitation is for. @throws GatewayError 401, 429 as for a sign-in */
  look(address: string, secret: string): Promise<InvitationRow>;
  /** @throws GatewayError 400 for a wrong or a weak password, 403 for a session of no user, 429 */
  changePassword(
    session: ConsoleSession,
    change: { readonly current: string; readonly next: string },
    address: string,
  ): Promise<void>;
  signOut(session: ConsoleSession): Promise<void>;
  /** Lists the newest first: for operators all sessions, for others their own. */
  list(session: ConsoleSession): Promise<readonly ListedSession[]>;
  /** Ends one of the listed sessions. @throws GatewayError 404 */
  end(session: ConsoleSession, id: string): Promise<void>;
}

export interface ListedSession {
  readonly row: ConsoleSessionRow;
  readonly role?: ConsoleSession['role'];
  readonly viewer?: Viewer | undefined;
  /** Absent: its key or its user is not valid any more, and so the session will not be. */
  readonly principal?: Principal;
}

/** How users sign in, and what they are then. */
export interface SessionUsers {
  readonly people: Pick<People, 'signIn' | 'accept' | 'admit' | 'membershipsOf' | 'seen' | 'look' | 'changePassword'>;
  /** Whether passwords open sessions. */
  readonly password: boolean;
  /** @throws GatewayError 401. Absent: there is no identity provider. */
  readonly proveByOidc?: (proof: OidcProof) => Promise<UserRow>;
}

export interface ConsoleSessionsDeps {
  readonly store: ConsoleSessionStore;
  readonly links: Pick<ConsoleLinks, 'use'>;
  readonly admitKey: AdmitKey;
  /** Absent: there is no organization, and users do not sign in. */
  readonly users?: SessionUsers | undefined;
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

  async function look({ cookie, token }: SessionSecrets): Promise<ConsoleSessionRow | undefined> {
    if (cookie === undefined || token === undefined || !isSecret(cookie) || !isSecret(token)) return undefined;
    const row = await store.find(digestOf(cookie), clock.nowMs());
    return row !== undefined && isSame(row.tokenHash, digestOf(token)) ? row : undefined;
  }

  return {
    async signIn({ proof, userAgent, address, previous }) {
      const account = 'email' in proof ? proof.email : undefined;
      const { subjectKind, subjectId, identity, passwordHash } = await limit.attempt(
        address,
        () => prove(deps, proof),
        account,
      );
      // A session that was there before the sign-in never becomes one that is signed in, nor stays beside it.
      const before = await look(previous);
      if (before !== undefined) await store.delete(before.id);
      const secrets = { cookie: newSecret(), token: newSecret() };
      const nowMs = clock.nowMs();
      const row: ConsoleSessionRow = {
        id: randomUUID(),
        idHash: digestOf(secrets.cookie),
        tokenHash: digestOf(secrets.token),
        subjectKind,
        subjectId,
        role: identity.role,
        createdAtMs: nowMs,
        lastSeenAtMs: nowMs,
        idleUntilMs: nowMs + IDLE_MS,
        endsAtMs: nowMs + LIFE_MS,
        userAgent: userAgent.slice(0, USER_AGENT_CHARS_MAX),
        addressPrefix: addressPrefixOf(address),
      };
      if (!(await store.insert(row, SESSIONS_PER_SUBJECT_MAX, passwordHash))) throw wrongPassword();
      const changes = { subject: row.subjectKind, by: wayOf(proof), role: row.role, address: row.addressPrefix };
      await audit.record({ actor: identity.principal, action: 'signIn', subject: `/sessions/${row.id}`, changes });
      return { row, ...identity, secrets };
    },
    async find(secrets) {
      const row = await look(secrets);
      if (row === undefined) throw notSignedIn();
      const identity = await identify(deps, row);
      const nowMs = clock.nowMs();
      if (nowMs - row.lastSeenAtMs < SEEN_EVERY_MS) return { row, ...identity };
      const seen = { lastSeenAtMs: nowMs, idleUntilMs: Math.min(nowMs + IDLE_MS, row.endsAtMs) };
      await store.seen(row.id, seen);
      return { row: { ...row, ...seen }, ...identity };
    },
    async look(address, secret) {
      if (deps.users === undefined) throw noUsers();
      const { people } = deps.users;
      return limit.attempt(address, () => people.look(secret));
    },
    changePassword: (session, change, address) => changePassword(deps, session, change, address),
    async signOut({ row, principal }) {
      await store.delete(row.id);
      await audit.record({ actor: principal, action: 'signOut', subject: `/sessions/${row.id}`, changes: {} });
    },
    async list({ role, row: { subjectId } }) {
      const rows = await store.list(clock.nowMs(), LISTED_MAX, role === 'operator' ? undefined : subjectId);
      return Promise.all(rows.map((row) => withPrincipal(deps, row)));
    },
    async end({ role, row: { subjectId }, principal }, id) {
      const isThere = await store.delete(id, role === 'operator' ? undefined : subjectId);
      if (!isThere) throw new GatewayError('not_found', 'There is no such session.');
      await audit.record({ actor: principal, action: 'endSession', subject: `/sessions/${id}`, changes: {} });
    },
  };
}

async function changePassword(
  { users, limit, audit }: ConsoleSessionsDeps,
  { row, principal }: ConsoleSession,
  change: { readonly current: string; readonly next: string },
  address: string,
): Promise<void> {
  if (users === undefined || row.subjectKind !== 'user') throw refused('Only users have passwords.');
  const attempt = () => users.people.changePassword(row.subjectId, { ...change, sessionId: row.id });
  await limit.attempt(address, attempt, principal.label).catch((error: unknown) => {
    // A 401 would say that the session has ended.
    throw error instanceof GatewayError && error.status === 401 ? invalid('current', 'is wrong') : error;
  });
  await audit.record({ actor: principal, action: 'changePassword', subject: `/users/${row.subjectId}`, changes: {} });
}

type Subject = Pick<ConsoleSessionRow, 'subjectKind' | 'subjectId'>;
type Identity = Omit<ConsoleSession, 'row'>;
/** `passwordHash`: of the password that proved it, or that it chose. */
type Proven = Subject & { readonly identity: Identity; readonly passwordHash?: string };

/** Which caller a session has now. @throws GatewayError 401 once its key or its user is not valid any more */
async function identify(
  { admitKey, users }: ConsoleSessionsDeps,
  { subjectKind, subjectId }: Subject,
): Promise<Identity> {
  if (subjectKind === 'link') return { role: 'operator', principal: LINK_OPERATOR };
  if (subjectKind !== 'user') return identityOfKey(await admitKey(subjectId));
  const user = await users?.people.admit(subjectId);
  if (users === undefined || user === undefined) throw notSignedIn();
  await users.people.seen(user);
  return identityOfUser(users, user);
}

function identityOfKey(principal: Principal): Identity {
  return { role: principal.kind === 'management' ? 'operator' : 'member', principal };
}

/** @spec people-8 */
async function identityOfUser({ people }: SessionUsers, user: UserRow): Promise<Identity> {
  if (user.role === 'org:admin') return { role: 'operator', principal: principalOfUser(user, 'management') };
  const viewer = viewerOf(user, await people.membershipsOf(user.id));
  return { role: 'member', principal: principalOfUser(user, 'normal'), viewer };
}

/** @throws GatewayError 401 in the same words for every proof that is wrong */
async function prove(deps: ConsoleSessionsDeps, proof: Proof): Promise<Proven> {
  if ('key' in proof) return proveKey(deps, proof);
  if ('link' in proof) {
    const subjectId = await deps.links.use(proof.link);
    if (subjectId === undefined) throw wrongProof();
    return { subjectKind: 'link', subjectId, identity: await identify(deps, { subjectKind: 'link', subjectId }) };
  }
  if (deps.users === undefined) throw noUsers();
  const user = await proveUser(deps.users, proof);
  const identity = await identityOfUser(deps.users, user);
  const isByPassword = !('oidc' in proof) && user.passwordHash !== null;
  return {
    subjectKind: 'user',
    subjectId: user.id,
    identity,
    ...(isByPassword && { passwordHash: user.passwordHash }),
  };
}

async function proveUser(
  { people, password, proveByOidc }: SessionUsers,
  proof: Exclude<Proof, { readonly key: string } | { readonly link: string }>,
): Promise<UserRow> {
  if ('oidc' in proof) {
    if (proveByOidc === undefined) throw refused('There is no identity provider: organization.oidc is not set.');
    return proveByOidc(proof.oidc);
  }
  if (!password) throw refused('Passwords do not sign in here: organization.password is off.');
  if ('invitation' in proof) return people.accept(proof.invitation);
  const user = await people.signIn(proof.email, proof.password);
  if (user === undefined) throw wrongPassword();
  return user;
}

async function proveKey({ admitKey }: ConsoleSessionsDeps, proof: { readonly key: string }): Promise<Proven> {
  if (!isPrintableKey(proof.key)) throw wrongProof();
  const subjectId = hashKey(proof.key);
  try {
    const identity = identityOfKey(await admitKey(subjectId));
    return { subjectKind: identity.role === 'operator' ? 'management-key' : 'api-key', subjectId, identity };
  } catch (error) {
    if (error instanceof GatewayError && error.status === 401) throw wrongProof();
    throw error;
  }
}

async function withPrincipal(deps: ConsoleSessionsDeps, row: ConsoleSessionRow): Promise<ListedSession> {
  try {
    return { row, ...(await identify(deps, row)) };
  } catch (error) {
    // Listing is no use of the key: one that is disabled, or cannot be looked up now, is shown by its session alone.
    if (error instanceof GatewayError) return { row };
    throw error;
  }
}

function isSame(one: string, other: string): boolean {
  return timingSafeEqual(Buffer.from(one), Buffer.from(other));
}

/** For the audit event: what was shown. */
function wayOf(proof: Proof): string {
  const ways = ['key', 'link', 'invitation', 'oidc'].filter((way) => way in proof);
  return ways[0] ?? 'password';
}

function noUsers(): GatewayError {
  return refused('Users do not sign in here: organization.enabled is off.');
}

function refused(message: string): GatewayError {
  return new GatewayError('permission_denied', message);
}

function wrongPassword(): GatewayError {
  return new GatewayError('authentication', 'The address or the password is not valid.');
}

function wrongProof(): GatewayError {
  return new GatewayError('authentication', 'The key or link is not valid.');
}

function notSignedIn(): GatewayError {
  return new GatewayError('authentication', 'The session has ended, or was never opened. Sign in.');
}
