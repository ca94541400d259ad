import assert from 'node:assert/strict';
import { after, before, suite, test } from 'node:test';
import { createSecretBox, secretFrom } from '../lib/secret-box.ts';
import { openDatabase, type Database } from '../store/engine/database.ts';
import { createContentStore, type ContentStore } from '../store/generations/generation-content.ts';
import { ALL_ENGINES, type Place } from '../../tests/support/store/engines.ts';
import { createContentLog, type ContentLog } from './content-log.ts';
import type { GenerationContent } from './serialize-content.ts';

const DAY_MS = 86_400_000;
const CONTENT: GenerationContent = {
  input: { messages: [{ role: 'user', content: 'Hello' }] },
  output: { completion: 'Hi', reasoning: null },
  error: null,
};

for (const engine of ALL_ENGINES)
  suite(`what was said, over ${engine.name}`, () => {
    let nowMs = Date.parse('2026-11-01T00:00:00Z');
    const clock = { nowMs: () => nowMs, monotonicMs: () => nowMs };
    const box = createSecretBox([secretFrom('a secret of the test')]);
    const lost: string[] = [];
    let place: Place;
    let database: Database;
    let store: ContentStore;
    let log: ContentLog;
    before(async () => {
      place = await engine.makePlace();
      database = await openDatabase({ ...place, clock });
      store = createContentStore({ database });
      log = createContentLog({
        store,
        switches: { get: () => assert.fail('not asked') },
        box: () => Promise.resolve(box),
        clock,
        retentionMs: 30 * DAY_MS,
        onLost: (id) => lost.push(id),
      });
    });
    after(async () => {
      await log.close();
      await database.close();
      await place.remove();
    });
    const record = (id: string, createdMs = nowMs) => ({
      id,
      createdMs,
      principal: { keyHash: 'k', accountId: 'default', workspaceId: 'w', memberId: null },
    });

    // @spec generation-11
    test('comes back as it was, and is sealed where it lies', async () => {
      await log.keep(record('gen-1'), CONTENT);
      assert.deepEqual(await log.find('gen-1'), CONTENT);
      const row = await store.find('gen-1');
      assert.ok(row !== undefined && !row.sealed.includes('Hello'));
      assert.equal(row.secretId, box.currentId);
    });

    test('opens for its own generation only', async () => {
      const row = await store.find('gen-1');
      assert.ok(row !== undefined);
      await store.insert([{ ...row, generationId: 'gen-stolen' }]);
      await assert.rejects(log.find('gen-stolen'), /cannot be decrypted/);
    });

    // @spec generation-11
    test('is gone when its time is over, a bounded number at once', async () => {
      const old = Array.from({ length: 450 }, (_, index) => `gen-old-${index}`);
      for (let at = 0; at < old.length; at += 50)
        await Promise.all(old.slice(at, at + 50).map((id) => log.keep(record(id), CONTENT)));
      nowMs += 29 * DAY_MS;
      assert.equal(await log.purge(), false);
      assert.deepEqual(await log.find('gen-old-1'), CONTENT);
      await log.keep(record('gen-young'), CONTENT);
      nowMs += 2 * DAY_MS;
      assert.equal(await log.find('gen-old-1'), undefined, 'not even before it is deleted');
      const rounds: boolean[] = [];
      do rounds.push(await log.purge());
      while (rounds.at(-1) === true);
      assert.deepEqual(rounds, [true, true, false]);
      assert.equal(await store.find('gen-old-449'), undefined);
      assert.deepEqual(await log.find('gen-young'), CONTENT);
      assert.deepEqual(lost, []);
    });
  });
