import type { NewEvent } from '../../notifications/raise.ts';
import type { ScimEvent } from '../../scim/scim.ts';
import type { ScimTokenRow } from '../../scim/tokens.ts';

const SILENT_MS = 604_800_000;

/** What operators are notified of when an identity provider changes something. */
export function noticeOfScim({ action, subject, changes }: ScimEvent): NewEvent | undefined {
  if (action === 'scimKeepLastAdmin')
    return {
      type: 'scim.last_admin_kept',
      severity: 'warning',
      subject,
      title: 'The identity provider would have taken the last admin away',
      text: 'The user keeps the role of an admin, since no other one could sign in. Make another user an admin.',
      facts: { subject },
      link: '/ui/people',
    };
  if (changes['active'] !== false) return undefined;
  const keys = Number(changes['disabled_keys']);
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

/** Tokens that sent nothing for a week: the provider may have stopped pushing. */
export function silentTokens(tokens: readonly ScimTokenRow[], nowMs: number): readonly NewEvent[] {
  return tokens.flatMap(({ id, name, createdAtMs, lastUsedAtMs }) => {
    const sinceMs = lastUsedAtMs ?? createdAtMs;
    if (nowMs - sinceMs < SILENT_MS) return [];
    return {
      type: 'scim.silent',
      severity: 'warning',
      subject: `scim-token:${id}`,
      title: `The identity provider "${name}" has sent nothing for 7 days`,
      text: 'Users that it deactivated meanwhile are still active here. Look at its provisioning log.',
      facts: { token_id: id, token: name, last_used_at: new Date(sinceMs).toISOString() },
      link: '/ui/provisioning',
      mark: `scim.silent ${id} ${sinceMs}`,
    };
  });
}
