import { isDeepStrictEqual } from 'node:util';
import { isJsonObject, type Json, type JsonObject } from '../lib/json.ts';
import { ENTERPRISE } from './attribute-path.ts';
import { ATTRIBUTES, elementsOf, partName, type AttributeKind } from './attributes.ts';
import { equalTo, matches, parseFilter, type Term } from './filter.ts';
import { invalidValue, ScimError } from './scim-error.ts';

type Draft = { [name: string]: Json | undefined };

export interface Operation {
  readonly op: 'add' | 'replace' | 'remove';
  readonly path: string | undefined;
  readonly value: unknown;
}

const OPERATIONS_MAX = 1_000;

/** Reads a body of PATCH as identity providers write it: any case, with or without `schemas`. @throws ScimError */
export function parseOperations(body: unknown): readonly Operation[] {
  const list = isJsonObject(body) ? (body['Operations'] ?? body['operations']) : undefined;
  if (!Array.isArray(list)) throw new ScimError(400, 'Operations: must be a list.', 'invalidSyntax');
  if (list.length > OPERATIONS_MAX) throw new ScimError(400, `Operations: at most ${OPERATIONS_MAX}.`, 'tooMany');
  return list.map((each: unknown, at) => {
    const op = isJsonObject(each) && typeof each['op'] === 'string' ? each['op'].toLowerCase() : '';
    if (!isJsonObject(each) || (op !== 'add' && op !== 'replace' && op !== 'remove'))
      throw new ScimError(400, `Operations[${at}].op: must be add, replace or remove.`, 'invalidSyntax');
    const { path, value } = each;
    if (path !== undefined && path !== null && typeof path !== 'string')
      throw new ScimError(400, `Operations[${at}].path: must be a text.`, 'invalidPath');
    return { op, path: typeof path === 'string' && path !== '' ? path : undefined, value };
  });
}

const READ_ONLY = new Set(['id', 'meta', 'groups', 'schemas', 'password']);

interface Target {
  /** The object that holds the attribute: the resource, or its extension. */
  readonly isExtension: boolean;
  readonly name: string;
  readonly kind: AttributeKind;
  readonly where: readonly Term[] | undefined;
  readonly sub: string | undefined;
}

const CORE_PREFIX = /^urn:ietf:params:scim:schemas:core:2\.0:user:/i;
const NAME = /^[A-Za-z][\w-]*$/;
const PATH = /^([A-Za-z][\w-]*)(?:\[(.+)\])?(?:\.([\w$-]+))?$/;

/** Where a path leads; `undefined`: to an attribute that users do not have. @throws ScimError 400 */
function targetOf(path: string): Target | 'extension' | undefined {
  const plain = path.replace(CORE_PREFIX, '');
  if (plain.toLowerCase() === ENTERPRISE.toLowerCase()) return 'extension';
  const isExtension = plain.toLowerCase().startsWith(`${ENTERPRISE.toLowerCase()}:`);
  const [, found = '', filter, part] = PATH.exec(isExtension ? plain.slice(ENTERPRISE.length + 1) : plain) ?? [];
  const known = isExtension ? extensionAttribute(found) : ATTRIBUTES.get(found.toLowerCase());
  if (known === undefined) return undefined;
  const isInList = known.kind === 'list';
  if ((filter !== undefined && !isInList) || (part !== undefined && known.kind === 'plain')) return undefined;
  const where = filter === undefined ? undefined : parseFilter(filter);
  return { isExtension, ...known, where, sub: part === undefined ? undefined : partName(part) };
}

function extensionAttribute(name: string): { readonly name: string; readonly kind: AttributeKind } | undefined {
  if (name === '') return undefined;
  const known = partName(name);
  return { name: known, kind: known === 'manager' ? 'object' : 'plain' };
}

/** The attributes of a user after these operations. What it was is left as it is. @spec scim-5 @throws ScimError */
export function patchUser(before: JsonObject, id: string, operations: readonly Operation[]): JsonObject {
  const after: Draft = { ...structuredClone(before) };
  for (const { op, path, value } of operations) {
    if (path === undefined) {
      if (op === 'remove') throw new ScimError(400, 'remove: needs a path.', 'noTarget');
      if (!isJsonObject(value)) throw invalidValue('value: must be an object where there is no path.');
      for (const [name, each] of Object.entries(value)) applyMember(after, id, op, name, each);
    } else {
      const target = targetOf(path);
      if (target === undefined) throw readOnlyOrUnknown(path);
      apply(after, op, target, value);
    }
  }
  return after;
}

