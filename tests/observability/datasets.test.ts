import assert from 'node:assert/strict';
import { after, before, suite, test } from 'node:test';
import { DEFAULT_WORKSPACE_ID } from '../../src/accounts/principal.ts';
import { systemClock as clock } from '../../src/lib/clock.ts';
import { isJsonObject, type JsonObject } from '../../src/lib/json.ts';
import { openDatabase } from '../../src/store/engine/database.ts';
import { manage } from '../support/byok.ts';
import { captureCli } from '../support/cli/capture-cli.ts';
import { API_KEY, MANAGEMENT_KEY, startGateway, type RunningGateway } from '../support/gateway.ts';
import { createAppender } from '../support/store/append.ts';
import { ENGINES } from '../support/store/engines.ts';
import { sampleGeneration } from '../support/store/generations.ts';

const DAY_MS = 86_400_000;
const TODAY_MS = Date.now() - (Date.now() % DAY_MS);
const dateOf = (ms: number): string => new Date(ms).toISOString().slice(0, 10);
const [YESTERDAY, BEFORE] = [TODAY_MS - DAY_MS, TODAY_MS - 2 * DAY_MS];
const SHOP = 'https://shop.example';
const DESK = 'https://desk.example';

/** Requests: when, what, and how they differ from a plain one. */
const ROWS: readonly object[] = [
  // The last millisecond of a day belongs to it.
  { createdAtMs: TODAY_MS - 1, model: 'acme/one', appUrl: SHOP, tokensPrompt: 900, keyHash: 'a', sessionId: 's1' },
  { createdAtMs: YESTERDAY, model: 'acme/one', appUrl: SHOP, tokensPrompt: 90, keyHash: 'b', sessionId: 's1' },
  { createdAtMs: YESTERDAY + 1, model: 'acme/two', appUrl: DESK, tokensPrompt: 40, keyHash: 'a', costNanoUsd: 1_000 },
  { createdAtMs: YESTERDAY + 2, model: 'acme/two', appUrl: DESK, tokensPrompt: 40, keyHash: 'a', costNanoUsd: 3_000 },
  { createdAtMs: YESTERDAY + 3, model: 'acme/two', appUrl: DESK, tokensPrompt: 40, keyHash: 'a', costNanoUsd: 8_000 },
  { createdAtMs: YESTERDAY + 4, model: 'acme/two', appUrl: DESK, tokensPrompt: 40, keyHash: 'a', costNanoUsd: 9_000 },
  { createdAtMs: YESTERDAY + 5, model: 'acme/two', appUrl: DESK, tokensPrompt: 7, costNanoUsd: null, keyHash: 'a' },
  { createdAtMs: YESTERDAY + 6, model: 'acme/judge', appUrl: SHOP, tokensPrompt: 5_000, origin: 'judge' },
  { createdAtMs: BEFORE, model: 'acme/one', appUrl: SHOP, tokensPrompt: 90, keyHash: 'a' },
  { createdAtMs: BEFORE + 1, model: 'acme/one', appUrl: SHOP, tokensPrompt: 90, keyHash: 'a' },
  { createdAtMs: TODAY_MS, model: 'acme/today', tokensPrompt: 9_999 },
];

