import type { JsonObject } from '../lib/json.ts';
import { ENTERPRISE } from './patch.ts';

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
    endpoint: '/Users',
    schema: USER,
    schemaExtensions: [{ schema: ENTERPRISE, required: false }],
  },
  { schemas: [TYPE], id: 'Group', name: 'Group', endpoint: '/Groups', schema: GROUP },
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
    ...more,
  };
}

const VALUE = [attribute('value'), attribute('type'), attribute('primary', { type: 'boolean' })];

/** @source RFC 7643, 7 */
export const SCHEMAS: readonly JsonObject[] = [
  {
    schemas: [SCHEMA],
    id: USER,
    name: 'User',
    attributes: [
      attribute('userName', { required: true, uniqueness: 'server' }),
      attribute('active', { type: 'boolean' }),
      attribute('displayName'),
      attribute('title'),
      attribute('name', {
        type: 'complex',
        subAttributes: ['givenName', 'familyName', 'middleName', 'formatted'].map((each) => attribute(each)),
      }),
      attribute('emails', { type: 'complex', multiValued: true, subAttributes: VALUE }),
      attribute('groups', { type: 'complex', multiValued: true, mutability: 'readOnly', subAttributes: VALUE }),
    ],
  },
  {
    schemas: [SCHEMA],
    id: GROUP,
    name: 'Group',
    attributes: [
      attribute('displayName', { required: true, uniqueness: 'server' }),
      attribute('members', { type: 'complex', multiValued: true, subAttributes: VALUE }),
    ],
  },
  {
    schemas: [SCHEMA],
    id: ENTERPRISE,
    name: 'Enterprise user',
    attributes: ['employeeNumber', 'department', 'division', 'organization', 'costCenter']
      .map((each) => attribute(each))
      .concat(attribute('manager', { type: 'complex', subAttributes: VALUE })),
  },
];
