import type { SpendLimit } from './limits/spend-limit.ts';

/** The authenticated caller: one API key. */
export interface Principal {
  /** `normal`: generations and reading. `management`: administration only. @spec auth-5 */
  readonly kind: 'normal' | 'management';
  /** SHA-256 of the full key, 64 lower-case hex digits. */
  readonly keyHash: string;
  /** There is one account until organizations exist. */
  readonly accountId: string;
  readonly workspaceId: string;
  /** The user that the key was made for; null: none. */
  readonly memberId: string | null;
  /**
   * The normal key that issued this one, directly or not, and whose rate limits count its requests. Absent: the key
   * itself.
   */
  readonly rootKeyHash?: string;
  /** The limit on the key's spending. Absent: none of its own. */
  readonly spendLimit?: SpendLimit;
  /** The key's name, as its owner chose it. */
  readonly name: string;
  /** A redacted excerpt of the key, fit for logs. */
  readonly label: string;
}

/**
 * Names the scope of conversations: what is remembered of one workspace's requests must not affect another workspace.
 * Callers choose session names and call ids, and two workspaces may choose the same.
 */
export function conversationScope({ accountId, workspaceId }: Pick<Principal, 'accountId' | 'workspaceId'>): string {
  return `${accountId} ${workspaceId}`;
}

export const DEFAULT_ACCOUNT_ID = 'default';

/** The one workspace that every key belongs to until there are more. Fixed, so that it is the same everywhere. */
export const DEFAULT_WORKSPACE_ID = '00000000-0000-4000-8000-000000000001';

/**
 * Stands for operators that a one-time link let into the dashboard. It is the digest of no key that anyone knows: links are no
 * keys, and their sessions must not be taken for those of one.
 */
export const LINK_OPERATOR_HASH = '0'.repeat(64);
