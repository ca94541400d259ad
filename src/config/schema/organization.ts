import { z } from 'zod';
import { isSafeAddress } from '../../lib/net/loopback-name.ts';
import type { OidcConfig, OrganizationConfig } from '../config.ts';
import { key } from './key.ts';
import { httpUrl, OFF, optionalSection, text } from './parts.ts';

const USERS_MAX = 100_000;
const DEFAULT_USERS_MAX = 1_000;
const GROUPS_MAX = 100;
const DOMAIN = /^(?=.{1,253}$)[a-z0-9](?:[a-z0-9.-]*[a-z0-9])?$/i;
const SCOPES = ['openid', 'email', 'profile'];

const groups = z.array(text).max(GROUPS_MAX);
/** Without TLS anyone on the way could sign in as anyone. */
const issuerUrl = httpUrl.refine((value) => URL.canParse(value) && isSafeAddress(value), 'must begin with https://');

const oidc = optionalSection(
  {
    issuer: key(issuerUrl, 'Its address, below which `/.well-known/openid-configuration` is.', {
      usual: 'none: there is no such sign-in',
      example: 'https://login.acme.example',
    }),
    client_id: key(text, 'The id of the gateway there.', {
      usual: 'required with an issuer',
      example: 'model-gateway',
    }),
    client_secret: key(text, 'Its secret. A public client has none.', {
      usual: 'none',
      example: '${SERVICE_KEY}',
    }),
    name: key(text, 'What the button says: “Sign in with …”.', { usual: 'the host of the issuer', example: 'Acme' }),
    scopes: key(z.array(text).min(1).max(GROUPS_MAX), 'The scopes of a sign-in there.', { default: SCOPES }),
    groups_claim: key(text, 'The claim of the ID token that lists groups.', { default: 'groups' }),
    admin_groups: key(
      groups,
      'Members of one of these are admins, all others are not; empty: roles are given by hand.',
      {
        usual: 'none',
        example: ['platform'],
      },
    ),
    member_groups: key(groups, 'With it, members of none of these and of no admin group cannot sign in.', {
      usual: 'all may',
      example: ['engineering'],
    }),
    email_domains: key(
      z.array(z.string().regex(DOMAIN, 'must be a domain such as acme.example')).max(GROUPS_MAX),
      'With it, addresses of other domains cannot sign in.',
      { usual: 'all may', example: ['acme.example'] },
    ),
    create_users: key(z.boolean(), 'A person without an invitation becomes a user at the first sign-in.', OFF),
    trust_email: key(
      z.boolean(),
      'Addresses count as verified where the provider does not say so, as with Entra ID. Only for a provider whose users cannot choose their address.',
      OFF,
    ),
  },
  'Sign-in with an identity provider (OpenID Connect).',
);

export const organizationSection = optionalSection(
  {
    enabled: key(z.boolean(), 'People sign in to the dashboard as users with roles.', OFF),
    name: key(text, 'Its name, on the page that signs in.', { usual: 'none', example: 'Acme' }),
    users_max: key(z.int().min(1).max(USERS_MAX), 'How many users there may be.', { default: DEFAULT_USERS_MAX }),
    password: key(z.boolean(), 'Users may sign in with a password.', { default: true, example: false }),
    oidc,
  },
  'Users, roles and invitations: docs/people.md.',
).superRefine(({ oidc: { issuer, client_id: clientId } }, context) => {
  if (issuer !== undefined && clientId === undefined)
    context.addIssue({ code: 'custom', path: ['oidc', 'client_id'], message: 'is required with an issuer' });
});

/** The section with its defaults. */
export function organizationOf({
  enabled = false,
  name,
  users_max: usersMax = DEFAULT_USERS_MAX,
  password = true,
  oidc: entry,
}: z.output<typeof organizationSection>): OrganizationConfig {
  return { enabled, usersMax, password, ...(name !== undefined && { name }), ...oidcOf(entry) };
}

function oidcOf(entry: z.output<typeof oidc>): { readonly oidc?: OidcConfig } {
  const { issuer, client_id: clientId, client_secret: clientSecret } = entry;
  if (issuer === undefined || clientId === undefined) return {};
  return {
    oidc: {
      issuer,
      clientId,
      ...(clientSecret !== undefined && { clientSecret }),
      name: entry.name ?? new URL(issuer).host,
      scopes: entry.scopes ?? SCOPES,
      groupsClaim: entry.groups_claim ?? 'groups',
      adminGroups: entry.admin_groups ?? [],
      memberGroups: entry.member_groups ?? [],
      emailDomains: (entry.email_domains ?? []).map((domain) => domain.toLowerCase()),
      createsUsers: entry.create_users ?? false,
      trustsEmail: entry.trust_email ?? false,
    },
  };
}
