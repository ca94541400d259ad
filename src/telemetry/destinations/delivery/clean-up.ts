import type { DestinationRow } from '../../../resources/destinations.ts';
import type { Cursors } from '../../../store/exports/cursors.ts';
import { isBehind, type ExportPosition, type ExportRows, type WaitingRow } from '../../../store/exports/export-rows.ts';

export interface CleanUpDeps {
  readonly rows: Pick<ExportRows, 'measure' | 'mendPositions' | 'oldest' | 'remove' | 'removeThrough'>;
  readonly cursors: Pick<Cursors, 'all' | 'addDropped'>;
  /** All destinations, the ones that are off as well. */
  readonly listDestinations: () => Promise<readonly Pick<DestinationRow, 'id' | 'type' | 'workspaceId'>[]>;
  readonly nowMs: () => number;
  readonly retentionMs: number;
  readonly bytesMax: number;
  readonly onDropped: (type: string, count: number) => void;
  /** Positions of another cluster of PostgreSQL were mended. */
  readonly onForeign: () => void;
}

const ROWS_AT_ONCE = 1_000;
const END: ExportPosition = { xid: Number.MAX_SAFE_INTEGER, seq: Number.MAX_SAFE_INTEGER };

/**
 * Deletes records that all destinations of their workspace have, and those that are too old or too many.
 * @returns whether there is more to delete
 */
export async function cleanUpExports(deps: CleanUpDeps): Promise<boolean> {
  // By the places of another cluster, records seem to be sent that are not.
  if (await deps.rows.mendPositions()) deps.onForeign();
  const { workspaces, bytes } = await deps.rows.measure();
  if (workspaces.length === 0) return false;
  const places = await findPlaces(deps);
  let hasMore = false;
  for (const workspaceId of workspaces) {
    const here = places.filter((place) => place.workspaceId === workspaceId);
    const through = here.reduce((least, { at }) => (isBehind(at, least) ? at : least), END);
    if ((await deps.rows.removeThrough(workspaceId, through, ROWS_AT_ONCE)) === ROWS_AT_ONCE) hasMore = true;
  }
  const dropped = await dropOldest(deps, places, bytes);
  return hasMore || dropped === ROWS_AT_ONCE;
}

interface Place extends Pick<DestinationRow, 'id' | 'type' | 'workspaceId'> {
  readonly at: ExportPosition;
}

async function findPlaces({ cursors, listDestinations }: CleanUpDeps): Promise<readonly Place[]> {
  const known = new Map((await cursors.all()).map((cursor) => [cursor.destinationId, cursor]));
  return (await listDestinations()).flatMap(({ id, type, workspaceId }) => {
    const at = known.get(id);
    return at === undefined ? [] : [{ id, type, workspaceId, at }];
  });
}

/** @returns how many */
async function dropOldest(deps: CleanUpDeps, places: readonly Place[], bytes: number): Promise<number> {
  const { rows, nowMs, retentionMs, bytesMax } = deps;
  const olderThanMs = nowMs() - retentionMs;
  let excess = bytes - bytesMax;
  const victims: WaitingRow[] = [];
  for (const row of await rows.oldest(ROWS_AT_ONCE)) {
    if (row.endedMs >= olderThanMs && excess <= 0) break;
    excess -= row.bytes;
    victims.push(row);
  }
  if (victims.length === 0) return 0;
  for (const { id, type, workspaceId, at } of places) {
    const lost = victims.filter((row) => row.workspaceId === workspaceId && isBehind(at, row)).length;
    if (lost === 0) continue;
    await deps.cursors.addDropped(id, lost);
    deps.onDropped(type, lost);
  }
  return rows.remove(victims);
}
