import type { Change } from '../../accounts/audit.ts';
import type { NewEvent } from '../../notifications/raise.ts';

const HOUR_MS = 3_600_000;

/** What operators are notified of among the changes that the audit trail has. */
export function noticeOfChange({ actor, action, subject, changes }: Change, nowMs: number): NewEvent | undefined {
  switch (action) {
    case 'signInRefused':
      return refusedSignIn(typeof actor === 'object' && 'address' in actor ? actor.address : 'unknown', nowMs);
    case 'exchangeAuthCodeForAPIKey':
      return issuedKey(subject, changes);
    case 'allowConnection':
      return allowedConnection(subject, changes);
    case 'scimKeepLastAdmin':
      return {
        type: 'scim.last_admin_kept',
        severity: 'warning',
        subject,
        title: 'The identity provider would have taken the last admin away',
        text: 'The user keeps the role of an admin, since no other one could sign in. Make another user an admin.',
        facts: { subject },
        link: '/ui/people',
      };
    case 'scimUpdateUser':
    case 'scimDeleteUser':
      return changes['active'] === false ? deactivatedUser(subject, Number(changes['disabled_keys'])) : undefined;
    default:
      return undefined;
  }
}

function refusedSignIn(address: string, nowMs: number): NewEvent {
  return {
    type: 'security.signin_blocked',
    severity: 'warning',
    subject: `address:${address}`,
    title: `Sign-ins from ${address} are refused`,
    text: 'Too many keys, passwords or links were wrong. They are refused unseen for a minute, or an hour for one account.',
    facts: { address },
    link: '/ui/audit',
    mark: `security.signin_blocked ${address}`,
    markUntilMs: nowMs + HOUR_MS,
  };
}

function issuedKey(subject: string, { name, workspace_id: workspaceId }: Change['changes']): NewEvent {
  const hash = subject.replace('/keys/', '');
  return {
    type: 'key.created_by_oauth',
    severity: 'info',
    subject: `key:${hash}`,
    workspaceId: textOf(workspaceId),
    title: `An application was given the key "${textOf(name) ?? ''}"`,
    text: 'A person agreed to it. Look at its limit, or delete it, on the page of the key.',
    facts: { key_hash: hash, key: textOf(name) ?? null },
    link: `/ui/keys/${hash}`,
  };
}

function allowedConnection(
  subject: string,
  { client_name: client, workspace_id: workspaceId }: Change['changes'],
): NewEvent {
  const id = subject.replace('/connections/', '');
  return {
    type: 'key.created_by_oauth',
    severity: 'info',
    subject: `connection:${id}`,
    workspaceId: textOf(workspaceId),
    title: `The program "${textOf(client) ?? ''}" may use the MCP server`,
    text: 'A person agreed to it, and a key is made for it. The settings of the dashboard list and end connections.',
    facts: { connection_id: id, client: textOf(client) ?? null },
    link: '/ui/settings',
  };
}

function deactivatedUser(subject: string, keys: number): NewEvent {
  return {
    type: 'scim.user_deactivated',
    severity: 'info',
    subject,
    title: 'The identity provider deactivated a user',
    text: `${keys} ${keys === 1 ? 'key' : 'keys'} and all sessions of the user ended. An admin can enable the keys again.`,
    facts: { user_id: subject.replace('/users/', ''), disabled_keys: keys },
    link: '/ui/people',
  };
}

function textOf(value: unknown): string | undefined {
  return typeof value === 'string' ? value : undefined;
}
