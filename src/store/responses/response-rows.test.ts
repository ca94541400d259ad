import assert from 'node:assert/strict';
import { suite, test, type TestContext } from 'node:test';
import { sql } from 'kysely';
import { systemClock } from '../../lib/clock.ts';
import { createSecretBox, secretFrom, type SecretBox } from '../../lib/secret-box.ts';
import { createSealedRows } from '../accounts/sealed-rows.ts';
import { openDatabase, type Database } from '../engine/database.ts';
import { createStoredRows, type StoredRows } from './response-rows.ts';
import { storedResponsePurpose } from './sealing.ts';
import { ENGINES, type Place } from '../../../tests/support/store/engines.ts';
import { KEY, makeRow, OTHER_KEY, testResponseRows } from '../../../tests/support/store/response-rows.ts';

const DAY_MS = 86_400_000;
const OLD = secretFrom('the first secret');
const NEW = secretFrom('another secret');

interface Opened {
  readonly database: Database;
  readonly rows: StoredRows;
  /** Goes on in time. */
  readonly later: (ms: number) => void;
  readonly use: (box: SecretBox) => void;
}

async function open(
  t: Pick<TestContext, 'after'>,
  makePlace: () => Promise<Place>,
  { retentionMs = 30 * DAY_MS, bytesMaxPerKey = 10_000_000 } = {},
): Promise<Opened> {
  const place = await makePlace();
  let passedMs = 0;
  const clock = { nowMs: () => Date.now() + passedMs, monotonicMs: () => performance.now() + passedMs };
  const database = await openDatabase({ ...place, clock });
  t.after(async () => {
    await database.close();
    await place.remove();
  });
  let box = createSecretBox([OLD]);
  const rows = createStoredRows({
    database,
    box: () => Promise.resolve(box),
    clock,
    retentionMs,
    bytesMaxPerKey,
    eventsMs: DAY_MS,
  });
  return {
    database,
    rows,
    later(ms) {
      passedMs += ms;
    },
    use(other) {
      box = other;
    },
  };
}

const TABLES = [
  'stored_responses',
  'stored_items',
  'stored_media',
  'stored_media_uses',
  'background_responses',
  'response_events',
] as const;

/** Everything that the tables hold, as text. */
async function dump({ kysely }: Database): Promise<string> {
  const tables = await Promise.all(TABLES.map((table) => sql`select * from ${sql.table(table)}`.execute(kysely)));
  return JSON.stringify(tables.map(({ rows }) => rows));
}

const NOTHING = JSON.stringify(TABLES.map(() => []));
const TEXT = 'the caller wrote this';
const URL = `data:image/png;base64,${'QUJD'.repeat(30_000)}`;
const withText = (id: string): ReturnType<typeof makeRow> =>
  makeRow(id, {
    items: JSON.stringify([[{ id: `in_${id}`, text: TEXT }], []]),
    object: JSON.stringify({ text: TEXT }),
  });
const withImage = (id: string): ReturnType<typeof makeRow> =>
  makeRow(id, { items: JSON.stringify([[{ id: `in_${id}`, image_url: URL, text: `see "${id}"` }], []]) });

