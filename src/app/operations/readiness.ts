import { NotReadyError } from '../../http/operations.ts';
import type { AppliedRecords } from '../applied-records.ts';
import type { Journal } from '../../journal/journal.ts';
import { withTimeout } from '../../lib/async/with-timeout.ts';
import type { SharedState } from '../../state/contract.ts';
import { DatabaseGoneError } from '../../store/engine/database-error.ts';
import type { Database } from '../../store/engine/database.ts';

export interface ReadinessDeps {
  readonly database: Pick<Database, 'ping'>;
  readonly journal: Pick<Journal, 'status'>;
  readonly records: Pick<AppliedRecords, 'silentStreams'>;
  readonly state: Pick<SharedState, 'ping'>;
  /** Whether sums of spending can be read: `false` since a request was refused for it. */
  readonly canReadSums: () => Promise<boolean>;
}

/** A gateway whose journal is so full is not ready, until it has room again. */
const FULL_PART = 0.9;
const ROOM_PART = 0.7;
/** A database that says nothing for so long is away. */
const PING_MS_MAX = 1_000;
/** Records that are older show a database that is away or too slow. */
const BEHIND_MS = 1_500;

/**
 * Checks what requests need. While the database is away the journal takes their records, so that only requests with limits
 * may be refused: the gateway stays ready, and says what is wrong.
 * @returns a check: what does not work that requests can do without. @throws Error when they cannot
 */
export function createReadiness({
  database,
  journal,
  records,
  state,
  canReadSums,
}: ReadinessDeps): () => Promise<readonly string[]> {
  let isFull = false;
  return async () => {
    const { folderBytes, bytesMax, isFull: hasNoRoom, isLate, behindMs, damaged, hasLocks } = journal.status();
    isFull = hasNoRoom || folderBytes > bytesMax * (isFull ? ROOM_PART : FULL_PART);
    if (isFull) throw new NotReadyError('the journal has no room');
    if (isLate) throw new NotReadyError('records wait for the database');
    const degraded: string[] = [];
    const pinged = withTimeout(database.ping(), PING_MS_MAX);
    const [canRead] = await Promise.all([
      canReadSums(),
      pinged.catch((error: unknown) => void degraded.push(describe(error))),
      state.ping(),
    ]);
    if (!canRead) throw new NotReadyError('what was spent cannot be read');
    if (degraded.length === 0 && behindMs > BEHIND_MS) degraded.push('records wait for the database');
    if (damaged > 0) degraded.push('damaged parts of the journal were set aside');
    if (!hasLocks) degraded.push('the file system of the journal has no locks');
    if (degraded.length > 0) return degraded;
    // Their charges are in no sum until they are stored.
    for (const stream of await records.silentStreams())
      degraded.push(`records of another process that does not answer are not stored: ${stream}`);
    return degraded;
  };
}

/** @throws NotReadyError where what is written to the database is lost */
function describe(error: unknown): string {
  if (error instanceof DatabaseGoneError) throw new NotReadyError(error.message, { cause: error });
  return 'the database does not answer';
}
