import { GatewayError } from '../../canonical/gateway-error.ts';
import type { OrganizationRole, UserRow } from '../../store/people/columns.ts';
import { checkMade, emailKeyOf, newUser, type PeopleDeps } from './people.ts';

/** What an identity provider says of a person. */
export interface Identity {
  readonly issuer: string;
  readonly subject: string;
  readonly email: string | undefined;
  readonly isEmailVerified: boolean;
  readonly firstName: string | null;
  readonly lastName: string | null;
  readonly groups: readonly string[];
}

/** Which people of an identity provider are users, and with which role. */
export interface OidcRules {
  readonly adminGroups: readonly string[];
  readonly memberGroups: readonly string[];
  readonly emailDomains: readonly string[];
  readonly createsUsers: boolean;
  readonly trustsEmail: boolean;
}

const ADDRESS = /^[^\s@]+@([^\s@]+)$/;
const EMAIL_CHARS_MAX = 254;

/**
 * Finds the user of an identity: by the identity itself, else, for an address that the provider has verified, the user or
 * the invitation with it. @spec people-13
 * @throws GatewayError 401
 */
export async function userOfIdentity(deps: PeopleDeps, rules: OidcRules, identity: Identity): Promise<UserRow> {
  const { store, clock } = deps;
  const isAdmin = identity.groups.some((group) => rules.adminGroups.includes(group));
  const mayCome =
    rules.memberGroups.length === 0 || isAdmin || identity.groups.some((group) => rules.memberGroups.includes(group));
  const email = addressOf(rules, identity);
  if (!mayCome || !isOfDomain(rules, identity.email)) throw unknownPerson();
  const role: OrganizationRole | undefined =
    rules.adminGroups.length === 0 ? undefined : isAdmin ? 'org:admin' : 'org:member';
  const oidcSubject = `${identity.issuer} ${identity.subject}`;
  const user =
    (await store.findByOidc(oidcSubject)) ??
    (email === undefined ? undefined : await userByAddress(deps, rules, { identity, email, oidcSubject, role }));
  if (user === undefined || user.disabledAtMs !== null) throw unknownPerson();
  if (role === undefined || role === user.role || (await deps.isProvisioned(user.id))) return user;
  // The last admin stays one, whatever the groups say: otherwise none could mend them.
  const changed = await store.update(user.id, { role, updatedAtMs: clock.nowMs() });
  return typeof changed === 'string' ? user : changed;
}

interface Newcomer {
  readonly identity: Identity;
  readonly email: string;
  readonly oidcSubject: string;
  readonly role: OrganizationRole | undefined;
}

async function userByAddress(
  { store, invitations, usersMax, clock }: PeopleDeps,
  rules: OidcRules,
  { identity, email, oidcSubject, role }: Newcomer,
): Promise<UserRow | undefined> {
  const nowMs = clock.nowMs();
  const known = await store.findByEmail(emailKeyOf(email));
  if (known !== undefined) {
    // An address that moved on to another person at the provider opens nothing.
    if (known.oidcSubject !== null || known.disabledAtMs !== null) return undefined;
    const linked = await store.update(known.id, { oidcSubject, updatedAtMs: nowMs });
    return typeof linked === 'string' ? undefined : linked;
  }
  const { firstName, lastName } = identity;
  const own = { passwordHash: null, oidcSubject, firstName, lastName };
  const invitation = await invitations.findByEmail(emailKeyOf(email), nowMs);
  if (invitation !== undefined && invitation.userId === null) {
    const draft = newUser({ email: invitation.email, role: role ?? invitation.role }, own, nowMs);
    return checkMade(await invitations.accept(invitation.id, draft, usersMax, nowMs));
  }
  if (!rules.createsUsers) return undefined;
  const draft = newUser({ email, role: role ?? 'org:member' }, own, nowMs);
  const outcome = await store.insert(draft, usersMax);
  return checkMade(outcome === 'inserted' ? draft : outcome);
}

/** An address that the person has for sure. */
function addressOf(rules: OidcRules, { email, isEmailVerified }: Identity): string | undefined {
  if (email === undefined || email.length > EMAIL_CHARS_MAX || !ADDRESS.test(email)) return undefined;
  return isEmailVerified || rules.trustsEmail ? email : undefined;
}

function isOfDomain({ emailDomains }: OidcRules, email: string | undefined): boolean {
  if (emailDomains.length === 0) return true;
  const [, domain] = ADDRESS.exec(email ?? '') ?? [];
  return domain !== undefined && emailDomains.includes(domain.toLowerCase());
}

/** One sentence for all: a stranger learns nothing about users. */
function unknownPerson(): GatewayError {
  return new GatewayError(
    'authentication',
    'You are known to the identity provider, but not a user of this gateway. Ask an admin for an invitation.',
  );
}