for (const engine of ENGINES)
  suite(`datasets over ${engine.name}`, () => {
    let gateway: RunningGateway;
    before(async () => {
      const place = await engine.makePlace();
      gateway = await startGateway({ ...(place.url !== undefined && { yaml: `database_url: ${place.url}` }) });
      const path = place.url === undefined ? `${gateway.dataDir}/gateway.db` : place.path;
      const database = await openDatabase({ path, url: place.url, clock });
      const store = createAppender(database);
      const plain = { workspaceId: DEFAULT_WORKSPACE_ID, memberId: null, tokensCompletion: 10, costNanoUsd: 2_000 };
      for (const [index, row] of ROWS.entries()) {
        const id = `gen-${index}`;
        const names = { id, requestId: id, sessionId: null, origin: null, appUrl: null, apiType: 'chat' as const };
        await store.append({
          ...sampleGeneration(),
          ...plain,
          appTitle: null,
          listCostNanoUsd: null,
          ...names,
          ...row,
        });
      }
      await database.close();
    });
    after(() => gateway.close());

    const read = async (path: string): Promise<readonly JsonObject[]> => {
      const { status, body, text } = await manage(gateway, 'GET', `/datasets/${path}`);
      assert.equal(status, 200, text);
      const { data } = body;
      assert.ok(Array.isArray(data));
      return data.filter((row) => isJsonObject(row));
    };
    const refused = async (path: string): Promise<string> => {
      const { status, text } = await manage(gateway, 'GET', `/datasets/${path}`);
      assert.equal(status, 400, text);
      return text;
    };

    // @spec dataset-1, dataset-2
    test('rank models by day, without what the gateway made for itself', async () => {
      const rows = await read('rankings-daily');
      assert.deepEqual(
        rows.map(({ date, model_permaslug, total_tokens }) => [date, model_permaslug, total_tokens]),
        [
          [dateOf(BEFORE), 'acme/one', '200'],
          [dateOf(YESTERDAY), 'acme/one', '1010'],
          [dateOf(YESTERDAY), 'acme/two', '217'],
        ],
      );
      assert.deepEqual(await read(`rankings-daily?start_date=${dateOf(BEFORE)}&end_date=${dateOf(BEFORE)}`), [
        { date: dateOf(BEFORE), model_permaslug: 'acme/one', total_tokens: '200' },
      ]);
      const months = await read('rankings-daily?period=month');
      const sum = months.reduce((total, { total_tokens: tokens }) => total + Number(tokens), 0);
      assert.equal(sum, 1_427);
      assert.ok(months.every(({ date }) => typeof date === 'string' && date.endsWith('-01')));
    });

    // @spec dataset-2, dataset-5
    test('merge what few keys used, and refuse what nothing classifies', async () => {
      const rows = await read(`rankings-daily?min_group=2&start_date=${dateOf(YESTERDAY)}`);
      assert.deepEqual(
        rows.map(({ model_permaslug, total_tokens }) => [model_permaslug, total_tokens]),
        [
          ['acme/one', '1010'],
          ['other', '217'],
        ],
      );
      assert.match(await refused('rankings-daily?category=legal'), /"path":"query.category"/);
      assert.match(await refused('rankings-daily?end_date=2024-12-31'), /"path":"query.end_date"/);
      assert.match(await refused('rankings-daily?start_date=2100-01-01'), /"path":"query.start_date"/);
      assert.match(await refused('rankings-daily?min_group=0'), /min_group/);
      assert.equal((await manage(gateway, 'GET', '/datasets/rankings-daily', undefined, API_KEY)).status, 403);
    });

    // @spec dataset-3, dataset-5
    test('rank applications by tokens, and by growth over the times before', async () => {
      const yesterday = `start_date=${dateOf(YESTERDAY)}`;
      const namesOf = (rows: readonly JsonObject[]) =>
        rows.map(({ rank, app_name, total_tokens, total_requests }) => [rank, app_name, total_tokens, total_requests]);
      assert.deepEqual(namesOf(await read(`app-rankings?${yesterday}`)), [
        [1, SHOP, '1010', 2],
        [2, DESK, '217', 5],
      ]);
      // Five requests where none had been, against two after a mean of 4/3.
      assert.deepEqual(namesOf(await read(`app-rankings?${yesterday}&sort=trending`)), [
        [1, DESK, '217', 5],
        [2, SHOP, '1010', 2],
      ]);
      assert.deepEqual(namesOf(await read(`app-rankings?${yesterday}&offset=1&limit=1`)), [[2, DESK, '217', 5]]);
      assert.deepEqual(namesOf(await read(`app-rankings?${yesterday}&min_group=2`)), [[1, SHOP, '1010', 2]]);
      assert.match(await refused('app-rankings?category=coding'), /"path":"query.category"/);
    });

    // @spec dataset-4, dataset-5
    test('give the exact median of what sessions cost, by application, model and turns', async () => {
      const cells = await read('session-cost');
      const shown = cells.map((cell) => [
        cell['app_slug'],
        cell['model_permaslug'],
        cell['turn_range'],
        cell['sessions'],
        cell['median_session_cost_usd'],
      ]);
      assert.deepEqual(shown, [
        // Of 1, 3, 8 and 9: one of unknown price is left out.
        [DESK, 'acme/two', '1-turn', 4, 0.0000055],
        [SHOP, 'acme/one', '1-turn', 2, 0.000002],
        [SHOP, 'acme/one', '2-9-turns', 1, 0.000004],
      ]);
      assert.equal((await read('session-cost?turn_range=2-9-turns')).length, 1);
      assert.equal((await read('session-cost?model=acme/two&limit=1')).length, 1);
      assert.deepEqual(await read('session-cost?min_group=2'), []);
    });

    test('are shown by the command line, whose flags go to the gateway', async () => {
      const run = (...args: readonly string[]) =>
        captureCli(['datasets', ...args, '--url', gateway.url, '--key', MANAGEMENT_KEY]);
      const days = ['--start', dateOf(YESTERDAY), '--end', dateOf(YESTERDAY)];
      const apps = await run('apps', ...days, '--limit', '1');
      assert.deepEqual([apps.code, apps.stderr], [0, '']);
      assert.match(apps.stdout, /^rank {2}application +tokens +requests\n1 +https:\/\/shop\.example +1010 +2\n$/);
      const json = await run('sessions', '--model', 'acme/two', '--json');
      assert.match(json.stdout, /"sessions":4/);
      assert.match((await run('rankings', ...days)).stdout, /acme\/one +1010/);
      const wrong = await run('apps', ...days, '--sort', 'size');
      assert.equal(wrong.code, 1);
      assert.match(wrong.stderr, /sort/);
      assert.deepEqual([(await run('apps', '--turns', '1')).code, (await run('all')).code], [2, 2]);
    });
  });
