import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { CursorRow } from '../../../store/exports/columns.ts';
import { isBehind, type ExportPosition, type WaitingRow } from '../../../store/exports/export-rows.ts';
import { cleanUpExports } from './clean-up.ts';

const NOW_MS = 1_000_000;

/** A table of rows of two workspaces, of which destinations have taken some. */
async function cleanUp(
  rows: WaitingRow[],
  places: Readonly<Record<string, number>>,
  bytesMax = 1_000_000,
  isForeign = false,
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
      addDropped: (id, count) => Promise.resolve(void dropped.push(`${id} ${count}`)),
    },
    listDestinations: () =>
      Promise.resolve(Object.keys(places).map((id) => ({ id, type: 'webhook', workspaceId: id.slice(0, 1) }))),
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
  await cleanUp(rows, { a1: 3, a2: 1, b1: 4 }, 1_000_000, true);
});

// @spec destination-18
test('drops the oldest records and counts them for each destination that lacks them', async () => {
  const rows = [row(1, 'a', 5_000), row(2, 'a', 4_000), row(3, 'a', 10), row(4, 'b', 10)];
  assert.deepEqual(await cleanUp([...rows], { a1: 1, a2: 0, b1: 0 }), {
    left: [3, 4],
    dropped: ['a1 1', 'a2 2'],
    hasMore: false,
  });
  const { left, dropped } = await cleanUp([...rows.slice(2), row(5, 'a', 5)], { a1: 0, b1: 0 }, 15);
  assert.deepEqual([left, dropped], [[5], ['a1 1', 'b1 1']]);
});
