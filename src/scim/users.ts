import { isDeepStrictEqual } from 'node:util';
import { emailKeyOf, newUser, type OrganizationRole, type UserRow } from '../accounts/people/people.ts';
import { isJsonObject, type Json, type JsonObject } from '../lib/json.ts';
import type { ScimUserRow } from '../store/scim/columns.ts';
import type { GroupOfUser, Provisioned, ScimWriter } from '../store/scim/scim.ts';
import { ENTERPRISE } from './attribute-path.ts';
import { normalizeUser } from './attributes.ts';
import { parseActive, textOf } from './patch.ts';
import { invalidValue, ScimError } from './scim-error.ts';

const CORE = 'urn:ietf:params:scim:schemas:core:2.0:User';
const USER_NAME_CHARS_MAX = 320;
const ATTRIBUTES_BYTES_MAX = 65_536;
const NAME_CHARS_MAX = 200;
const ADDRESS = /^[^\s@]+@([^\s@]+)$/;
/** Of a body of a user: what other columns hold, and what it cannot set. */
const APART = new Set(['schemas', 'id', 'meta', 'groups', 'password', 'username', 'externalid', 'active']);

export interface UserRules {
  readonly defaultRole: OrganizationRole;
  /** The name or the external id of the group whose members are admins. Absent: a group makes none. */
  readonly adminGroup: string | undefined;
  /** In lower case. Empty: all. */
  readonly emailDomains: readonly string[];
  readonly usersMax: number;
}

/** What came of a change of a user, besides the change. */
export interface UserEffects {
  /** Keys that were disabled. */
  readonly keys: readonly string[];
  /** It was active before, and is not any more. */
  readonly isDeactivated: boolean;
  /** The last admin was to lose its rights, and kept them. */
  readonly keptAdmin: boolean;
}

/** The attributes of a user, as PATCH works on them. */
export function docOf({ row, user }: Provisioned): JsonObject {
  return {
    userName: row.userName,
    ...(row.externalId !== null && { externalId: row.externalId }),
    active: user.disabledAtMs === null,
    ...row.attributes,
  };
}

export function serializeUser(found: Provisioned, groups: readonly GroupOfUser[], baseUrl: string): JsonObject {
  const { row } = found;
  const location = `${baseUrl}/Users/${row.userId}`;
  return {
    schemas: row.attributes[ENTERPRISE] === undefined ? [CORE] : [CORE, ENTERPRISE],
    id: row.userId,
    ...docOf(found),
    ...(groups.length > 0 && {
      groups: groups.map(({ id, displayName }) => ({
        value: id,
        display: displayName,
        $ref: `${baseUrl}/Groups/${id}`,
      })),
    }),
    meta: {
      resourceType: 'User',
      created: new Date(row.createdAtMs).toISOString(),
      lastModified: new Date(row.modifiedAtMs).toISOString(),
      location,
      version: `W/"${row.version}"`,
    },
  };
}

/** Reads the body of POST and PUT. @param before for `active`, which stays where it is absent. @throws ScimError */
export function parseUser(body: unknown, before?: JsonObject): JsonObject {
  if (!isJsonObject(body)) throw new ScimError(400, 'The body is no JSON object.', 'invalidSyntax');
  const members = Object.entries(body);
  const named = (name: string): unknown => members.find(([each]) => each.toLowerCase() === name)?.[1];
  const [externalId, active] = [named('externalid'), named('active')];
  const attributes = members.filter(
    ([name, value]) => !APART.has(name.toLowerCase()) && isPresent(value) && mayStay(name),
  );
  const isActive = active === undefined || active === null ? (before?.['active'] ?? true) : parseActive(active);
  return {
    userName: textOf('userName', named('username'), USER_NAME_CHARS_MAX),
    ...(isPresent(externalId) && { externalId: textOf('externalId', externalId) }),
    active: isActive,
    ...Object.fromEntries(attributes),
  };
}

function mayStay(name: string): boolean {
  return name.includes(':') ? name.toLowerCase() === ENTERPRISE.toLowerCase() : /^[A-Za-z][\w-]*$/.test(name);
}

/** Null and empty members are left out of answers. */
function isPresent(value: unknown): boolean {
  return value !== undefined && value !== null && value !== '' && !(Array.isArray(value) && value.length === 0);
}

/**
 * Makes a user what an identity provider says of it. @spec scim-3, scim-7
 * @param before absent: the user is new, or comes back
 * @throws ScimError
 */
export async function saveUser(
  writer: ScimWriter,
  rules: UserRules,
  sent: JsonObject,
  before: Provisioned | undefined,
  nowMs: number,
): Promise<UserEffects & { readonly id: string }> {
  const doc = normalizeUser(sent);
  const { userName: name, externalId: external, active, ...attributes } = doc;
  const userName = textOf('userName', name, USER_NAME_CHARS_MAX);
  const externalId = external === undefined ? null : textOf('externalId', external);
  if (Buffer.byteLength(JSON.stringify(attributes)) > ATTRIBUTES_BYTES_MAX)
    throw invalidValue('The user is too large.');
  const email = emailOf(doc, userName);
  checkDomain(rules, email);
  const taken = await writer.findUserBy('user_name_key', keyOf(userName));
  if (
    taken !== undefined &&
    taken.userId !== before?.row.userId &&
    (taken.deletedAtMs === null || before !== undefined)
  )
    throw new ScimError(409, `userName: ${userName} is taken.`, 'uniqueness');
  const named = externalId === null ? undefined : await writer.findUserBy('external_id', externalId);
  if (named !== undefined && named.deletedAtMs === null && named.userId !== before?.row.userId)
    throw new ScimError(409, 'externalId: is taken.', 'uniqueness');
  const known = taken ?? named;
  const user = before?.user ?? (await personFor(writer, rules, known, email, userName, nowMs));
  // One that comes back by its address alone has a row, too.
  const there = before?.row ?? known ?? (await writer.findUserBy('user_id', user.id));
  const isChanged = before === undefined || !isDeepStrictEqual(docOf(before), doc);
  const row: ScimUserRow = {
    userId: user.id,
    userName,
    userNameKey: keyOf(userName),
    externalId,
    attributes,
    version: (there?.version ?? 0) + (isChanged ? 1 : 0),
    createdAtMs: there?.createdAtMs ?? nowMs,
    modifiedAtMs: isChanged ? nowMs : (there?.modifiedAtMs ?? nowMs),
    deletedAtMs: null,
  };
  if (isChanged) await writer.saveUser(row, there === undefined);
  await writer.updatePerson(user.id, { ...(await namesFor(writer, doc, user, email)), updatedAtMs: nowMs });
  const effects = await setActive(writer, user, active !== false, nowMs);
  const admins = await setRoles(writer, rules, [user.id], nowMs);
  await writer.reconcile([user.id], nowMs);
  return { id: user.id, ...effects, keptAdmin: effects.keptAdmin || admins };
}

