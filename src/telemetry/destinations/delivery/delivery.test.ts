import assert from 'node:assert/strict';
import { test, type TestContext } from 'node:test';
import { setImmediate as nextTurn } from 'node:timers/promises';
import type { LiveDestination } from '../destinations.ts';
import { createDelivery, type DeliveryDeps } from './delivery.ts';

const LIVE = {
  row: { id: 'd', updatedAtMs: 1, workspaceId: 'w', apiKeyHashes: null },
  open: { url: '', limits: {} },
} as unknown as LiveDestination;

/** A delivery whose looks at the database are counted, and at destinations that a test hands over. */
function make(t: TestContext, live: () => Promise<readonly LiveDestination[]>) {
  t.mock.timers.enable({ apis: ['setInterval'] });
  const looks = { count: 0 };
  const unused = (): never => assert.fail('nothing is sent');
  const deps: Partial<DeliveryDeps> = {
    destinations: { live },
    rows: {
      mendPositions: () => Promise.resolve(false),
      findNew(after) {
        looks.count++;
        return Promise.resolve({ workspaces: new Set(), end: after });
      },
      read: unused,
      end: unused,
    },
    cursors: { open: unused, take: () => Promise.resolve(undefined), save: unused, release: unused, find: unused },
    sends: true,
    clock: { nowMs: () => 0, monotonicMs: () => -1 },
    onFailed: (error) => assert.fail(String(error)),
  };
  return { delivery: createDelivery(deps as DeliveryDeps), looks };
}

test('looks for records once a second from its start on, however often it is started', async (t) => {
  const { delivery, looks } = make(t, () => Promise.resolve([LIVE]));
  await delivery.refresh();
  delivery.start();
  delivery.start();
  for (const expected of [1, 2]) {
    t.mock.timers.tick(1_000);
    await nextTurn();
    assert.equal(looks.count, expected);
  }
  await delivery.close();
});

test('stays closed when it is started late, and when its destinations come late', async (t) => {
  const late = Promise.withResolvers<readonly LiveDestination[]>();
  const { delivery, looks } = make(t, () => late.promise);
  const refreshed = delivery.refresh();
  await delivery.close();
  late.resolve([LIVE]);
  await refreshed;
  await delivery.refresh();
  delivery.start();
  t.mock.timers.tick(10_000);
  await nextTurn();
  assert.equal(looks.count, 0);
});
