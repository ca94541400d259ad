import { z } from 'zod';
import type { InvitationRow, People, Person, UserRow } from '../../../accounts/people/people.ts';
import { isAddress } from '../../../accounts/workspaces/organization.ts';
import { GatewayError } from '../../../canonical/gateway-error.ts';
import { serializeTime } from '../../../resources/columns.ts';

const EMAIL_CHARS_MAX = 254;
const NAME_CHARS_MAX = 200;
const WORKSPACES_MAX = 100;

export const emailSchema = z.email().max(EMAIL_CHARS_MAX);
export const nameSchema = z.string().trim().min(1).max(NAME_CHARS_MAX);
export const roleSchema = z.enum(['org:admin', 'org:member']);
const memberRoleSchema = z.enum(['admin', 'member']);
export const userPathSchema = z.strictObject({ id: z.string() });
const time = z.iso.datetime();

/** Members that OpenRouter's shape lacks are there with an organization alone. @spec people-1, workspace-12 */
export const memberSchema = z
  .strictObject({
    id: z.string(),
    email: z.string().describe('Empty where the id is that of no user and no address.'),
    first_name: z.string().nullable(),
    last_name: z.string().nullable(),
    role: roleSchema,
    state: z
      .enum(['active', 'disabled', 'named'])
      .optional()
      .describe('`named`: a key, a workspace or a guardrail names the id, which is that of no user.'),
    sign_in: z
      .array(z.enum(['password', 'oidc']))
      .optional()
      .describe('What the user signed in with.'),
    keys: z.int().optional().describe('That work.'),
    created_at: time.nullable().optional(),
    last_seen_at: time.nullable().optional().describe('To the minute.'),
  })
  .meta({ id: 'OrganizationMember' });

export const invitedWorkspacesSchema = z
  .array(z.strictObject({ workspace_id: z.uuid(), role: memberRoleSchema }))
  .max(WORKSPACES_MAX);

export const invitationSchema = z
  .strictObject({
    id: z.string(),
    email: z.string(),
    role: roleSchema,
    workspaces: invitedWorkspacesSchema,
    invited_by: z.string().describe('A masked excerpt of a key, or the address of a user.'),
    created_at: time,
    expires_at: time,
  })
  .meta({ id: 'OrganizationInvitation' });

/** A link is shown once: only a digest of it is kept. */
export const linkSchema = z
  .string()
  .describe('To be opened below the address of the dashboard: `/ui/invitation#t=...`. Shown this once.');

export function serializePerson({ id, user, keys }: Person): z.output<typeof memberSchema> {
  if (user !== undefined) return { ...serializeUser(user), keys };
  const email = isAddress(id) ? id : '';
  const unknown = { first_name: null, last_name: null, created_at: null, last_seen_at: null };
  return { id, email, ...unknown, role: 'org:member', state: 'named', sign_in: [], keys };
}

export function serializeUser(user: UserRow): z.output<typeof memberSchema> {
  return {
    id: user.id,
    email: user.email,
    first_name: user.firstName,
    last_name: user.lastName,
    role: user.role,
    state: user.disabledAtMs === null ? 'active' : 'disabled',
    sign_in: [
      ...(user.passwordHash === null ? [] : (['password'] as const)),
      ...(user.oidcSubject === null ? [] : (['oidc'] as const)),
    ],
    created_at: serializeTime(user.createdAtMs),
    last_seen_at: user.lastSeenAtMs === null ? null : serializeTime(user.lastSeenAtMs),
  };
}

export function serializeInvitation(invitation: InvitationRow): z.output<typeof invitationSchema> {
  const { id, email, role, workspaces, invitedBy, createdAtMs, expiresAtMs } = invitation;
  return {
    id,
    email,
    role,
    workspaces: workspaces.map(({ workspaceId, role: own }) => ({ workspace_id: workspaceId, role: own })),
    invited_by: invitedBy,
    created_at: serializeTime(createdAtMs),
    expires_at: serializeTime(expiresAtMs),
  };
}

/** Behind `#` the secret reaches no server, no log and no other page. */
export function formatLink(secret: string): string {
  return `/ui/invitation#t=${secret}`;
}

/** @throws GatewayError 404 where there is no organization */
export function peopleOf({ people }: { readonly people?: People | undefined }): People {
  if (people !== undefined) return people;
  throw new GatewayError(
    'not_found',
    'There is no organization. Set "organization: { enabled: true }" in the configuration of the gateway.',
  );
}