/** A user that comes back, one with the same address, or a new one. */
async function personFor(
  writer: ScimWriter,
  rules: UserRules,
  there: ScimUserRow | undefined,
  email: string | undefined,
  userName: string,
  nowMs: number,
): Promise<UserRow> {
  const back = there === undefined ? undefined : await writer.findPerson('id', there.userId);
  if (back !== undefined) return back;
  const known = email === undefined ? undefined : await writer.findPerson('email_key', emailKeyOf(email));
  if (known !== undefined && (await writer.findUser(known.id)) === undefined) return known;
  const own = { passwordHash: null, oidcSubject: null, firstName: null, lastName: null };
  const draft = newUser({ email: email ?? userName, role: rules.defaultRole }, own, nowMs);
  const made = { ...draft, ...(email === undefined && { emailKey: null }) };
  const outcome = await writer.insertPerson(made, rules.usersMax);
  if (outcome === 'inserted') return made;
  if (outcome === 'full')
    throw new ScimError(403, 'The organization has as many users as it may (organization.users_max).');
  throw new ScimError(409, 'The address belongs to another user.', 'uniqueness');
}

/** What of the attributes the organization shows. An address that another user has stays where it is. */
async function namesFor(writer: ScimWriter, doc: JsonObject, user: UserRow, email: string | undefined) {
  const name = isJsonObject(doc['name']) ? doc['name'] : {};
  const nameAt = (member: string): string | null => {
    const value = name[member];
    return typeof value === 'string' && value !== '' ? value.slice(0, NAME_CHARS_MAX) : null;
  };
  const owner = email === undefined ? undefined : await writer.findPerson('email_key', emailKeyOf(email));
  const mayHave = email !== undefined && (owner === undefined || owner.id === user.id);
  return {
    firstName: nameAt('givenName'),
    lastName: nameAt('familyName'),
    ...(mayHave && { email, emailKey: emailKeyOf(email) }),
  };
}

/**
 * Ends sessions and keys of a user that is not active any more.
 * @throws ScimError 403 where an admin of the gateway disabled the user that is to be active again
 * @spec scim-7
 */
export async function setActive(
  writer: ScimWriter,
  user: UserRow,
  isActive: boolean,
  nowMs: number,
): Promise<UserEffects> {
  const none = { keys: [], isDeactivated: false, keptAdmin: false };
  if (isActive) {
    if (user.disabledAtMs === null) return none;
    if (user.disabledBy === 'admin')
      throw new ScimError(403, 'active: an admin of the gateway disabled this user, and alone can enable it again.');
    await writer.updatePerson(user.id, { disabledAtMs: null, disabledBy: null, updatedAtMs: nowMs });
    return none;
  }
  if (user.disabledAtMs !== null) return none;
  const ended = await writer.disablePerson(user.id, nowMs);
  if (typeof ended === 'string') return { ...none, keptAdmin: ended === 'last admin' };
  return { keys: ended.keys, isDeactivated: true, keptAdmin: false };
}

/** Gives the roles that follow from the group of admins. Returns whether the last admin kept its role. @spec scim-9 */
export async function setRoles(
  writer: ScimWriter,
  { adminGroup, defaultRole }: UserRules,
  userIds: readonly string[],
  nowMs: number,
): Promise<boolean> {
  if (adminGroup === undefined) return false;
  const admins = await writer.inGroup(adminGroup, userIds);
  await writer.setRole('org:admin', [...admins], nowMs);
  const others = userIds.filter((id) => !admins.has(id));
  return writer.setRole(defaultRole, others, nowMs);
}

/** The address of work, else the main one, else the first; else the name, where it is an address. */
function emailOf(doc: JsonObject, userName: string): string | undefined {
  const list: readonly Json[] = Array.isArray(doc['emails']) ? doc['emails'] : [];
  const emails = list.filter((each) => isJsonObject(each));
  const best =
    emails.find(({ type }) => type === 'work') ?? emails.find(({ primary }) => primary === true) ?? emails[0];
  const value = best?.['value'];
  if (typeof value === 'string' && ADDRESS.test(value)) return value;
  return ADDRESS.test(userName) ? userName : undefined;
}

function checkDomain({ emailDomains }: UserRules, email: string | undefined): void {
  if (emailDomains.length === 0) return;
  const [, domain = ''] = ADDRESS.exec(email ?? '') ?? [];
  if (!emailDomains.includes(domain.toLowerCase()))
    throw invalidValue('userName: must be an address of an allowed domain.');
}

export function keyOf(name: string): string {
  return name.toLowerCase();
}
