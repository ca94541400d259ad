import type { JsonObject } from '../lib/json.ts';
import { ENTERPRISE } from './attribute-path.ts';

const USER = 'urn:ietf:params:scim:schemas:core:2.0:User';
const GROUP = 'urn:ietf:params:scim:schemas:core:2.0:Group';
const TYPE = 'urn:ietf:params:scim:schemas:core:2.0:ResourceType';
const SCHEMA = 'urn:ietf:params:scim:schemas:core:2.0:Schema';
const FILTER_RESULTS_MAX = 200;

/** What this server can do. @source RFC 7643, 5 */
export function serviceProviderConfig(baseUrl: string): JsonObject {
  const no = { supported: false };
  return {
    schemas: ['urn:ietf:params:scim:schemas:core:2.0:ServiceProviderConfig'],
    patch: { supported: true },
    bulk: { ...no, maxOperations: 0, maxPayloadSize: 0 },
    filter: { supported: true, maxResults: FILTER_RESULTS_MAX },
    changePassword: no,
    sort: no,
    etag: { supported: true },
    authenticationSchemes: [
      {
        type: 'oauthbearertoken',
        name: 'Bearer token',
        description: 'A token of POST /v1/scim/tokens.',
        primary: true,
      },
    ],
    meta: { resourceType: 'ServiceProviderConfig', location: `${baseUrl}/ServiceProviderConfig` },
  };
}

export const RESOURCE_TYPES: readonly JsonObject[] = [
  {
    schemas: [TYPE],
    id: 'User',
    name: 'User',
    description: 'Users of the organization that the provider manages.',
    endpoint: '/Users',
    schema: USER,
    schemaExtensions: [{ schema: ENTERPRISE, required: false }],
  },
  {
    schemas: [TYPE],
    id: 'Group',
    name: 'Group',
    description: 'Groups of these users.',
    endpoint: '/Groups',
    schema: GROUP,
  },
];

function attribute(name: string, more: JsonObject = {}): JsonObject {
  return {
    name,
    type: 'string',
    multiValued: false,
    required: false,
    caseExact: false,
    mutability: 'readWrite',
    returned: 'default',
    uniqueness: 'none',
    ...more,
  };
}

const PRIMARY = attribute('primary', { type: 'boolean' });
const VALUE = [attribute('value'), attribute('display'), attribute('type'), PRIMARY];
const ADDRESS = ['formatted', 'streetAddress', 'locality', 'region', 'postalCode', 'country', 'type']
  .map((each) => attribute(each))
  .concat(PRIMARY);

function list(name: string, subAttributes: readonly JsonObject[] = VALUE, more: JsonObject = {}): JsonObject {
  return attribute(name, { type: 'complex', multiValued: true, subAttributes, ...more });
}

/** What a list of users or groups names of each. */
function references(type: 'User' | 'Group', mutability: 'immutable' | 'readOnly'): readonly JsonObject[] {
  return [
    attribute('value', { mutability, caseExact: true }),
    attribute('$ref', { type: 'reference', referenceTypes: [type], mutability, caseExact: true }),
    attribute('display', { mutability: 'readOnly' }),
    ...(type === 'User' ? [attribute('type', { mutability: 'readOnly', canonicalValues: ['User'] })] : []),
  ];
}

/** `externalId`, `id` and `meta` belong to every resource, and to no schema. @source RFC 7643, 7 */
export const SCHEMAS: readonly JsonObject[] = [
  {
    schemas: [SCHEMA],
    id: USER,
    name: 'User',
    description: 'A user.',
    attributes: [
      attribute('userName', { required: true, uniqueness: 'server' }),
      attribute('active', { type: 'boolean' }),
      ...['displayName', 'nickName', 'title', 'userType', 'preferredLanguage', 'locale', 'timezone'].map((each) =>
        attribute(each),
      ),
      attribute('profileUrl', { type: 'reference', referenceTypes: ['external'] }),
      attribute('name', {
        type: 'complex',
        subAttributes: ['formatted', 'familyName', 'givenName', 'middleName', 'honorificPrefix', 'honorificSuffix'].map(
          (each) => attribute(each),
        ),
      }),
      ...['emails', 'phoneNumbers', 'ims', 'photos', 'entitlements', 'roles', 'x509Certificates'].map((each) =>
        list(each),
      ),
      list('addresses', ADDRESS),
      list('groups', references('Group', 'readOnly'), { mutability: 'readOnly' }),
    ],
  },
  {
    schemas: [SCHEMA],
    id: GROUP,
    name: 'Group',
    description: 'A group of users.',
    attributes: [
      attribute('displayName', { required: true, uniqueness: 'server' }),
      list('members', references('User', 'immutable')),
    ],
  },
  {
    schemas: [SCHEMA],
    id: ENTERPRISE,
    name: 'Enterprise user',
    description: 'What companies say of users.',
    attributes: ['employeeNumber', 'costCenter', 'organization', 'division', 'department']
      .map((each) => attribute(each))
      .concat(attribute('manager', { type: 'complex', subAttributes: [attribute('value'), attribute('displayName')] })),
  },
];
