import { isJsonObject, type Json, type JsonObject } from '../lib/json.ts';
import { ENTERPRISE } from './attribute-path.ts';
import { invalidValue } from './scim-error.ts';

/** `list`: several values with a type; `object`: with parts. */
export type AttributeKind = 'plain' | 'list' | 'object';

interface KnownAttribute {
  readonly name: string;
  readonly kind: AttributeKind;
}

/** Attributes of users, by their names in lower case. @source RFC 7643, 4.1 */
export const ATTRIBUTES: ReadonlyMap<string, KnownAttribute> = new Map(
  (
    [
      [
        'userName externalId active displayName nickName title locale preferredLanguage timezone userType profileUrl',
        'plain',
      ],
      ['emails phoneNumbers addresses roles ims photos entitlements x509Certificates', 'list'],
      ['name', 'object'],
    ] as const
  ).flatMap(([names, kind]) => names.split(' ').map((name) => [name.toLowerCase(), { name, kind }] as const)),
);

/** Names of parts, and of attributes of the extension. */
const PARTS: ReadonlyMap<string, string> = new Map(
  (
    'formatted familyName givenName middleName honorificPrefix honorificSuffix value display type primary ' +
    'streetAddress locality region postalCode country ' +
    'employeeNumber costCenter organization division department manager displayName'
  )
    .split(' ')
    .map((name) => [name.toLowerCase(), name]),
);
const ELEMENTS_MAX = 10;
const TEXT_CHARS_MAX = 200;
const URL_CHARS_MAX = 2_048;

/** The name of a part as the protocol writes it; one that is not known stays as it is. */
export function partName(name: string): string {
  return PARTS.get(name.toLowerCase()) ?? name;
}

/** A user with the names of attributes as the protocol writes them, and without what is empty. @spec scim-18 @throws ScimError 400 */
export function normalizeUser(doc: JsonObject): JsonObject {
  const members = Object.entries(doc).map(([name, value]) => {
    if (name.toLowerCase() === ENTERPRISE.toLowerCase()) return [ENTERPRISE, partsOf(ENTERPRISE, value)] as const;
    const known = ATTRIBUTES.get(name.toLowerCase());
    return known === undefined ? ([name, value] as const) : ([known.name, valueOf(known, value)] as const);
  });
  return Object.fromEntries(members.filter(([, value]) => !isEmpty(value)));
}

function valueOf({ name, kind }: KnownAttribute, value: Json | undefined): Json | undefined {
  if (isEmpty(value)) return undefined;
  if (kind === 'list') return elementsOf(name, value);
  if (kind === 'object') return partsOf(name, value);
  if (typeof value === 'object') throw invalidValue(`${name}: must be a text.`);
  const charsMax = name === 'profileUrl' ? URL_CHARS_MAX : TEXT_CHARS_MAX;
  // What have bounds of their own are checked where they are stored.
  const isChecked = name !== 'userName' && name !== 'externalId';
  if (isChecked && typeof value === 'string' && value.length > charsMax)
    throw invalidValue(`${name}: at most ${charsMax} characters.`);
  return value;
}

function partsOf(name: string, value: Json | undefined): JsonObject | undefined {
  if (isEmpty(value)) return undefined;
  if (!isJsonObject(value)) throw invalidValue(`${name}: must be an object.`);
  const parts = withPartNames(value);
  for (const [part, each] of Object.entries(parts))
    if (typeof each === 'string' && each.length > TEXT_CHARS_MAX)
      throw invalidValue(`${name}.${part}: at most ${TEXT_CHARS_MAX} characters.`);
  return parts;
}

function withPartNames(object: JsonObject): JsonObject {
  return Object.fromEntries(
    Object.entries(object)
      .filter(([, value]) => value !== undefined && value !== null && value !== '')
      .map(([name, value]) => [partName(name), value]),
  );
}

/** @throws ScimError 400 */
export function elementsOf(name: string, value: unknown): JsonObject[] {
  const list: readonly unknown[] = Array.isArray(value) ? value : [value];
  if (list.length > ELEMENTS_MAX) throw invalidValue(`${name}: at most ${ELEMENTS_MAX}.`);
  return list.map((each) => {
    if (typeof each === 'string') return { value: each };
    if (!isJsonObject(each)) throw invalidValue(`${name}: must be a list of objects.`);
    return withPartNames(each);
  });
}

function isEmpty(value: Json | undefined): boolean {
  if (value === undefined || value === null || value === '') return true;
  return Array.isArray(value) ? value.length === 0 : isJsonObject(value) && Object.keys(value).length === 0;
}