for (const { name, makePlace } of ENGINES) {
  suite(`responses that are kept in the database: ${name}`, () => {
    testResponseRows(async (t) => (await open(t, makePlace)).rows);

    // @spec responses-pains-40
    test('are sealed: no byte of a text is there to read', async (t) => {
      const { database, rows } = await open(t, makePlace);
      await rows.put(withText('a'));
      const stored = await dump(database);
      assert.ok(stored.includes('in_a') && !stored.includes(TEXT));
      const stranger = createStoredRows({
        database,
        box: () => Promise.resolve(createSecretBox([NEW])),
        clock: systemClock,
        retentionMs: 0,
        bytesMaxPerKey: 1,
        eventsMs: DAY_MS,
      });
      await assert.rejects(stranger.find('a', KEY), /secret/);
    });

    // @spec responses-pains-40
    test('leave nothing behind when they are deleted, expire, or go with their key', async (t) => {
      const { database, rows, later } = await open(t, makePlace);
      for (const id of ['a', 'b', 'c']) await rows.put(id === 'b' ? withImage(id) : withText(id));
      assert.equal(await rows.delete('a', KEY), true);
      await rows.deleteOf({ accountId: 'default', workspaceId: 'w1', keyHash: 'k1' });
      await rows.put(withImage('d'));
      later(30 * DAY_MS + 1);
      assert.equal(await rows.find('d', KEY), undefined);
      assert.deepEqual(await rows.findChain('d', KEY, { linksMax: 10, charsMax: 1_000_000 }), []);
      assert.equal(await rows.clearAway(), false);
      assert.equal(await dump(database), NOTHING);
    });

    test('keep a large file once for all responses of a workspace, as long as one of them is there', async (t) => {
      const { database, rows, later } = await open(t, makePlace, { retentionMs: 0 });
      const [a, b] = [withImage('a'), { ...withImage('b'), owner: OTHER_KEY }];
      await rows.put(a);
      await rows.put(b);
      const { rows: media } = await sql`select id from stored_media`.execute(database.kysely);
      assert.equal(media.length, 1);
      assert.deepEqual(await rows.find('a', KEY), a);
      await rows.delete('a', KEY);
      later(DAY_MS);
      await rows.clearAway();
      assert.deepEqual(await rows.find('b', OTHER_KEY), b);
      await rows.delete('b', OTHER_KEY);
      later(DAY_MS);
      await rows.clearAway();
      assert.equal(await dump(database), NOTHING);
    });

    test('make room for younger ones of the same key, and take none over a tenth of its room', async (t) => {
      const { rows } = await open(t, makePlace, { bytesMaxPerKey: 50_000 });
      assert.equal(
        await rows.put(makeRow('large', { items: JSON.stringify([[{ text: 'x'.repeat(5_000) }], []]) })),
        false,
      );
      const items = JSON.stringify([[{ text: 'x'.repeat(4_000) }], []]);
      await rows.put(makeRow('other', { owner: OTHER_KEY, items }));
      for (let index = 0; index < 14; index++) assert.equal(await rows.put(makeRow(`r${index}`, { items })), true);
      await rows.clearAway();
      const left = await Promise.all(Array.from({ length: 14 }, (_, index) => rows.find(`r${index}`, KEY)));
      assert.deepEqual(
        left.map((row) => row?.id).filter((id) => id !== undefined),
        Array.from({ length: 12 }, (_, index) => `r${index + 2}`),
      );
      assert.equal((await rows.find('other', OTHER_KEY))?.id, 'other');
    });

    test('are sealed anew with another secret, with their files, requests and events, and readable all the time', async (t) => {
      const { database, rows, use } = await open(t, makePlace);
      const row = withImage('a');
      await rows.put(row);
      const owner = { ...KEY, keyHash: KEY.keyHash ?? '' };
      const task = { id: 'a', owner, createdAtMs: 1, request: 'what to run', generationId: 'gen-a' };
      assert.equal(await rows.tasks.add(task, 1), true);
      const batch = { firstNumber: 0, lastNumber: 1, frames: 'what was sent' };
      await rows.events.append('a', owner, batch);
      const both = createSecretBox([NEW, OLD]);
      for (const place of ['responses', 'responseMedia', 'backgroundResponses', 'responseEvents'] as const) {
        const sealed = createSealedRows(database)[place];
        assert.deepEqual(await sealed.secretIds(), [OLD.id]);
        for (const each of await sealed.sealedByOthers(NEW.id, '', 10)) {
          const purpose = storedResponsePurpose(each.context ?? '');
          assert.equal(await sealed.reseal(each, both.seal(both.open(each.sealed, purpose), purpose), NEW.id), true);
        }
        assert.deepEqual(await sealed.secretIds(), [NEW.id]);
      }
      // This process had opened it with the secret of before.
      use(createSecretBox([NEW]));
      assert.deepEqual(await rows.find('a', KEY), row);
      assert.deepEqual(await rows.events.readAfter('a', -1), [batch]);
      const claimed = await rows.tasks.claim('one', { perKey: 1, leaseMs: 1_000 });
      assert.equal(claimed?.request, 'what to run');
    });
  });
}
