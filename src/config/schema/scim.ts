import { z } from 'zod';
import type { OrganizationConfig, ScimConfig } from '../config.ts';
import { key } from './key.ts';
import { organizationOf, type organizationSection } from './organization.ts';
import { httpUrl, OFF, optionalSection, text } from './parts.ts';

const DOMAINS_MAX = 100;
const DOMAIN = /^(?=.{1,253}$)[a-z0-9](?:[a-z0-9.-]*[a-z0-9])?$/i;

export const scimSection = optionalSection(
  {
    enabled: key(
      z.boolean(),
      'An identity provider may push users and groups to `/scim/v2`. Needs an organization.',
      OFF,
    ),
    base_url: key(httpUrl, 'The address that answers name as the place of a resource; needs TLS.', {
      usual: '`/scim/v2` of `server.public_url`, else that of the request',
      example: 'https://gateway.example/scim/v2',
    }),
    default_role: key(z.enum(['org:member', 'org:admin']), 'The role of a user that it makes.', {
      default: 'org:member',
    }),
    admin_group: key(text, 'The name or the external id of the group whose members are admins.', {
      usual: 'none: groups make no admins',
      example: 'platform',
    }),
    email_domains: key(
      z.array(z.string().regex(DOMAIN, 'must be a domain such as acme.example')).max(DOMAINS_MAX),
      'With it, addresses of other domains are refused.',
      { usual: 'all may', example: ['acme.example'] },
    ),
    on_delete: key(
      z.enum(['disable', 'erase']),
      '`erase`: a user that was deleted there is forgotten after 30 days, but for its id.',
      { default: 'disable' },
    ),
    group_patch_body: key(z.boolean(), 'A change of a group responds with 200 and the group, and not with 204.', OFF),
  },
  'Users and groups from an identity provider: docs/scim.md.',
);

/** Both sections about people, with their defaults. */
export function peopleOf(file: {
  readonly organization: z.output<typeof organizationSection>;
  readonly scim: z.output<typeof scimSection>;
}): { readonly organization: OrganizationConfig; readonly scim: ScimConfig } {
  return { organization: organizationOf(file.organization), scim: scimOf(file.scim) };
}

function scimOf({
  enabled = false,
  base_url: baseUrl,
  default_role: defaultRole = 'org:member',
  admin_group: adminGroup,
  email_domains: domains = [],
  on_delete: onDelete = 'disable',
  group_patch_body: groupPatchBody = false,
}: z.output<typeof scimSection>): ScimConfig {
  return {
    enabled,
    defaultRole,
    onDelete,
    groupPatchBody,
    emailDomains: domains.map((domain) => domain.toLowerCase()),
    ...(baseUrl !== undefined && { baseUrl }),
    ...(adminGroup !== undefined && { adminGroup }),
  };
}