function applyMember(after: Draft, id: string, op: 'add' | 'replace', name: string, value: unknown) {
  if (name.toLowerCase() === 'id' && value !== id) throw new ScimError(400, 'id: cannot be changed.', 'mutability');
  const target = targetOf(name);
  // What users do not have, or have for reading alone, is left out, as identity providers expect.
  if (target !== undefined) apply(after, op, target, value);
}

function readOnlyOrUnknown(path: string): ScimError {
  const [name = ''] = path.replace(CORE_PREFIX, '').split(/[.[]/, 1);
  if (READ_ONLY.has(name.toLowerCase())) return new ScimError(400, `${path}: cannot be changed.`, 'mutability');
  return new ScimError(400, `path: users have no attribute ${JSON.stringify(path.slice(0, 200))}.`, 'invalidPath');
}

function apply(after: Draft, op: Operation['op'], target: Target | 'extension', value: unknown): void {
  if (target === 'extension') {
    if (op === 'remove') delete after[ENTERPRISE];
    else if (isJsonObject(value)) {
      const extension = extensionOf(after);
      for (const [name, each] of Object.entries(value))
        if (NAME.test(name)) extension[partName(name)] = plainValue(partName(name), each);
    } else throw invalidValue(`${ENTERPRISE}: must be an object.`);
    return;
  }
  const owner = target.isExtension ? extensionOf(after) : after;
  if (target.kind === 'list') applyToList(owner, op, target, value);
  else applyToOne(owner, op, target, value);
}

function extensionOf(after: Draft): Draft {
  const extension = after[ENTERPRISE];
  const made: Draft = isJsonObject(extension) ? { ...extension } : {};
  after[ENTERPRISE] = made;
  return made;
}

function applyToOne(owner: Draft, op: Operation['op'], { name, kind, sub }: Target, value: unknown) {
  if (sub === undefined) {
    if (op === 'remove' || value === null || value === '') delete owner[name];
    else if (kind === 'object' && name === 'name') owner[name] = { ...objectOf(owner[name]), ...partsIn(name, value) };
    else owner[name] = plainValue(name, value);
    return;
  }
  const object: Draft = { ...objectOf(owner[name]) };
  if (op === 'remove' || value === null || value === '') delete object[sub];
  else object[sub] = jsonOf(value);
  owner[name] = object;
}

function applyToList(owner: Draft, op: Operation['op'], { name, where, sub }: Target, value: unknown): void {
  const list = (Array.isArray(owner[name]) ? owner[name] : []).filter((each) => isJsonObject(each));
  const isMeant = (each: JsonObject): boolean => where === undefined || matches(each, where);
  if (where === undefined && sub === undefined) {
    if (op === 'remove') delete owner[name];
    else owner[name] = op === 'replace' ? elementsOf(name, value) : union(list, elementsOf(name, value));
    return;
  }
  if (op === 'remove') {
    owner[name] =
      sub === undefined
        ? list.filter((each) => !isMeant(each))
        : list.map((each) => (isMeant(each) ? without(each, sub) : each));
    return;
  }
  const change = sub === undefined ? objectOf(value) : { [sub]: jsonOf(value) };
  if (list.some(isMeant)) {
    owner[name] = list.map((each) => (isMeant(each) ? { ...each, ...change } : each));
    return;
  }
  if (op === 'replace' && where !== undefined)
    throw new ScimError(400, `${name}: no element fits the filter.`, 'noTarget');
  // Entra ID adds to an element that is not there yet.
  const wanted = (where ?? []).flatMap(({ attribute, operator, value: known }) =>
    operator === 'eq' ? [[partName(attribute), known] as const] : [],
  );
  owner[name] = [...list, { ...Object.fromEntries(wanted), ...change }];
}

function without(element: JsonObject, name: string): JsonObject {
  return Object.fromEntries(Object.entries(element).filter(([each]) => each !== name));
}

function union(list: readonly JsonObject[], more: readonly JsonObject[]): JsonObject[] {
  return [...list, ...more.filter((each) => !list.some((known) => isDeepStrictEqual(known, each)))];
}

/** @throws ScimError 400 */
function partsIn(name: string, value: unknown): JsonObject {
  if (!isJsonObject(value)) throw invalidValue(`${name}: must be an object.`);
  return Object.fromEntries(Object.entries(value).map(([part, each]) => [partName(part), each]));
}

function objectOf(value: unknown): JsonObject {
  return isJsonObject(value) ? value : {};
}

function jsonOf(value: unknown): Json {
  const text = JSON.stringify(value);
  if (text === undefined) throw invalidValue('value: is missing.');
  const copy: Json = JSON.parse(text);
  return copy;
}

function plainValue(name: string, value: unknown): Json {
  if (name === 'active') return parseActive(value);
  // Entra ID sends the id alone.
  if (name === 'manager' && typeof value === 'string') return { value };
  return jsonOf(value);
}

/** Entra ID sends a text, unless its tenant has a flag. @throws ScimError 400 */
export function parseActive(value: unknown): boolean {
  if (typeof value === 'boolean') return value;
  const text = typeof value === 'string' ? value.toLowerCase() : '';
  if (text === 'true' || text === 'false') return text === 'true';
  throw invalidValue('active: must be true or false.');
}

export interface GroupChange {
  readonly displayName: string;
  readonly externalId: string | null;
  readonly members: ReadonlySet<string>;
}

const MEMBER_FILTER = /^members\[(.+)\]$/i;
const GROUP_PREFIX = /^urn:ietf:params:scim:schemas:core:2\.0:group:/i;

/** A group after these operations, in order. @spec scim-6 @throws ScimError */
export function patchGroup(before: GroupChange, id: string, operations: readonly Operation[]): GroupChange {
  let after = before;
  for (const { op, path, value } of operations) {
    if (path !== undefined) after = changeGroup(after, id, op, path.replace(GROUP_PREFIX, ''), value);
    else if (op === 'remove' || !isJsonObject(value))
      throw new ScimError(400, `${op}: needs a path or an object.`, 'noTarget');
    else for (const [name, each] of Object.entries(value)) after = changeGroup(after, id, op, name, each, true);
  }
  return after;
}

function changeGroup(
  group: GroupChange,
  id: string,
  op: Operation['op'],
  path: string,
  value: unknown,
  isPathLess = false,
): GroupChange {
  const [, filter] = MEMBER_FILTER.exec(path) ?? [];
  if (filter !== undefined) {
    if (op !== 'remove') throw new ScimError(400, `${path}: can only be removed.`, 'invalidPath');
    const [condition, ...others] = parseFilter(filter);
    const one = others.length === 0 && condition !== undefined ? equalTo([condition], 'value') : undefined;
    if (one === undefined)
      throw new ScimError(400, 'path: of members, [value eq "ID"] alone is understood.', 'invalidFilter');
    return { ...group, members: group.members.difference(new Set([one])) };
  }
  switch (path.toLowerCase()) {
    case 'members':
      return { ...group, members: changeMembers(group.members, op, value) };
    case 'displayname':
      return { ...group, displayName: textOf('displayName', value) };
    case 'externalid':
      return { ...group, externalId: op === 'remove' || value === null ? null : textOf('externalId', value) };
    case 'id':
      if (value === id) return group;
      throw new ScimError(400, 'id: cannot be changed.', 'mutability');
    default:
      if (isPathLess) return group;
      throw new ScimError(400, `path: groups have no attribute ${JSON.stringify(path.slice(0, 200))}.`, 'invalidPath');
  }
}

function changeMembers(members: ReadonlySet<string>, op: Operation['op'], value: unknown): ReadonlySet<string> {
  if (op === 'remove') {
    // An RFC reading would empty the group, which providers that send this do not mean.
    if (value === undefined || value === null) throw new ScimError(400, 'members: name those to remove.', 'noTarget');
    return members.difference(parseMembers(value));
  }
  const named = parseMembers(value);
  return op === 'add' ? members.union(named) : named;
}

const MEMBERS_MAX = 5_000;

/** @throws ScimError 400 */
export function parseMembers(value: unknown): Set<string> {
  const list: readonly unknown[] = Array.isArray(value) ? value : [value];
  if (list.length > MEMBERS_MAX)
    throw new ScimError(400, `members: at most ${MEMBERS_MAX} in one operation.`, 'tooMany');
  return new Set(
    list.map((each) => {
      const id = isJsonObject(each) ? each['value'] : each;
      if (typeof id !== 'string' || id === '') throw invalidValue('members: each needs the id of a user in "value".');
      return id;
    }),
  );
}

export function textOf(name: string, value: unknown, charsMax = 256): string {
  if (typeof value === 'string' && value !== '' && value.length <= charsMax) return value;
  throw invalidValue(`${name}: must be a text of 1 to ${charsMax} characters.`);
}
