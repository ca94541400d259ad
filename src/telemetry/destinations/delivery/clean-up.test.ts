import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { CursorRow } from '../../../store/exports/columns.ts';
import { isBehind, type ExportPosition, type WaitingRow } from '../../../store/exports/export-rows.ts';
import { cleanUpExports } from './clean-up.ts';

const NOW_MS = 1_000_000;

interface Options {
  readonly bytesMax?: number;
  readonly isForeign?: boolean;
  /** A destination whose sender is faster. */
  readonly movingId?: string;
  /** A record that is stored while it is looked for destinations. */
  readonly arriving?: WaitingRow;
}

/** A table of rows of two workspaces, of which destinations have taken some. */
async function cleanUp(
  rows: WaitingRow[],
  places: Readonly<Record<string, number>>,
  { bytesMax = 1_000_000, isForeign = false, movingId = '', arriving }: Options = {},
) {
  let foreign = 0;
  const dropped: string[] = [];
  const left = new Map(rows.map((row) => [row.seq, row]));
  const remove = (found: readonly { readonly seq: number }[]): Promise<number> => {
    for (const { seq } of found) left.delete(seq);
    return Promise.resolve(found.length);
  };
  const hasMore = await cleanUpExports({
    rows: {
      mendPositions() {
        assert.equal(left.size, rows.length, 'before anything is deleted');
        return Promise.resolve(isForeign);
      },
      measure: () =>
        Promise.resolve({
          workspaces: [...new Set([...left.values()].map(({ workspaceId }) => workspaceId))],
          bytes: [...left.values()].reduce((sum, row) => sum + row.bytes, 0),
        }),
      end: () => Promise.resolve([...left.values()].at(-1) ?? { xid: 0, seq: 0 }),
      oldest: (limit) => Promise.resolve([...left.values()].slice(0, limit)),
      remove,
      removeThrough: (workspaceId, through: ExportPosition) =>
        remove([...left.values()].filter((row) => row.workspaceId === workspaceId && !isBehind(through, row))),
    },
    cursors: {
      all: () =>
        Promise.resolve(
          Object.entries(places).map(([destinationId, seq]) => ({ destinationId, xid: 0, seq }) as CursorRow),
        ),
      skip(id, from, to, count) {
        if (id === movingId) return Promise.resolve(false);
        assert.equal(from.seq, places[id]);
        dropped.push(`${id} ${count} to ${to.seq}`);
        return Promise.resolve(true);
      },
    },
    listDestinations() {
      if (arriving !== undefined) left.set(arriving.seq, arriving);
      return Promise.resolve(Object.keys(places).map((id) => ({ id, type: 'webhook', workspaceId: id.slice(0, 1) })));
    },
    nowMs: () => NOW_MS,
    retentionMs: 1_000,
    bytesMax,
    onDropped: () => undefined,
    onForeign: () => foreign++,
  });
  assert.equal(foreign, Number(isForeign));
  return { left: [...left.keys()], dropped, hasMore };
}

const row = (seq: number, workspaceId: string, ageMs = 0): WaitingRow => ({
  xid: 0,
  seq,
  workspaceId,
  endedMs: NOW_MS - ageMs,
  bytes: 10,
});

test('deletes what all destinations of a workspace have, and what none has to wait for', async () => {
  const rows = [row(1, 'a'), row(2, 'b'), row(3, 'a'), row(4, 'b'), row(5, 'c')];
  const { left, dropped } = await cleanUp(rows, { a1: 3, a2: 1, b1: 4 });
  assert.deepEqual([left, dropped], [[3], []]);
  await cleanUp(rows, { a1: 3, a2: 1, b1: 4 }, { isForeign: true });
});

// @spec destination-18
test('drops the oldest records and counts them for each destination that lacks them', async () => {
  const rows = [row(1, 'a', 5_000), row(2, 'a', 4_000), row(3, 'a', 10), row(4, 'b', 10)];
  assert.deepEqual(await cleanUp([...rows], { a1: 1, a2: 0, b1: 0 }), {
    left: [3, 4],
    dropped: ['a1 1 to 2', 'a2 2 to 2'],
    hasMore: false,
  });
  const { left, dropped } = await cleanUp([...rows.slice(2), row(5, 'a', 5)], { a1: 0, b1: 0 }, { bytesMax: 15 });
  assert.deepEqual([left, dropped], [[5], ['a1 1 to 3', 'b1 1 to 4']]);
});

test('keeps what comes while it works: a destination that is made meanwhile may want it', async () => {
  const { left } = await cleanUp([row(1, 'a')], {}, { arriving: row(2, 'a') });
  assert.deepEqual(left, [2]);
});

// @spec destination-18
test('keeps what a sender has just moved past until the next time, and counts it for no destination twice', async () => {
  const rows = [row(1, 'a', 5_000), row(2, 'b', 5_000), row(3, 'a', 10)];
  const { left, dropped } = await cleanUp(rows, { a1: 0, a2: 0, b1: 0 }, { movingId: 'a2' });
  assert.deepEqual(
    [left, dropped],
    [
      [1, 3],
      ['a1 1 to 1', 'b1 1 to 2'],
    ],
  );
});
