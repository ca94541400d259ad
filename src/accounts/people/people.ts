import { randomUUID } from 'node:crypto';
import { GatewayError, invalid } from '../../canonical/gateway-error.ts';
import type { Clock } from '../../lib/clock.ts';
import type { InvitationRow, OrganizationRole, UserRow } from '../../store/people/columns.ts';
import type { InvitationStore } from '../../store/people/invitations.ts';
import type { Membership, PeopleStore, Person, Refusal } from '../../store/people/people.ts';
import type { Page, PageWindow } from '../../store/engine/page.ts';
import { digestOf, isSecret, newSecret } from '../console/secrets.ts';
import { DEFAULT_WORKSPACE_ID } from '../principal.ts';
import type { Passwords } from './passwords.ts';

export type { Membership, Person } from '../../store/people/people.ts';
export type { InvitationRow, OrganizationRole, UserRow } from '../../store/people/columns.ts';

export interface NewInvitation {
  readonly email: string;
  readonly role: OrganizationRole;
  readonly workspaces: readonly Membership[];
  /** The key or the user that invites, for the list. */
  readonly invitedBy: string;
}

/** A link, whose secret nothing can show again. */
export interface OpenLink {
  readonly invitation: InvitationRow;
  readonly secret: string;
}

export interface UserSettings {
  readonly role?: OrganizationRole | undefined;
  readonly disabled?: boolean | undefined;
  readonly firstName?: string | null | undefined;
  readonly lastName?: string | null | undefined;
}

/** What a person fills in to accept an invitation. */
export interface Acceptance {
  readonly secret: string;
  readonly password: string;
  readonly firstName?: string | undefined;
  readonly lastName?: string | undefined;
}

/** The users of the organization, and the links by which they join it. @spec people-1 */
export interface People {
  list(window: PageWindow): Promise<Page<Person>>;
  /** @throws GatewayError 404 */
  get(id: string): Promise<UserRow>;
  /** A user that may do something now; `undefined`: it is unknown or disabled. */
  admit(id: string): Promise<UserRow | undefined>;
  membershipsOf(userId: string): Promise<readonly Membership[]>;
  /** Whether a user may use a workspace. */
  belongsTo(user: UserRow, workspaceId: string): Promise<boolean>;
  /** @throws GatewayError 409 for an address that has a user, 404 for an unknown workspace */
  invite(invitation: NewInvitation): Promise<OpenLink>;
  invitations(window: PageWindow): Promise<Page<InvitationRow>>;
  /** Makes another link for the same invitation; the one before opens nothing any more. @throws GatewayError 404 */
  renew(id: string, invitedBy: string): Promise<OpenLink>;
  /** @throws GatewayError 404 */
  withdraw(id: string): Promise<void>;
  /** A link by which a user chooses a password. @throws GatewayError 404, 409 for a disabled user */
  linkFor(userId: string, by: string): Promise<OpenLink>;
  /** What a link is for. @throws GatewayError 401 in the same words for each that opens nothing */
  look(secret: string): Promise<InvitationRow>;
  /** Uses a link up. @throws GatewayError 400 for a weak password, 401 for a link that opens nothing, 409 */
  accept(acceptance: Acceptance): Promise<UserRow>;
  /** Disabling ends keys and sessions at once. @throws GatewayError 404, 409 for the last admin */
  update(id: string, settings: UserSettings): Promise<UserRow>;
  /** @throws GatewayError 404, 409 for the last admin */
  remove(id: string): Promise<void>;
  /** The user with this address and password, if there is one that may sign in. @throws GatewayError 503 */
  signIn(email: string, password: string): Promise<UserRow | undefined>;
  /** Ends the other sessions of the user. @throws GatewayError 400 for a weak one, 401 where the current one is wrong */
  changePassword(id: string, change: PasswordChange): Promise<void>;
  /** Notes that the user did something. */
  seen(user: UserRow): Promise<void>;
}

export interface PasswordChange {
  readonly current: string;
  readonly next: string;
  /** The session that stays. */
  readonly sessionId: string;
}

export interface PeopleDeps {
  readonly store: PeopleStore;
  readonly invitations: InvitationStore;
  readonly passwords: Passwords;
  readonly usersMax: number;
  /** Whether there is a workspace of this id. */
  readonly hasWorkspace: (id: string) => Promise<boolean>;
  /** Whether an identity provider pushes this user: then a claim gives it no role. */
  readonly isProvisioned: (id: string) => Promise<boolean>;
  /** Every process must look these keys up again. */
  readonly onKeys: (hashes: readonly string[]) => void;
  readonly clock: Clock;
}

/** @spec people-3 */
const INVITATION_LIFE_MS = 604_800_000;
const PASSWORD_LINK_LIFE_MS = 86_400_000;
const INVITATIONS_MAX = 1_000;
const PASSWORD_CHARS_MIN = 12;
const PASSWORD_SIGNS_MIN = 5;
export const PASSWORD_CHARS_MAX = 256;
const SEEN_EVERY_MS = 60_000;

