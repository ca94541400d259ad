import type { SpendLimit } from './limits/spend-limit.ts';

/** Who calls: one API key, proven. */
export interface Principal {
  /** `normal`: generations and reading. `management`: administration only. @spec auth-5 */
  readonly kind: 'normal' | 'management';
  /** SHA-256 of the full key, 64 lower-case hex digits. */
  readonly keyHash: string;
  /** There is one account until organizations exist. */
  readonly accountId: string;
  readonly workspaceId: string;
  /** On whose behalf the key was made; null: nobody's. */
  readonly memberId: string | null;
  /** The normal key by which its rate limits are counted, since it was issued by it, directly or not. Absent: itself. */
  readonly rootKeyHash?: string;
  /** What the key may spend. Absent: as much as others let it. */
  readonly spendLimit?: SpendLimit;
  /** The key's name as its owner gave it. */
  readonly name: string;
  /** A masked excerpt of the key, fit for logs. */
  readonly label: string;
}

/**
 * Whose conversations are one's own: what is remembered of one workspace's requests must move no other's. Names of sessions,
 * ids of calls and the like are made up by callers, and two workspaces may make up the same.
 */
export function conversationScope({ accountId, workspaceId }: Pick<Principal, 'accountId' | 'workspaceId'>): string {
  return `${accountId} ${workspaceId}`;
}

export const DEFAULT_ACCOUNT_ID = 'default';

/** The one workspace that every key belongs to until there are more. Fixed, so that it means the same everywhere. */
export const DEFAULT_WORKSPACE_ID = '00000000-0000-4000-8000-000000000001';
