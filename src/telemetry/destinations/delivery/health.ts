import type { DestinationRow } from '../../../resources/destinations.ts';
import type { CursorRow, DeliveryError, DeliveryState, RefusedRecord } from '../../../store/exports/columns.ts';
import type { ExportRows } from '../../../store/exports/export-rows.ts';

/** How the deliveries of a destination go. */
export interface DeliveryHealth {
  readonly state: DeliveryState;
  readonly lastSuccessMs: number | null;
  readonly lastError: DeliveryError | null;
  /** Records that it has not received, counted up to ten thousand; some of them it may not want. */
  readonly pending: number;
  readonly oldestPendingMs: number | null;
  readonly sent: number;
  readonly failed: number;
  readonly dropped: number;
  /** The newest last. */
  readonly recentFailures: readonly RefusedRecord[];
}

const COUNTED_MAX = 10_000;

const NEVER_SENT = {
  state: 'ok',
  lastSuccessMs: null,
  lastError: null,
  sent: 0,
  failed: 0,
  dropped: 0,
  recentFailures: [],
} as const;

/** @param cursor absent: no process has looked at the destination yet */
export async function readHealth(
  { workspaceId }: Pick<DestinationRow, 'workspaceId'>,
  cursor: CursorRow | undefined,
  rows: Pick<ExportRows, 'countWaiting'>,
): Promise<DeliveryHealth> {
  if (cursor === undefined) return { ...NEVER_SENT, pending: 0, oldestPendingMs: null };
  const { state, lastSuccessMs, lastError, sent, failed, dropped, recentFailures } = cursor;
  const { count, oldestMs } = await rows.countWaiting(workspaceId, cursor, COUNTED_MAX);
  return {
    state,
    lastSuccessMs,
    lastError,
    pending: count,
    oldestPendingMs: oldestMs ?? null,
    sent,
    failed,
    dropped,
    recentFailures,
  };
}
