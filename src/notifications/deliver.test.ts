import assert from 'node:assert/strict';
import { after, before, beforeEach, suite, test } from 'node:test';
import { sql } from 'kysely';
import { ENGINES, type Place } from '../../tests/support/store/engines.ts';
import type { JobOutcome } from '../jobs/contract.ts';
import type { JsonObject } from '../lib/json.ts';
import { systemClock } from '../lib/clock.ts';
import { createSecretBox, secretFrom } from '../lib/secret-box.ts';
import type { Job } from '../store/jobs/columns.ts';
import { openDatabase, type Database } from '../store/engine/database.ts';
import { createChannelStore } from '../store/notifications/channels.ts';
import { createOutbox } from '../store/notifications/outbox.ts';
import { createChannels, type NewChannel } from './channels.ts';
import { notifyKind } from './deliver.ts';
import type { NotificationDeps } from './deps.ts';
import { handOn } from './hand-on.ts';
import type { Message } from './message.ts';
import { raise, type NewEvent } from './raise.ts';
import type { SendResult } from './senders/sender.ts';

/** A Wednesday, 12:00 in Vienna. */
const NOON_MS = Date.parse('2026-07-01T10:00:00Z');
const EVENT: NewEvent = {
  type: 'key.limit',
  severity: 'warning',
  subject: 'key:a',
  title: 'A key has spent 80 %',
  text: '',
  facts: {},
};
const SENT: SendResult = { isSent: true, status: 200 };

