import assert from 'node:assert/strict';
import { after, before, suite, test } from 'node:test';
import { systemClock as clock } from '../../lib/clock.ts';
import { openDatabase, type Database } from '../engine/database.ts';
import { createAppender } from '../../../tests/support/store/append.ts';
import { ALL_ENGINES, type Place } from '../../../tests/support/store/engines.ts';
import { sampleGeneration } from '../../../tests/support/store/generations.ts';
import type { GenerationRow } from './columns.ts';
import { searchGenerations, type GenerationSearch } from './generation-search.ts';

const RESCUED = { code: 'answer-rescued', path: '', message: 'by Beta' } as const;

/** Every one differs from the sample in what its id says. */
const ROWS: readonly Partial<GenerationRow>[] = [
  { id: 'model', model: 'other/a_b' },
  { id: 'like', model: 'other/axb' },
  { id: 'requested', modelRequested: 'alias' },
  { id: 'provider', provider: 'beta' },
  { id: 'key', keyHash: 'k' },
  { id: 'workspace', workspaceId: 'w' },
  { id: 'session', sessionId: 's' },
  { id: 'requestId', requestId: 'r' },
  { id: 'user', endUserHash: 'u' },
  { id: 'app', appTitle: 'Console', appUrl: null },
  { id: 'preset', presetSlug: 'p' },
  { id: 'router', strategy: 'auto' },
  { id: 'task', taskType: 'code' },
  { id: 'finish', finishReason: 'length' },
  { id: 'cached', responseCacheSourceId: 'gen-1' },
  { id: 'byok', isByok: true },
  { id: 'rescued', warnings: [RESCUED] },
  { id: 'quiet', warnings: [] },
  { id: 'dear', costNanoUsd: 9_000_000 },
  { id: 'unknown-price', costNanoUsd: null },
  { id: 'slow', latencyMs: 99_000 },
  { id: 'late', timeToFirstTokenMs: 88_000 },
  { id: 'limited', status: 429 },
  { id: 'broken', status: 502 },
  { id: 'gone', cancelled: true },
  { id: 'judged', origin: 'judge' },
  { id: 'sent', origin: null },
];

const FOUND: readonly (readonly [Partial<GenerationSearch>, readonly string[]])[] = [
  [{ equal: { model: 'other/a_b' } }, ['model']],
  [{ equal: { model: 'other/*' } }, ['like', 'model']],
  [{ equal: { model: 'other/a_*' } }, ['model']],
  [{ equal: { requested: 'alias' } }, ['requested']],
  [{ equal: { provider: 'beta' } }, ['provider']],
  [{ origin: 'judge' }, ['judged']],
  [{ origin: 'request' }, ['sent']],
  [{ equal: { key: 'k' } }, ['key']],
  [{ onlyKey: 'k' }, ['key']],
  [{ equal: { workspace: 'w' } }, ['workspace']],
  [{ equal: { session: 's' } }, ['session']],
  [{ equal: { requestId: 'r' } }, ['requestId']],
  [{ equal: { user: 'u' } }, ['user']],
  [{ equal: { app: 'Console' } }, ['app']],
  [{ equal: { preset: 'p' } }, ['preset']],
  [{ equal: { router: 'auto' } }, ['router']],
  [{ equal: { task: 'code' } }, ['task']],
  [{ equal: { finish: 'length' } }, ['finish']],
  [{ isCached: true }, ['cached']],
  [{ isByok: true }, ['byok']],
  [{ isRescued: true }, ['rescued']],
  [{ isWarned: false }, ['quiet']],
  [{ costMinNanoUsd: 9_000_000 }, ['dear']],
  [{ latencyMinMs: 99_000 }, ['slow']],
  [{ firstTokenMinMs: 88_000 }, ['late']],
  [{ status: 429 }, ['limited']],
  [{ status: '4xx' }, ['limited']],
  [{ status: '5xx' }, ['broken']],
  [{ status: 'error' }, ['broken', 'limited']],
  [{ status: 'cancelled' }, ['gone']],
  [{ equal: { key: 'k', provider: 'beta' } }, []],
];

for (const { name, makePlace } of ALL_ENGINES)
  suite(`a search for generations: ${name}`, () => {
    let database: Database;
    let place: Place;
    before(async () => {
      place = await makePlace();
      database = await openDatabase({ ...place, clock });
      const store = createAppender(database);
      const usual = { responseCacheSourceId: null, costNanoUsd: 5, latencyMs: 1, timeToFirstTokenMs: 1 };
      // Two of each ms, so that the id has to decide.
      for (const [at, row] of ROWS.entries())
        await store.append(sampleGeneration({ ...usual, createdAtMs: 1_000 + Math.floor(at / 2), ...row }));
    });
    after(async () => {
      await database.close();
      await place.remove();
    });

    const search = (more: Partial<GenerationSearch>) =>
      searchGenerations(database, { limit: 100, lookedAtMax: 1_000, equal: {}, ...more });
    const idsOf = async (more: Partial<GenerationSearch>) => (await search(more)).rows.map(({ id }) => id);

    for (const [filter, ids] of FOUND)
      test(`finds what fits ${JSON.stringify(filter)}`, async () => {
        assert.deepEqual((await idsOf(filter)).toSorted(), ids.toSorted());
      });

    test('gives pages that neither repeat nor leave out a record, to the last one', async () => {
      const all = await idsOf({});
      assert.equal(all.length, ROWS.length);
      const seen: string[] = [];
      let behind: GenerationSearch['after'];
      for (let page = 0; page < 20; page++) {
        const { rows, next, endedEarly } = await search({ limit: 3, after: behind });
        assert.equal(endedEarly, false);
        seen.push(...rows.map(({ id }) => id));
        behind = next;
        if (behind === undefined) break;
      }
      assert.deepEqual(seen, all);
      assert.equal(behind, undefined);
    });

    for (const onlyKey of ['k', sampleGeneration({}).keyHash])
      test(`leads a caller of the key ${onlyKey} on by places of its own, and leaves out none`, async () => {
        const own = await idsOf({ onlyKey });
        const seen: string[] = [];
        let behind: GenerationSearch['after'];
        for (let page = 0; page < 40; page++) {
          const { rows, next } = await search({ onlyKey, lookedAtMax: 3, limit: 2, after: behind });
          seen.push(...rows.map(({ id }) => id));
          behind = next;
          if (behind === undefined) break;
          assert.ok(['', ...own].includes(behind.id), behind.id);
        }
        assert.equal(behind, undefined);
        assert.deepEqual(seen, own);
      });

    test('looks at no more than its bound, says where it ended, and goes on from there', async () => {
      const first = await search({ equal: { model: 'other/a_b' }, lookedAtMax: 10 });
      assert.deepEqual([first.rows, first.lookedAt, first.endedEarly], [[], 10, true]);
      let { next } = first;
      let found: readonly GenerationRow[] = [];
      for (let look = 0; look < 5 && next !== undefined; look++)
        ({ rows: found, next } = await search({ equal: { model: 'other/a_b' }, lookedAtMax: 10, after: next }));
      assert.deepEqual(
        found.map(({ id }) => id),
        ['model'],
      );
    });

    test('counts what it looked at, to the last row of a full page and to the end of a range', async () => {
      assert.equal((await search({ limit: 2 })).lookedAt, 2);
      assert.equal((await search({ limit: 1, equal: { key: 'k' } })).lookedAt, ROWS.length);
      const ranged = await search({ fromMs: 1_001, toMs: 1_003 });
      assert.deepEqual([ranged.rows.length, ranged.lookedAt, ranged.next], [4, 4, undefined]);
    });
  });
