import { isJsonObject, parseJson } from '../../lib/json.ts';
import type { DatabaseFault } from '../engine/database-error.ts';
import type { Flag } from '../../resources/columns.ts';
import type { GenerationsTable } from './columns.ts';
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

/**
 * Makes the id of the entry for a generation's cost. Every such entry gets its id here, and so a cost is entered once.
 */
export function chargeId(generationId: string): string {
  return `${generationId}:usage`;
}

/** A generation with all that follows from it: stored together or not at all, and once. */
export interface Settlement {
  readonly generation: GenerationsTable;
  /** The entries of this generation. */
  readonly entries: readonly LedgerEntriesTable[];
  readonly spend: readonly SpendIncrement[];
}

/** Parses a file that this version or an older one wrote; `undefined` when it holds something else. */
export function parseSettlements(text: string): readonly Settlement[] | undefined {
  const found: unknown = parseJson(text);
  return Array.isArray(found) && found.every(isSettlement) ? found : undefined;
}

function isSettlement(value: unknown): value is Settlement {
  if (!isJsonObject(value) || !isJsonObject(value['generation'])) return false;
  return (
    typeof value['generation']['id'] === 'string' && Array.isArray(value['entries']) && Array.isArray(value['spend'])
  );
}

/** A settlement that was left out of a batch, and why. */
export interface RefusedSettlement {
  readonly index: number;
  readonly fault: DatabaseFault;
}

/**
 * Stores a batch in one commit. A settlement whose generation is stored already changes nothing, so a batch may be sent
 * again when the answer to the first sending was lost. Settlements that the database refuses are reported, and the
 * others are stored.
 * @throws DatabaseError when nothing was stored
 */
export type AppendSettlements = (batch: readonly Settlement[]) => Promise<readonly RefusedSettlement[]>;
