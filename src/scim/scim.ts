import { randomUUID } from 'node:crypto';
import type { Clock } from '../lib/clock.ts';
import type { JsonObject } from '../lib/json.ts';
import { isJsonObject } from '../lib/json.ts';
import type { ScimGroupRow } from '../store/scim/columns.ts';
import type { Provisioned, ScimStore, ScimWriter } from '../store/scim/scim.ts';
import { equalTo, matches, parseFilter, refuseConditionsOn, type Term } from './filter.ts';
import { parseMembers, parseOperations, patchGroup, patchUser, textOf, type GroupChange } from './patch.ts';
import { invalidValue, ScimError, unknownResource } from './scim-error.ts';
import { docOf, keyOf, parseUser, saveUser, serializeUser, setActive, setRoles, type UserRules } from './users.ts';

export interface ScimList {
  readonly totalResults: number;
  readonly startIndex: number;
  readonly resources: readonly JsonObject[];
}

export interface ListQuery {
  readonly filter: string | undefined;
  /** From 1. */
  readonly startIndex: number;
  readonly count: number;
  /** Members of groups are not read at all. */
  readonly withoutMembers: boolean;
}

/** What changed, for the audit trail. */
export interface ScimEvent {
  readonly action:
    | 'scimCreateUser'
    | 'scimUpdateUser'
    | 'scimDeleteUser'
    | 'scimCreateGroup'
    | 'scimUpdateGroup'
    | 'scimDeleteGroup'
    | 'scimKeepLastAdmin';
  readonly subject: string;
  readonly changes: JsonObject;
}

export interface ScimDeps {
  readonly store: ScimStore;
  readonly rules: UserRules;
  /** Every process must look these keys up again. */
  readonly onKeys: (hashes: readonly string[]) => void;
  readonly onEvent: (event: ScimEvent) => Promise<void>;
  readonly clock: Clock;
}

export type Kind = 'Users' | 'Groups';

/** The resources that an identity provider manages. `version`: what `If-Match` named. */
export interface Scim {
  list(kind: Kind, query: ListQuery, baseUrl: string): Promise<ScimList>;
  /** @throws ScimError 404 */
  get(kind: Kind, id: string, baseUrl: string, withoutMembers: boolean): Promise<JsonObject>;
  create(kind: Kind, body: unknown, baseUrl: string): Promise<JsonObject>;
  replace(kind: Kind, id: string, body: unknown, version: string | undefined, baseUrl: string): Promise<JsonObject>;
  patch(kind: Kind, id: string, body: unknown, version: string | undefined, baseUrl: string): Promise<JsonObject>;
  delete(kind: Kind, id: string, version: string | undefined): Promise<void>;
}

const CORE_GROUP = 'urn:ietf:params:scim:schemas:core:2.0:Group';
/** Resources that are looked through for a filter that no index serves. */
const LOOKED_AT_MAX = 20_000;

