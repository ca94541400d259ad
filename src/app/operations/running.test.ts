import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import type { RunningGeneration, RunningHere } from '../../pipeline/running-requests.ts';
import { createRunning } from './running.ts';

type Listener = (message: string) => void;

/** Processes that hear each other, as with Redis. */
function connect(processes: readonly RunningHere[], others: number | undefined) {
  const listeners = processes.map(() => new Map<string, Listener[]>());
  return processes.map((here, own) =>
    createRunning({
      here,
      others,
      bus: {
        announce(topic, message) {
          for (const [at, heard] of listeners.entries())
            if (at !== own) for (const listener of heard.get(topic) ?? []) queueMicrotask(() => listener(message));
        },
        subscribe(topic, listener) {
          listeners[own]?.set(topic, [...(listeners[own].get(topic) ?? []), listener]);
        },
      },
    }),
  );
}

function processWith(id: string, ageMs: number, stopped: string[] = [], model = 'acme/one'): RunningHere {
  const row: RunningGeneration = {
    id,
    requestId: id,
    keyHash: 'k',
    keyName: null,
    workspaceId: 'w',
    kind: 'completions',
    requested: model,
    model: null,
    providerName: null,
    isStreamed: true,
    ageMs,
    firstTokenMs: null,
    tokens: 0,
    failedAttempts: 0,
  };
  return {
    list: ({ onlyKey }) => (onlyKey === 'other' ? { total: 0, rows: [] } : { total: 1, rows: [row] }),
    stop: (wanted) => wanted === id && stopped.push(id) > 0,
  };
}

suite('generations under way in several processes', () => {
  test('are listed together, the newest first', async () => {
    const [first] = connect([processWith('a', 30), processWith('b', 10), processWith('c', 20)], 2);
    const listed = await first?.list({});
    assert.deepEqual([listed?.rows.map(({ id }) => id), listed?.total, listed?.processes], [['b', 'c', 'a'], 3, 3]);
    assert.deepEqual((await first?.list({ onlyKey: 'other' }))?.rows, []);
  });

  test('of a key or of a user alone are listed alone, and none where that is not understood', async () => {
    const seen: unknown[] = [];
    const other: RunningHere = {
      list(sight) {
        seen.push(sight);
        return { total: 0, rows: [] };
      },
      stop: () => false,
    };
    const [first] = connect([processWith('a', 1), other], 1);
    for (const sight of [{}, { onlyKey: 'k' }, { onlyOf: { memberId: 'm', workspaceIds: ['w'] } }]) {
      await first?.list(sight);
      assert.deepEqual(seen.pop(), sight);
    }
    assert.equal((await first?.list({ onlyKey: 'k', later: true } as object))?.total, 1);
    assert.deepEqual(seen, []);
  });

  test('are stopped where they run', async () => {
    const stopped: string[] = [];
    const [first] = connect([processWith('a', 1), processWith('b', 1, stopped)], undefined);
    assert.equal(await first?.stop('b', {}), true);
    assert.deepEqual(stopped, ['b']);
  });

  test('are waited for no longer than a moment, and not at all where there is one process', async (t) => {
    t.mock.timers.enable({ apis: ['setTimeout'] });
    const [alone] = connect([processWith('a', 1)], 0);
    assert.equal(await alone?.stop('x', {}), false);
    const [first] = connect([processWith('a', 1), processWith('b', 1)], 2);
    const listing = first?.list({});
    await new Promise((resolve) => setImmediate(resolve));
    t.mock.timers.tick(500);
    assert.equal((await listing)?.processes, 2);
  });

  test('fill no message that a bus drops', async () => {
    const many = processWith('b', 1, [], 'm'.repeat(400));
    const [row] = many.list({}, 1).rows;
    assert.ok(row !== undefined);
    const full = { ...many, list: () => ({ total: 100, rows: Array.from({ length: 100 }, () => row) }) };
    const [first] = connect([processWith('a', 2), full], 1);
    const listed = await first?.list({});
    assert.equal(listed?.total, 101);
    assert.ok(listed.rows.length > 30 && listed.rows.length < 60, String(listed.rows.length));
  });
});