export function createPeople(deps: PeopleDeps): People {
  const { store, passwords, clock } = deps;
  const get = async (id: string): Promise<UserRow> => {
    const user = await store.find(id);
    if (user === undefined) throw noSuchUser();
    return user;
  };
  const end = (ended: Refusal | { readonly keys: readonly string[] }): void => {
    if (typeof ended === 'string') throw refusalOf(ended);
    deps.onKeys(ended.keys);
  };
  return {
    list: (window) => store.list(window),
    get,
    async admit(id) {
      const user = await store.find(id);
      return user?.disabledAtMs === null ? user : undefined;
    },
    membershipsOf: (userId) => store.membershipsOf(userId),
    async belongsTo({ id, role }, workspaceId) {
      if (role === 'org:admin' || workspaceId === DEFAULT_WORKSPACE_ID) return true;
      return (await store.membershipsOf(id)).some((each) => each.workspaceId === workspaceId);
    },
    ...createLinks(deps, get),
    accept: (acceptance) => accept(deps, acceptance),
    async update(id, settings) {
      if (settings.disabled === true) end(await store.disable(id, clock.nowMs()));
      const changes = {
        ...(settings.role !== undefined && { role: settings.role }),
        ...(settings.firstName !== undefined && { firstName: settings.firstName }),
        ...(settings.lastName !== undefined && { lastName: settings.lastName }),
        // Its keys stay disabled: an admin enables those that are to work again.
        ...(settings.disabled === false && { disabledAtMs: null, disabledBy: null }),
      };
      if (Object.keys(changes).length === 0) return get(id);
      const user = await store.update(id, { ...changes, updatedAtMs: clock.nowMs() });
      if (typeof user === 'string') throw refusalOf(user);
      return user;
    },
    async remove(id) {
      end(await store.remove(id, clock.nowMs()));
    },
    async signIn(email, password) {
      const user = await store.findByEmail(emailKeyOf(email));
      const isRight = await passwords.check(password, user?.passwordHash ?? null);
      return isRight && user?.disabledAtMs === null ? user : undefined;
    },
    async changePassword(id, { current, next, sessionId }) {
      const user = await get(id);
      if (!(await passwords.check(current, user.passwordHash)))
        throw new GatewayError('authentication', 'The current password is wrong.');
      checkPassword(next, user.email, 'next');
      const changed = await store.setPassword(id, {
        passwordHash: await passwords.hash(next),
        before: user.passwordHash,
        exceptSessionId: sessionId,
        atMs: clock.nowMs(),
      });
      if (changed === undefined) throw new GatewayError('authentication', 'The current password is wrong.');
    },
    async seen({ id, lastSeenAtMs }) {
      const nowMs = clock.nowMs();
      if (lastSeenAtMs === null || nowMs - lastSeenAtMs >= SEEN_EVERY_MS) await store.seen(id, nowMs);
    },
  };
}

function createLinks(
  { store, invitations, hasWorkspace, clock }: PeopleDeps,
  get: (id: string) => Promise<UserRow>,
): Pick<People, 'invite' | 'invitations' | 'renew' | 'withdraw' | 'linkFor' | 'look'> {
  async function open(
    draft: Omit<InvitationRow, 'id' | 'tokenHash' | 'emailKey' | 'createdAtMs' | 'expiresAtMs'>,
    lifeMs: number,
  ): Promise<OpenLink> {
    const secret = newSecret();
    const nowMs = clock.nowMs();
    const invitation: InvitationRow = {
      ...draft,
      id: randomUUID(),
      tokenHash: digestOf(secret),
      emailKey: emailKeyOf(draft.email),
      createdAtMs: nowMs,
      expiresAtMs: nowMs + lifeMs,
    };
    await invitations.insert(invitation);
    return { invitation, secret };
  }
  return {
    async invite({ workspaces, ...draft }) {
      for (const [at, { workspaceId }] of workspaces.entries())
        if (workspaces.findIndex((each) => each.workspaceId === workspaceId) < at)
          throw invalid(`workspaces[${at}].workspace_id`, 'is there already');
        else if (!(await hasWorkspace(workspaceId))) throw invalid(`workspaces[${at}].workspace_id`, 'is no workspace');
      if ((await store.findByEmail(emailKeyOf(draft.email))) !== undefined) throw emailTaken();
      if ((await invitations.count(clock.nowMs())) >= INVITATIONS_MAX)
        throw new GatewayError('rate_limit_exceeded', 'Too many invitations are open. Withdraw some of them first.');
      return open({ ...draft, workspaces, userId: null }, INVITATION_LIFE_MS);
    },
    invitations: (window) => invitations.list(window, clock.nowMs()),
    async renew(id, invitedBy) {
      const found = await invitations.get(id, clock.nowMs());
      if (found === undefined || found.userId !== null) throw noSuchInvitation();
      const { email, role, workspaces } = found;
      return open({ email, role, workspaces, invitedBy, userId: null }, INVITATION_LIFE_MS);
    },
    async withdraw(id) {
      if (!(await invitations.delete(id))) throw noSuchInvitation();
    },
    async linkFor(userId, by) {
      const { email, role, disabledAtMs } = await get(userId);
      if (disabledAtMs !== null)
        throw new GatewayError('invalid_request', 'The user is disabled. Enable it first.', { status: 409 });
      return open({ email, role, workspaces: [], invitedBy: by, userId }, PASSWORD_LINK_LIFE_MS);
    },
    async look(secret) {
      const found = isSecret(secret) ? await invitations.find(digestOf(secret), clock.nowMs()) : undefined;
      if (found === undefined) throw deadLink();
      return found;
    },
  };
}