export function createScim(deps: ScimDeps): Scim {
  const { store } = deps;
  return {
    list: (kind, query, baseUrl) =>
      kind === 'Users' ? listUsers(store, query, baseUrl) : listGroups(store, query, baseUrl),
    async get(kind, id, baseUrl, withoutMembers) {
      if (kind === 'Groups') return getGroup(store, id, baseUrl, withoutMembers);
      const [found] = await store.listUsers({ column: 'user_id', value: id }, 1);
      if (found === undefined) throw unknownResource();
      return serializeUser(found, await store.groupsOf(id), baseUrl);
    },
    async create(kind, body, baseUrl) {
      if (kind === 'Groups') return getGroup(store, await createGroup(deps, body), baseUrl, false);
      const id = await writeUser(deps, 'scimCreateUser', async (writer, nowMs) =>
        saveUser(writer, deps.rules, parseUser(body), undefined, nowMs),
      );
      return this.get(kind, id, baseUrl, false);
    },
    async replace(kind, id, body, version, baseUrl) {
      if (kind === 'Groups') await changeGroup(deps, id, version, (before) => replacedGroup(before, body));
      else
        await writeUser(deps, 'scimUpdateUser', async (writer, nowMs) => {
          const before = await presentUser(writer, id, version);
          return saveUser(writer, deps.rules, parseUser(body, docOf(before)), before, nowMs);
        });
      return this.get(kind, id, baseUrl, false);
    },
    async patch(kind, id, body, version, baseUrl) {
      const operations = parseOperations(body);
      if (kind === 'Groups') await changeGroup(deps, id, version, (before) => patchGroup(before, id, operations));
      else
        await writeUser(deps, 'scimUpdateUser', async (writer, nowMs) => {
          const before = await presentUser(writer, id, version);
          return saveUser(writer, deps.rules, patchUser(docOf(before), id, operations), before, nowMs);
        });
      return this.get(kind, id, baseUrl, true);
    },
    async delete(kind, id, version) {
      if (kind === 'Groups') await deleteGroup(deps, id, version);
      else
        await writeUser(deps, 'scimDeleteUser', async (writer, nowMs) => {
          const { row, user } = await presentUser(writer, id, version);
          const effects = await setActive(writer, user, false, nowMs);
          await writer.saveUser({ ...row, version: row.version + 1, deletedAtMs: nowMs }, false);
          const groups = await writer.groupsOf(id);
          for (const group of groups) await writer.changeMembers(group.id, [], [id]);
          await writer.reconcile([id], nowMs);
          return { id, ...effects };
        });
    },
  };
}

/** Runs a change of a user, and then what follows from it outside of the database. */
async function writeUser(
  { store, clock, onKeys, onEvent }: ScimDeps,
  action: ScimEvent['action'],
  change: (writer: ScimWriter, nowMs: number) => ReturnType<typeof saveUser>,
): Promise<string> {
  const { id, keys, isDeactivated, keptAdmin } = await store.write((writer) => change(writer, clock.nowMs()));
  onKeys(keys);
  const subject = `/users/${id}`;
  await onEvent({ action, subject, changes: isDeactivated ? { active: false, disabled_keys: keys.length } : {} });
  if (keptAdmin) await onEvent({ action: 'scimKeepLastAdmin', subject, changes: {} });
  return id;
}

async function presentUser(writer: ScimWriter, id: string, version: string | undefined): Promise<Provisioned> {
  const found = await writer.findUser(id);
  if (found === undefined) throw unknownResource();
  checkVersion(found.row.version, version);
  return found;
}

