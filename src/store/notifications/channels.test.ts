import assert from 'node:assert/strict';
import { after, before, suite, test } from 'node:test';
import { systemClock as clock } from '../../lib/clock.ts';
import { channelResource, type ChannelRow } from '../../resources/notification-channels.ts';
import { openDatabase, type Database } from '../engine/database.ts';
import { ALL_ENGINES, type Place } from '../../../tests/support/store/engines.ts';
import { createChannelStore } from './channels.ts';
import { notificationDeliveryRows } from './columns.ts';
import { createOutbox } from './outbox.ts';

function channelOf(id: string): ChannelRow {
  return channelResource.newRow({
    id,
    name: id,
    kind: 'webhook',
    sealedConfig: 's',
    secretId: 'i',
    createdAtMs: 1,
    updatedAtMs: 1,
  });
}

for (const { name, makePlace } of ALL_ENGINES)
  suite(`channels of notifications: ${name}`, () => {
    let database: Database;
    let place: Place;
    before(async () => {
      place = await makePlace();
      database = await openDatabase({ ...place, clock });
    });
    after(async () => {
      await database.close();
      await place.remove();
    });

    test('keep their names apart, though two are renamed at once', async () => {
      const channels = createChannelStore(database);
      for (const id of ['a', 'b', 'c']) await channels.insert(channelOf(id), () => undefined);
      const rename = (id: string) =>
        channels.update({ ...channelOf(id), name: 'same', updatedAtMs: 2 }, { updatedAtMs: 1 }, (all) => {
          if (all.some((other) => other.name === 'same')) throw new Error('taken');
        });
      const outcomes = await Promise.allSettled(['a', 'b', 'c'].map(rename));
      assert.equal(outcomes.filter(({ status }) => status === 'fulfilled').length, 1);
      assert.equal((await channels.all()).filter((row) => row.name === 'same').length, 1);
    });

    test('count each failure of attempts that run at once', async () => {
      const channels = createChannelStore(database);
      await channels.insert(channelOf('failing'), () => undefined);
      const fail = (nowMs: number) =>
        channels.countFailure('failing', { error: 'away', isLast: nowMs % 2 === 0, nowMs });
      const seen = await Promise.all([1, 2, 3, 4, 5, 6].map((nowMs) => fail(nowMs)));
      assert.deepEqual(new Set(seen.map((row) => row?.failures)), new Set([1, 2, 3, 4, 5, 6]));
      const { failures, failedEvents, lastError } = (await channels.find('failing')) ?? {};
      assert.deepEqual([failures, failedEvents, lastError], [6, 3, 'away']);
      assert.equal(await channels.countFailure('gone', { error: 'x', isLast: true, nowMs: 1 }), undefined);
    });

    test('give no more places than an hour has to deliveries that run at once', async () => {
      const outbox = createOutbox(database);
      const ids = ['d1', 'd2', 'd3', 'd4', 'd5'];
      for (const id of ids)
        await database.kysely
          .insertInto('notification_deliveries')
          .values(
            notificationDeliveryRows.toColumns({
              id,
              eventId: `e ${id}`,
              channelId: 'busy',
              eventKey: id,
              state: 'queued',
              attempts: 0,
              repeats: 0,
              status: null,
              error: null,
              createdAtMs: 1,
              sentAtMs: null,
            }),
          )
          .execute();
      const hour = { sinceMs: 3_600_000, nowMs: 3_700_000, max: 2 };
      const take = (id: string) => outbox.takePlace({ id, channelId: 'busy' }, hour);
      const taken = await Promise.all(ids.map(take));
      assert.equal(taken.filter(Boolean).length, 2);
      const [holder = ''] = ids.filter((_id, at) => taken[at]);
      assert.equal(await take(holder), true, 'a repeat has its place');
      await outbox.change(holder, { sentAtMs: null });
      const [waiting = ''] = ids.filter((_id, at) => taken[at] !== true);
      assert.equal(await take(waiting), true, 'what failed for good leaves its place');
    });
  });