async function accept(
  { store, invitations, passwords, usersMax, clock }: PeopleDeps,
  { secret, password, firstName, lastName }: Acceptance,
): Promise<UserRow> {
  const nowMs = clock.nowMs();
  const found = isSecret(secret) ? await invitations.find(digestOf(secret), nowMs) : undefined;
  if (found === undefined) throw deadLink();
  checkPassword(password, found.email, 'password');
  const passwordHash = await passwords.hash(password);
  if (found.userId !== null) {
    if (!(await invitations.use(found.id, nowMs))) throw deadLink();
    const user = await store.setPassword(found.userId, { passwordHash, atMs: nowMs });
    if (user === undefined) throw deadLink();
    return user;
  }
  const draft = { passwordHash, firstName: firstName ?? null, lastName: lastName ?? null, oidcSubject: null };
  const user = await invitations.accept(found.id, newUser(found, draft, nowMs), usersMax, nowMs);
  return checkMade(user);
}

/** @throws GatewayError */
export function checkMade(outcome: UserRow | 'taken' | 'full' | undefined): UserRow {
  if (outcome === undefined) throw deadLink();
  if (outcome === 'taken') throw emailTaken();
  if (outcome === 'full')
    throw new GatewayError(
      'permission_denied',
      'The organization has as many users as it may (organization.users_max).',
    );
  return outcome;
}

/** A user as it begins. */
export function newUser(
  { email, role }: { readonly email: string; readonly role: OrganizationRole },
  own: Pick<UserRow, 'passwordHash' | 'firstName' | 'lastName' | 'oidcSubject'>,
  nowMs: number,
): UserRow {
  return {
    ...own,
    id: randomUUID(),
    email,
    emailKey: emailKeyOf(email),
    role,
    createdAtMs: nowMs,
    updatedAtMs: null,
    lastSeenAtMs: null,
    disabledAtMs: null,
    disabledBy: null,
    deletedAtMs: null,
  };
}

/**
 * Addresses are equal without regard to the case of ASCII. Of other letters it is left alone: the Kelvin sign would become
 * a `k`, and the owner of one address that of another.
 */
export function emailKeyOf(email: string): string {
  return email.trim().replaceAll(/[A-Z]/g, (letter) => letter.toLowerCase());
}

/** @throws GatewayError 400. @spec people-6 */
function checkPassword(password: string, email: string, path: string): void {
  if (password.length < PASSWORD_CHARS_MIN) throw invalid(path, `must have at least ${PASSWORD_CHARS_MIN} characters`);
  if (password.length > PASSWORD_CHARS_MAX) throw invalid(path, `must have at most ${PASSWORD_CHARS_MAX} characters`);
  if (emailKeyOf(password) === emailKeyOf(email)) throw invalid(path, 'must not be the address');
  if (new Set(password).size < PASSWORD_SIGNS_MIN)
    throw invalid(path, `must have at least ${PASSWORD_SIGNS_MIN} different characters`);
}

function refusalOf(refusal: Refusal): GatewayError {
  if (refusal === 'unknown') return noSuchUser();
  return new GatewayError(
    'invalid_request',
    'This is the last admin that may sign in. Make another user an admin first.',
    { status: 409 },
  );
}

function noSuchUser(): GatewayError {
  return new GatewayError('not_found', 'There is no such user.');
}

function noSuchInvitation(): GatewayError {
  return new GatewayError('not_found', 'There is no such invitation: it was used, withdrawn, or has expired.');
}

function deadLink(): GatewayError {
  return new GatewayError('authentication', 'The link is not valid any more. Ask for another one.');
}

function emailTaken(): GatewayError {
  return new GatewayError('invalid_request', 'email: belongs to a user of the organization', {
    status: 409,
    issues: [{ path: 'email', message: 'belongs to a user of the organization' }],
  });
}