/** @throws ScimError 412. Without the header the last change wins. */
function checkVersion(present: number, wanted: string | undefined): void {
  if (wanted === undefined || wanted.trim() === '*') return;
  const tags = wanted.split(',').map((tag) => tag.trim().replace(/^W\//, ''));
  if (!tags.includes(`"${present}"`)) throw new ScimError(412, 'The resource has changed since it was read.');
}

async function listUsers(store: ScimStore, query: ListQuery, baseUrl: string): Promise<ScimList> {
  const terms = query.filter === undefined ? [] : parseFilter(query.filter);
  refuseConditionsOn(terms, 'groups');
  const [name, external, id] = [equalTo(terms, 'username'), equalTo(terms, 'externalid'), equalTo(terms, 'id')];
  const equal =
    name !== undefined
      ? ({ column: 'user_name_key', value: keyOf(name) } as const)
      : external !== undefined
        ? ({ column: 'external_id', value: external } as const)
        : id === undefined
          ? undefined
          : ({ column: 'user_id', value: id } as const);
  const all = await store.listUsers(equal, LOOKED_AT_MAX);
  const fitting = all.filter((found) => matches(serializeUser(found, [], baseUrl), terms));
  const page = pageOf(fitting, query);
  const resources = [];
  for (const found of page) resources.push(serializeUser(found, await store.groupsOf(found.row.userId), baseUrl));
  return { totalResults: fitting.length, startIndex: query.startIndex, resources };
}

function pageOf<Row>(rows: readonly Row[], { startIndex, count }: ListQuery): readonly Row[] {
  return rows.slice(startIndex - 1, startIndex - 1 + count);
}

const OF_MEMBERS = /^members(?:\.value)?$/;

/** The user that a condition wants in a group: `members eq "u"`, or `members[value eq "u"]`. */
function memberIn({ attribute, operator, value, where }: Term): string | undefined {
  if (!OF_MEMBERS.test(attribute)) return undefined;
  if (where === undefined) return operator === 'eq' && typeof value === 'string' ? value : undefined;
  return operator === 'pr' && where.length === 1 ? equalTo(where, 'value') : undefined;
}

async function listGroups(store: ScimStore, query: ListQuery, baseUrl: string): Promise<ScimList> {
  const terms = query.filter === undefined ? [] : parseFilter(query.filter);
  const [name, external, id] = [equalTo(terms, 'displayname'), equalTo(terms, 'externalid'), equalTo(terms, 'id')];
  const equal =
    name !== undefined
      ? ({ column: 'display_key', value: keyOf(name) } as const)
      : external !== undefined
        ? ({ column: 'external_id', value: external } as const)
        : id === undefined
          ? undefined
          : ({ column: 'id', value: id } as const);
  const others = terms.filter((term) => memberIn(term) === undefined);
  refuseConditionsOn(others, 'members');
  const groupsOfMembers: ReadonlySet<string>[] = [];
  for (const member of new Set(terms.flatMap((term) => memberIn(term) ?? [])))
    groupsOfMembers.push(await store.groupIdsOf(member));
  const fitting = (await store.listGroups(equal, LOOKED_AT_MAX)).filter(
    (row) =>
      groupsOfMembers.every((ids) => ids.has(row.id)) && matches(serializeGroup(row, undefined, baseUrl), others),
  );
  const resources = [];
  for (const row of pageOf(fitting, query))
    resources.push(serializeGroup(row, query.withoutMembers ? undefined : await store.membersOf(row.id), baseUrl));
  return { totalResults: fitting.length, startIndex: query.startIndex, resources };
}

async function getGroup(store: ScimStore, id: string, baseUrl: string, withoutMembers: boolean): Promise<JsonObject> {
  const [row] = await store.listGroups({ column: 'id', value: id }, 1);
  if (row === undefined) throw unknownResource();
  return serializeGroup(row, withoutMembers ? undefined : await store.membersOf(id), baseUrl);
}

function serializeGroup(
  row: ScimGroupRow,
  members: readonly { readonly id: string; readonly userName: string }[] | undefined,
  baseUrl: string,
): JsonObject {
  return {
    schemas: [CORE_GROUP],
    id: row.id,
    displayName: row.displayName,
    ...(row.externalId !== null && { externalId: row.externalId }),
    ...(members !== undefined && {
      members: members.map(({ id, userName }) => ({
        value: id,
        display: userName,
        type: 'User',
        $ref: `${baseUrl}/Users/${id}`,
      })),
    }),
    meta: {
      resourceType: 'Group',
      created: new Date(row.createdAtMs).toISOString(),
      lastModified: new Date(row.modifiedAtMs).toISOString(),
      location: `${baseUrl}/Groups/${row.id}`,
      version: `W/"${row.version}"`,
    },
  };
}

async function createGroup(deps: ScimDeps, body: unknown): Promise<string> {
  const draft = replacedGroup({ displayName: '', externalId: null, members: new Set() }, body);
  const nowMs = deps.clock.nowMs();
  const id = randomUUID();
  const effects = await deps.store.write(async (writer) => {
    const row = {
      id,
      version: 0,
      createdAtMs: nowMs,
      modifiedAtMs: nowMs,
      ...draft,
      displayKey: keyOf(draft.displayName),
    };
    return saveGroup(deps, writer, row, new Set(), draft, true);
  });
  const changes = { display_name: draft.displayName };
  await reportGroup(deps, 'scimCreateGroup', id, { changes, keptAdmin: effects?.keptAdmin === true });
  return id;
}

async function changeGroup(
  deps: ScimDeps,
  id: string,
  version: string | undefined,
  change: (before: GroupChange) => GroupChange,
): Promise<void> {
  const effects = await deps.store.write(async (writer) => {
    const row = await writer.findGroup(id);
    if (row === undefined) throw unknownResource();
    checkVersion(row.version, version);
    const members = await writer.membersOf(id);
    return saveGroup(
      deps,
      writer,
      row,
      members,
      change({ displayName: row.displayName, externalId: row.externalId, members }),
      false,
    );
  });
  if (effects !== undefined) await reportGroup(deps, 'scimUpdateGroup', id, effects);
}

async function reportGroup(
  { onEvent }: ScimDeps,
  action: ScimEvent['action'],
  id: string,
  { changes, keptAdmin }: GroupEffects,
): Promise<void> {
  const subject = `/scim/groups/${id}`;
  await onEvent({ action, subject, changes });
  if (keptAdmin) await onEvent({ action: 'scimKeepLastAdmin', subject, changes: {} });
}

interface GroupEffects {
  readonly changes: JsonObject;
  readonly keptAdmin: boolean;
}

/** Saves what differs, and makes memberships and roles follow. */
async function saveGroup(
  { rules, clock }: ScimDeps,
  writer: ScimWriter,
  row: ScimGroupRow,
  members: ReadonlySet<string>,
  { displayName, externalId, members: wanted }: GroupChange,
  isNew: boolean,
): Promise<GroupEffects | undefined> {
  const nowMs = clock.nowMs();
  const [added, removed] = [[...wanted.difference(members)], [...members.difference(wanted)]];
  const isSame =
    added.length + removed.length === 0 && displayName === row.displayName && externalId === row.externalId;
  if (isSame && !isNew) return undefined;
  const known = await writer.knownAmong(added);
  const unknown = added.find((id) => !known.has(id));
  if (unknown !== undefined) throw invalidValue(`members: there is no user ${unknown}.`);
  const namesake = await writer.findGroupByName(keyOf(displayName));
  if (namesake !== undefined && namesake.id !== row.id)
    throw new ScimError(409, `displayName: ${displayName} is taken.`, 'uniqueness');
  const next = { id: row.id, displayName, displayKey: keyOf(displayName), externalId, createdAtMs: row.createdAtMs };
  await writer.saveGroup({ ...next, version: row.version + 1, modifiedAtMs: nowMs }, isNew);
  await writer.changeMembers(row.id, added, removed);
  const affected =
    displayName === row.displayName && externalId === row.externalId
      ? [...added, ...removed]
      : [...wanted.union(members)];
  const keptAdmin = await setRoles(writer, rules, affected, nowMs);
  await writer.reconcile(affected, nowMs);
  return { changes: { added: added.length, removed: removed.length }, keptAdmin };
}

async function deleteGroup(deps: ScimDeps, id: string, version: string | undefined): Promise<void> {
  const keptAdmin = await deps.store.write(async (writer) => {
    const row = await writer.findGroup(id);
    if (row === undefined) throw unknownResource();
    checkVersion(row.version, version);
    const members = [...(await writer.membersOf(id))];
    await writer.deleteGroup(id);
    const kept = await setRoles(writer, deps.rules, members, deps.clock.nowMs());
    await writer.reconcile(members, deps.clock.nowMs());
    return kept;
  });
  await reportGroup(deps, 'scimDeleteGroup', id, { changes: {}, keptAdmin });
}

function replacedGroup(_before: GroupChange, body: unknown): GroupChange {
  if (!isJsonObject(body)) throw new ScimError(400, 'The body is no JSON object.', 'invalidSyntax');
  const { displayName, externalId, members } = body;
  return {
    displayName: textOf('displayName', displayName),
    externalId:
      externalId === undefined || externalId === null || externalId === '' ? null : textOf('externalId', externalId),
    members: members === undefined || members === null ? new Set() : parseMembers(members),
  };
}
