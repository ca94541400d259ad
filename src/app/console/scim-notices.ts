import type { NewEvent } from '../../notifications/raise.ts';
import type { ScimTokenRow } from '../../scim/tokens.ts';

const SILENT_MS = 604_800_000;

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
