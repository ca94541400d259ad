import type { DestinationRow } from '../../../resources/destinations.ts';
import type { Cursors } from '../../../store/exports/cursors.ts';
import { isBehind, type ExportPosition, type ExportRows, type WaitingRow } from '../../../store/exports/export-rows.ts';

export interface CleanUpDeps {
  readonly rows: Pick<ExportRows, 'end' | 'measure' | 'mendPositions' | 'oldest' | 'remove' | 'removeThrough'>;
  readonly cursors: Pick<Cursors, 'all' | 'skip'>;
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

/**
 * Deletes records that all destinations of their workspace have, and those that are too old or too many.
 * @returns whether there is more to delete
 */
export async function cleanUpExports(deps: CleanUpDeps): Promise<boolean> {
  // By the places of another cluster, records seem to be sent that are not.
  if (await deps.rows.mendPositions()) deps.onForeign();
  const { workspaces, bytes } = await deps.rows.measure();
  if (workspaces.length === 0) return false;
  // Before it is known which destinations there are: one that is made meanwhile begins behind it.
  const end = await deps.rows.end();
  const places = await findPlaces(deps);
  let hasMore = false;
  for (const workspaceId of workspaces) {
    const here = places.filter((place) => place.workspaceId === workspaceId);
    const through = here.reduce((least, { at }) => (isBehind(at, least) ? at : least), end);
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
  const kept = new Set<string>();
  for (const place of places) if (!(await skipVictims(deps, place, victims))) kept.add(place.workspaceId);
  return rows.remove(victims.filter(({ workspaceId }) => !kept.has(workspaceId)));
}

/**
 * Counts what a destination lacks, and puts it behind that, so that its sender counts none of it once more.
 * @returns `false`: its sender was faster, and the records stay until the next time
 */
async function skipVictims(
  { cursors, onDropped }: CleanUpDeps,
  { id, type, workspaceId, at }: Place,
  victims: readonly WaitingRow[],
): Promise<boolean> {
  const lost = victims.filter((row) => row.workspaceId === workspaceId && isBehind(at, row));
  const last = lost.at(-1);
  if (last === undefined) return true;
  if (!(await cursors.skip(id, at, last, lost.length))) return false;
  onDropped(type, lost.length);
  return true;
}