for (const engine of ENGINES)
  suite(`deliveries of notifications: ${engine.name}`, () => {
    let place: Place;
    let database: Database;
    let nowMs: number;
    const sent: Message[] = [];
    let result: SendResult;
    let added: { readonly id?: string; readonly delayMs?: number; readonly checkpoint?: JsonObject }[];
    let deps: NotificationDeps;
    before(async () => {
      place = await engine.makePlace();
      database = await openDatabase({ ...place, clock: systemClock });
    });
    after(async () => {
      await database.close();
      await place.remove();
    });
    beforeEach(async () => {
      for (const table of ['notification_channels', 'notification_events', 'notification_deliveries'])
        await sql`delete from ${sql.table(table)}`.execute(database.kysely);
      nowMs = NOON_MS;
      sent.length = 0;
      result = SENT;
      added = [];
      const box = createSecretBox([secretFrom('a secret')]);
      const send = (message: Message) => {
        sent.push(message);
        return Promise.resolve(result);
      };
      deps = {
        channels: createChannelStore(database),
        outbox: createOutbox(database),
        jobs: { add: (job) => Promise.resolve(added.push(job)).then(() => 'added' as const) },
        senders: { webhook: send, slack: send, mattermost: send, discord: send, teams: send, email: undefined },
        faultOf: () => undefined,
        fillAddress: (url) => Promise.resolve(url),
        box: () => Promise.resolve(box),
        clock: { nowMs: () => nowMs, monotonicMs: () => nowMs },
        random: () => 0.5,
        publicUrl: undefined,
        hasUsers: false,
        onChange: () => Promise.resolve(),
        onSent: () => undefined,
        onUnreadable: () => assert.fail(),
      };
    });
    const addChannel = async (more: Partial<NewChannel> = {}) =>
      (
        await createChannels(deps).create({
          name: `hook ${Math.random()}`,
          kind: 'webhook',
          url: 'https://a.test',
          events: ['*'],
          ...more,
        })
      ).record;
    /** Runs a job as the engine would. */
    const run = async (checkpoint: JsonObject = {}): Promise<JobOutcome & { readonly left: JsonObject }> => {
      let left = checkpoint;
      const outcome = await notifyKind(deps).run({
        job: { checkpoint } as Job,
        signal: new AbortController().signal,
        save: (next) => Promise.resolve(void (left = next)),
      });
      return { ...outcome, left };
    };
    const states = async () =>
      (
        await sql<{
          state: string;
        }>`select state from notification_deliveries order by created_at_ms, event_id`.execute(database.kysely)
      ).rows.map(({ state }) => state);

    // @spec notification-2
    test('lets one of several processes report what has a mark, until the mark is cleared', async () => {
      const both = await Promise.all([1, 2, 3].map(() => raise(deps, [{ ...EVENT, mark: 'a 80' }])));
      assert.equal(both.flat().length, 1);
      assert.deepEqual([...(await deps.outbox.marked(['a 80', 'a 100']))], ['a 80']);
      await deps.outbox.clearMarks(['a 80']);
      assert.equal((await raise(deps, [{ ...EVENT, mark: 'a 80' }])).length, 1);
    });

    test('hands an event on once, to the channels that want it, wherever a process ended before', async () => {
      await addChannel();
      await addChannel({ events: ['credits.*'] });
      await addChannel({ minSeverity: 'critical' });
      await addChannel({ workspaceIds: ['00000000-0000-4000-8000-00000000000a'] });
      await raise(deps, [EVENT, { ...EVENT, subject: 'key:b', isSilent: true }]);
      await handOn(deps);
      await sql`update notification_events set state = 'new' where state = 'handed'`.execute(database.kysely);
      await handOn(deps);
      assert.equal(new Set(added.map(({ id }) => id)).size, 1);
      assert.deepEqual(await states(), ['queued']);
    });

    test('makes one message of events of one key within ten minutes', async () => {
      await addChannel();
      await raise(deps, [EVENT]);
      await handOn(deps);
      await raise(deps, [EVENT, EVENT]);
      await handOn(deps);
      assert.equal(added.length, 1);
      await run(added[0]?.checkpoint);
      assert.deepEqual([sent[0]?.text, sent[0]?.values], [' It happened 3 times.', { repeats: 3 }]);
      nowMs += 60_000;
      await raise(deps, [EVENT]);
      await handOn(deps);
      assert.equal(added[1]?.delayMs, 540_000);
    });

    // @spec notification-8
    test('holds all but critical events back in quiet hours, and sends them as one digest', async () => {
      await addChannel({ quietHours: { tz: 'Europe/Vienna', from: '11:00', to: '13:00' } });
      await raise(
        deps,
        ['a', 'b', 'c'].map((key) => ({ ...EVENT, subject: `key:${key}`, title: `Key ${key}` })),
      );
      await raise(deps, [{ ...EVENT, severity: 'critical', title: 'At once' }]);
      await handOn(deps);
      const outcomes: JobOutcome[] = [];
      for (const { checkpoint } of added) outcomes.push(await run(checkpoint));
      assert.deepEqual(outcomes.map((one) => String('afterMs' in one ? one.afterMs : one.state)).toSorted(), [
        '3600000',
        '3600000',
        '3600000',
        'done',
      ]);
      assert.deepEqual(
        sent.map(({ title }) => title),
        ['At once'],
      );
      nowMs += 3_600_000;
      // A first attempt that fails leaves what the digest took to the next one.
      result = { isSent: false, status: 500, error: 'no', kind: 'away' };
      const held = added.filter((_job, index) => outcomes[index]?.state !== 'done');
      const failed = await run(held[0]?.checkpoint);
      assert.equal(failed.state, 'again');
      result = SENT;
      await run(failed.left);
      for (const { checkpoint } of held.slice(1)) await run(checkpoint);
      assert.deepEqual(
        sent.map(({ title }) => title),
        ['At once', '3 notifications that waited', '3 notifications that waited'],
      );
      assert.deepEqual(sent[2]?.text.split('\n').toSorted(), [
        '- warning: Key a',
        '- warning: Key b',
        '- warning: Key c',
      ]);
      assert.equal(sent[1]?.id, sent[2]?.id);
      assert.deepEqual((await states()).toSorted(), ['merged', 'merged', 'sent', 'sent']);
    });

    test('names each held event in one message where several runs begin at once', async () => {
      await addChannel({ quietHours: { tz: 'Europe/Vienna', from: '11:00', to: '13:00' } });
      await raise(
        deps,
        ['a', 'b', 'c'].map((key) => ({ ...EVENT, subject: `key:${key}`, title: `Key ${key}` })),
      );
      await handOn(deps);
      for (const { checkpoint } of added) await run(checkpoint);
      nowMs += 3_600_000;
      await Promise.all(added.map(({ checkpoint }) => run(checkpoint)));
      const all = sent.map(({ title, text }) => `${title} ${text}`).join('\n');
      assert.deepEqual(all.match(/Key [abc]/g)?.toSorted(), ['Key a', 'Key b', 'Key c']);
    });

    // @spec notification-8
    test('sends no more an hour than the channel takes, and the rest at the full hour', async () => {
      await addChannel({ maxPerHour: 1 });
      await raise(
        deps,
        ['a', 'b'].map((key) => ({ ...EVENT, subject: `key:${key}` })),
      );
      await handOn(deps);
      await run(added[0]?.checkpoint);
      nowMs += 600_000;
      const second = await run(added[1]?.checkpoint);
      assert.deepEqual([second.state, 'afterMs' in second && second.afterMs], ['again', 3_000_000]);
      nowMs += 3_000_000;
      await run(added[1]?.checkpoint);
      assert.deepEqual(await states(), ['sent', 'sent']);
    });

    // @spec notification-5
    test('tries again ever later, as the address says, and gives up after eight attempts or three refusals', async () => {
      await addChannel();
      const attempts = async (failure: SendResult): Promise<readonly unknown[]> => {
        result = failure;
        await raise(deps, [{ ...EVENT, subject: `key:${added.length}` }]);
        await handOn(deps);
        const waits: unknown[] = [];
        for (;;) {
          const outcome = await run(added.at(-1)?.checkpoint);
          if (outcome.state !== 'again') return [...waits, outcome.state];
          waits.push(outcome.afterMs / 1_000);
        }
      };
      const away = { isSent: false, status: 503, error: 'no', kind: 'away' } as const;
      assert.deepEqual(await attempts(away), [30, 120, 600, 1_800, 7_200, 21_600, 43_200, 'failed']);
      assert.equal((await deps.channels.all())[0]?.state, 'failing');
      assert.deepEqual(await attempts({ ...away, kind: 'refused' }), [30, 120, 'failed']);
      assert.deepEqual((await attempts({ ...away, afterMs: 3_000_000 }))[0], 3_000);
      assert.deepEqual((await states()).toSorted(), ['failed', 'failed', 'failed']);
    });

    // @spec notification-6
    test('switches a channel off after a day of failure or twenty failed events', async () => {
      const channel = await addChannel();
      await addChannel({ name: 'other', events: ['webhook.disabled'] });
      result = { isSent: false, status: 500, error: 'no', kind: 'away' };
      await deps.channels.progress(channel.id, { failingSinceMs: NOON_MS - 86_400_000, failures: 9 });
      await raise(deps, [EVENT]);
      await handOn(deps);
      await run(added[0]?.checkpoint);
      const off = await deps.channels.find(channel.id);
      assert.deepEqual([off?.state, off?.enabled], ['disabled', false]);
      await handOn(deps);
      assert.equal(added.length, 2);
      // What waited for it is dropped.
      await run(added[0]?.checkpoint);
      assert.ok((await states()).includes('dropped'));
    });

    test('forgets events after 30 days, but for marks whose window is open', async () => {
      await raise(deps, [
        { ...EVENT, mark: 'over', markUntilMs: NOON_MS },
        { ...EVENT, mark: 'open', markUntilMs: null },
        EVENT,
      ]);
      assert.equal(await deps.outbox.clearAway(NOON_MS + 1, NOON_MS + 1), false);
      assert.deepEqual([...(await deps.outbox.marked(['over', 'open']))], ['open']);
    });
  });
