import type { Flag } from '../../resources/columns.ts';
import type { LedgerEntriesTable } from '../tables.ts';

/** What one generation adds to the sum of one subject. */
export interface SpendIncrement {
  /** `key:HASH`, `workspace:ID`, `member:ID` or `account:ID`. */
  readonly subject: string;
  /** The UTC day of the generation, Unix ms. */
  readonly day_start_ms: number;
  readonly is_byok: Flag;
  /** Nano-USD; with a caller's own credential, what the call would have cost at list price. */
  readonly nano_usd: number;
}

/** The ledger entries and spending of a generation. */
export interface Charges {
  readonly entries: readonly LedgerEntriesTable[];
  readonly spend: readonly SpendIncrement[];
}

/** A value of a column. */
export type Stored = string | number | null;

/** Reads a column of a generation's values. */
export type ReadColumn = (values: readonly Stored[], column: string) => Stored;

const DAY_MS = 86_400_000;

/**
 * Makes the id of the entry for a generation's cost. Every such entry gets its id here, and so a cost is entered once.
 */
export function chargeId(generationId: string): string {
  return `${generationId}:usage`;
}

/**
 * The charges of a generation: an entry of the account's ledger, and its part in the spending of each subject. BYOK
 * calls owe nothing, and count apart, at list price. An unknown price costs nothing.
 * @spec money-40, money-43
 */
export function chargesOf(values: readonly Stored[], accountId: string, of: ReadColumn): Charges {
  const [id, keyHash] = [String(of(values, 'id')), String(of(values, 'key_hash'))];
  const [workspaceId, memberId] = [String(of(values, 'workspace_id')), of(values, 'member_id')];
  const createdMs = Number(of(values, 'created_at_ms'));
  const nanoUsd = Number(of(values, 'cost_nano_usd') ?? 0);
  const listNanoUsd = of(values, 'list_cost_nano_usd');
  const day_start_ms = createdMs - (createdMs % DAY_MS);
  const subjects = [`key:${keyHash}`, `workspace:${workspaceId}`, `account:${accountId}`];
  if (memberId !== null) subjects.push(`member:${memberId}`);
  const spent = (is_byok: Flag, nano_usd: number) =>
    subjects.map((subject) => ({ subject, day_start_ms, is_byok, nano_usd }));
  const entry = {
    id: chargeId(id),
    at_ms: createdMs,
    account_id: accountId,
    kind: 'usage',
    amount_nano_usd: -nanoUsd,
    generation_id: id,
    key_hash: keyHash,
    workspace_id: workspaceId,
    note: null,
    author: null,
  } as const;
  return {
    spend: [...(nanoUsd > 0 ? spent(0, nanoUsd) : []), ...(listNanoUsd === null ? [] : spent(1, Number(listNanoUsd)))],
    entries: nanoUsd > 0 ? [entry] : [],
  };
}
