import assert from 'node:assert/strict';
import { after, before, suite, test } from 'node:test';
import { isJsonObject, parseJsonObject, type Json, type JsonObject } from '../../src/lib/json.ts';
import { DEFAULT_WORKSPACE_ID } from '../../src/accounts/principal.ts';
import { openDatabase, type Database } from '../../src/store/engine/database.ts';
import { createAppender } from '../support/store/append.ts';
import { ENGINES } from '../support/store/engines.ts';
import { appIdOf } from '../../src/lib/ids.ts';
import { sampleGeneration } from '../support/store/generations.ts';
import { createUsageReports } from '../../src/store/usage/usage-reports.ts';
import { createUsageRollup } from '../../src/store/usage/usage-rollup.ts';
import { systemClock as clock } from '../../src/lib/clock.ts';
import { API_KEY, MANAGEMENT_KEY, startGateway, type RunningGateway } from '../support/gateway.ts';
import { textOf } from '../support/reported.ts';

const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;
const TODAY_MS = Date.now() - (Date.now() % DAY_MS);
const dayOf = (ms: number): string => new Date(ms).toISOString().slice(0, 10);
/** Yesterday, two days ago, and long ago. */
const [YESTERDAY, BEFORE, LONG_AGO] = [TODAY_MS - DAY_MS, TODAY_MS - 2 * DAY_MS, TODAY_MS - 40 * DAY_MS];

for (const engine of ENGINES)
  suite(`activity and analytics over ${engine.name}`, () => {
    let gateway: RunningGateway;
    let database: Database;
    let keyHash = '';

    const call = async (method: string, path: string, body?: object, key = MANAGEMENT_KEY) => {
      const answer = await fetch(gateway.baseUrl + path, {
        method,
        headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
        ...(body !== undefined && { body: JSON.stringify(body) }),
      });
      return { status: answer.status, body: parseJsonObject(await answer.text()) ?? {} };
    };
    async function query(body: object): Promise<readonly JsonObject[]> {
      const { status, body: answer } = await call('POST', '/analytics/query', body);
      assert.equal(status, 200, JSON.stringify(answer));
      const rows = isJsonObject(answer['data']) ? answer['data']['data'] : undefined;
      assert.ok(Array.isArray(rows));
      return rows;
    }
    const range = { start: new Date(BEFORE).toISOString(), end: new Date(TODAY_MS).toISOString() };

    before(async () => {
      const place = await engine.makePlace();
      gateway = await startGateway({
        ...(place.url !== undefined && { yaml: `database_url: ${place.url}` }),
      });
      const { body } = await call('POST', '/keys', { name: 'Shop' });
      keyHash = textOf(isJsonObject(body['data']) ? body['data']['hash'] : '');
      const path = place.url === undefined ? `${gateway.dataDir}/gateway.db` : place.path;
      database = await openDatabase({ path, url: place.url, clock });
      const store = createAppender(database);
      const rows = [
        { createdAtMs: YESTERDAY + 5, model: 'acme/one', keyHash, timeToFirstTokenMs: 100, country: 'NZ' },
        { createdAtMs: YESTERDAY + HOUR_MS, model: 'acme/one', keyHash, timeToFirstTokenMs: 300, status: 502 },
        {
          createdAtMs: YESTERDAY + 2 * HOUR_MS,
          model: 'acme/two',
          appUrl: null,
          timeToFirstTokenMs: null,
          fileCostNanoUsd: 300,
          toolCalls: null,
          toolFailures: null,
        },
        { createdAtMs: BEFORE, model: 'acme/two', memberId: 'ann', provider: 'sandbox' },
        { createdAtMs: LONG_AGO, model: 'acme/old' },
        { createdAtMs: TODAY_MS, model: 'acme/today', appUrl: 'https://new.example' },
      ];
      const base = sampleGeneration();
      await Promise.all(
        rows.map((row, index) =>
          store.append({
            ...base,
            workspaceId: DEFAULT_WORKSPACE_ID,
            memberId: null,
            tokensPrompt: 100,
            tokensCompletion: 10,
            tokensCacheRead: 50,
            costNanoUsd: 2_000,
            webCostNanoUsd: 500,
            fileCostNanoUsd: null,
            toolCalls: 4,
            toolFailures: 1,
            country: null,
            ...row,
            id: `gen-${index}`,
          }),
        ),
      );
      const rollup = createUsageRollup({ database, lagMs: 0 });
      while (await rollup.step(Date.now()));
    });
    after(async () => {
      await database.close();
      await gateway.close();
    });

    // @spec analytics-11
    test('groups by what only records have, and refuses that for more than a month', async () => {
      const day = { start: new Date(YESTERDAY).toISOString(), end: new Date(TODAY_MS).toISOString() };
      const rows = await query({ metrics: ['request_count'], dimensions: ['status'], time_range: day });
      assert.deepEqual(new Set(rows.map(({ status }) => status)), new Set(['200', '502']));
      for (const dimension of ['error_type', 'preset', 'router', 'task'])
        assert.ok(
          (await query({ metrics: ['router_savings', 'rescue_count'], dimensions: [dimension], time_range: day }))
            .length > 0,
        );
      const long = { start: new Date(LONG_AGO).toISOString(), end: new Date(TODAY_MS).toISOString() };
      for (const body of [
        { metrics: ['request_count'], dimensions: ['status'], time_range: long },
        { metrics: ['router_savings'], time_range: long },
      ])
        assert.equal((await call('POST', '/analytics/query', body)).status, 400);
    });

    // @spec analytics-13
    test('groups and filters by the tags of a classifier, of which the last version counts', async () => {
      const classifierId = '0b8f6f3a-5a39-4a0e-9d44-2f3a5b1c7d10';
      const dimensions = ['team', 'mood', 'model'].map((name) => ({ name, values: [{ value: 'a' }, { value: 'b' }] }));
      const version = { classifier_id: classifierId, version: 2, model: 'm', prompt: '', created_at_ms: 1 };
      await database.kysely
        .insertInto('classifier_versions')
        .values({ ...version, dimensions: JSON.stringify(dimensions) })
        .execute();
      const tagged = [
        ['gen-0', 1, 'team', 'b', YESTERDAY + 5],
        ['gen-0', 2, 'team', 'a', YESTERDAY + 5],
        ['gen-1', 2, 'team', 'a', YESTERDAY + HOUR_MS],
        ['gen-1', 2, 'mood', 'b', YESTERDAY + HOUR_MS],
        ['gen-2', 2, 'mood', 'a', YESTERDAY + 2 * HOUR_MS],
      ] as const;
      await database.kysely
        .insertInto('generation_tags')
        .values(
          tagged.map(([generation_id, of, dimension, value, created_at_ms]) => ({
            classifier_id: classifierId,
            generation_id,
            version: of,
            dimension,
            value,
            created_at_ms,
          })),
        )
        .execute();
      const grouped = (more: object, rest: object = {}) =>
        query({
          metrics: ['request_count'],
          time_range: range,
          classifier_dimensions: { classifier_id: classifierId, ...more },
          ...rest,
        });
      assert.deepEqual(await grouped({ dimension_names: ['team'] }), [{ team: 'a', request_count: 2 }]);
      assert.deepEqual(await grouped({ dimension_names: ['team', 'mood'] }), [
        { team: 'a', mood: 'b', request_count: 1 },
      ]);
      assert.deepEqual(await grouped({ dimension_names: ['team'], include_nulls: true }), [
        { team: null, request_count: 2 },
        { team: 'a', request_count: 2 },
      ]);
      const pairs = { clf_dimension_name: 'team', clf_dimension_value: 'a', request_count: 2 };
      const series = await grouped({}, { granularity: 'day', order_by: { field: 'request_count', direction: 'desc' } });
      assert.deepEqual(series[0], { ...pairs, created_at__day: dayOf(YESTERDAY) });
      assert.deepEqual([series.length, (await grouped({ include_nulls: true })).length], [3, 4]);
      const filters = [{ field: 'mood', operator: 'in', value: ['b'] }];
      const classifier_filters = { classifier_id: classifierId, filters };
      assert.deepEqual(
        await query({ metrics: ['request_count'], dimensions: ['model'], time_range: range, classifier_filters }),
        [{ model: 'acme/one', request_count: 1 }],
      );
      const other = '11111111-5a39-4a0e-9d44-2f3a5b1c7d10';
      const long = { start: new Date(LONG_AGO).toISOString(), end: range.end };
      for (const [body, path] of [
        [{ classifier_dimensions: { classifier_id: other } }, 'classifier_dimensions.classifier_id'],
        [
          { classifier_dimensions: { classifier_id: classifierId, dimension_names: ['teams'] } },
          'classifier_dimensions.dimension_names[0]',
        ],
        [
          { dimensions: ['model'], classifier_dimensions: { classifier_id: classifierId, dimension_names: ['model'] } },
          'classifier_dimensions.dimension_names[0]',
        ],
        [{ classifier_filters, classifier_dimensions: { classifier_id: other } }, 'classifier_filters.classifier_id'],
        [
          { classifier_filters: { ...classifier_filters, filters: [{ field: 'mood', operator: 'in', value: 'b' }] } },
          'classifier_filters.filters[0].value',
        ],
        [{ classifier_filters, time_range: long }, 'time_range'],
      ] as const) {
        const { status, body: answer } = await call('POST', '/analytics/query', {
          metrics: ['request_count'],
          ...body,
        });
        assert.equal(status, 400);
        assert.ok(JSON.stringify(answer).includes(`"path":"${path}"`), `${path}: ${JSON.stringify(answer)}`);
      }
    });

    // @spec analytics-12
    test('begins days where a zone does, and adds up to the same', async () => {
      const body = { metrics: ['request_count'], granularity: 'day', time_range: range };
      const sumOf = (rows: readonly JsonObject[]): number =>
        rows.reduce((sum, { request_count: count }) => sum + Number(count), 0);
      const [utc, ahead] = [await query(body), await query({ ...body, timezone: '-02:00' })];
      assert.equal(sumOf(utc), sumOf(ahead));
      const first = (rows: readonly JsonObject[]): number =>
        Number(rows.find(({ created_at__day: date }) => date === dayOf(YESTERDAY))?.['request_count'] ?? 0);
      // Those of the first two hours are of the day before there.
      assert.ok(first(ahead) < first(utc), JSON.stringify([utc, ahead]));
      for (const timezone of ['Asia/Kolkata', 'Mars/Base', '+2']) {
        const { status, body: answer } = await call('POST', '/analytics/query', { ...body, timezone });
        assert.equal(status, 400);
        assert.match(JSON.stringify(answer), /timezone/);
      }
    });

    // @spec analytics-1
    test('lists complete days by model and endpoint, the newest first', async () => {
      const { body } = await call('GET', '/activity');
      const rows = body['data'] as readonly JsonObject[];
      const seen = rows.map(({ date, model, requests, prompt_tokens, usage }) => [
        date,
        model,
        requests,
        prompt_tokens,
        usage,
      ]);
      assert.deepEqual(seen, [
        [dayOf(YESTERDAY), 'acme/one', 2, 200, 0.000004],
        [dayOf(YESTERDAY), 'acme/two', 1, 100, 0.000002],
        [dayOf(BEFORE), 'acme/two', 1, 100, 0.000002],
      ]);
      assert.equal(rows[2]?.['provider_name'], 'Sandbox');
      assert.match(textOf(rows[0]?.['endpoint_id']), /^[0-9a-f-]{36}$/);
      assert.equal('workspace_id' in (rows[0] ?? {}), false);
    });

    // @spec analytics-1
    test('filters activity by day, key, member or workspace', async () => {
      const count = async (parameters: string): Promise<number> =>
        ((await call('GET', `/activity?${parameters}`)).body['data'] as readonly Json[]).length;
      assert.equal(await count(`date=${dayOf(BEFORE)}`), 1);
      assert.equal(await count(`api_key_hash=${keyHash}`), 1);
      assert.equal(await count('user_id=ann'), 1);
      assert.equal(await count('workspace_id=default&group_by=workspace'), 3);
      assert.equal((await call('GET', `/activity?date=${dayOf(TODAY_MS)}`)).status, 400);
      assert.equal((await call('GET', `/activity?date=${dayOf(LONG_AGO)}`)).status, 400);
      assert.equal((await call('GET', '/activity?workspace_id=nothing')).status, 404);
      assert.equal((await call('GET', '/activity?colour=red')).status, 400);
      assert.equal((await call('GET', '/activity', undefined, API_KEY)).status, 403);
    });

    // @spec analytics-3, analytics-7
    test('queries by model and day', async () => {
      const rows = await query({
        metrics: ['request_count', 'tokens_total', 'total_usage', 'cache_hit_rate', 'error_rate'],
        dimensions: ['model'],
        granularity: 'day',
        time_range: range,
      });
      const one = rows.find((row) => row['model'] === 'acme/one');
      assert.deepEqual(one, {
        created_at__day: dayOf(YESTERDAY),
        model: 'acme/one',
        request_count: 2,
        tokens_total: 220,
        total_usage: 0.000004,
        cache_hit_rate: 0.5,
        error_rate: 0.5,
      });
      assert.deepEqual(
        rows.map((row) => row['created_at__day']),
        [dayOf(BEFORE), dayOf(YESTERDAY), dayOf(YESTERDAY)],
      );
    });

    // @spec analytics-10
    test('sums up the cost of web and files, and the success of tools', async () => {
      const metrics = ['usage_data', 'usage_web', 'usage_file', 'tool_call_count', 'tool_success_rate'];
      const rows = await query({ metrics, granularity: 'day', time_range: range });
      const both = { usage_data: 0, usage_web: 0.000001, usage_file: 0.0000003 };
      assert.deepEqual(rows, [
        {
          ...both,
          created_at__day: dayOf(BEFORE),
          usage_web: 0.0000005,
          usage_file: 0,
          tool_call_count: 4,
          tool_success_rate: 0.75,
        },
        {
          ...both,
          created_at__day: dayOf(YESTERDAY),
          usage_web: 0.0000015,
          tool_call_count: 8,
          tool_success_rate: 0.75,
        },
      ]);
      const time_range = { start: new Date(YESTERDAY + 2 * HOUR_MS).toISOString(), end: range.end };
      const [none] = await query({ metrics: ['tool_success_rate'], time_range });
      assert.deepEqual(none, { tool_success_rate: null }, 'of no calls none failed, nor succeeded');
    });

    test('groups by country where a proxy sets it', async () => {
      const rows = await query({ metrics: ['request_count'], dimensions: ['country'], time_range: range });
      assert.deepEqual(rows, [
        { country: null, request_count: 3 },
        { country: 'NZ', request_count: 1 },
      ]);
    });

    // @spec analytics-5
    test('shows keys and workspaces by name, and filters them by id', async () => {
      const [row] = await query({
        metrics: ['request_count'],
        dimensions: ['api_key_id', 'workspace'],
        filters: [
          { field: 'api_key_id', operator: 'eq', value: keyHash },
          { field: 'workspace', operator: 'in', value: [DEFAULT_WORKSPACE_ID] },
        ],
      });
      assert.equal(row?.['api_key_id'], 'Shop');
      assert.equal(row['api_key_id__id'], keyHash);
      assert.equal(row['workspace__id'], DEFAULT_WORKSPACE_ID);
      assert.equal(row['request_count'], 2);
    });

    test('resolves a slug to the workspace that has it now', async () => {
      const make = async (): Promise<string> => {
        const { body } = await call('POST', '/workspaces', { name: 'Team', slug: 'moving' });
        return textOf(isJsonObject(body['data']) ? body['data']['id'] : '');
      };
      const gone = await make();
      assert.equal((await call('DELETE', `/workspaces/${gone}`)).status, 200);
      const here = await make();
      // Changed sums come last unless the query has an order.
      await database.kysely.updateTable('workspaces').set({ name: 'Gone' }).where('id', '=', gone).execute();
      const names = [...(await createUsageReports({ database }).workspaceNames())];
      assert.deepEqual(
        names.filter(([, { slug }]) => slug === 'moving').map(([id]) => id),
        [gone, here],
      );
    });

    // @spec analytics-5
    test('warns about an unknown id', async () => {
      const filters = [{ field: 'api_key_id', operator: 'eq', value: 'f'.repeat(64) }];
      const { status, body } = await call('POST', '/analytics/query', { metrics: ['request_count'], filters });
      assert.equal(status, 200);
      assert.match(JSON.stringify(body), /"warnings":\["filters\[0\]\.value: nothing is known by the id f+"\]/);
    });

    test('finds an application by its address and its number from its first call on', async () => {
      const { body } = await call('GET', '/generation?id=gen-5');
      const number = isJsonObject(body['data']) ? body['data']['app_id'] : undefined;
      assert.ok(typeof number === 'number');
      for (const value of [number, String(number), 'https://new.example']) {
        const requested = { metrics: ['request_count'], filters: [{ field: 'app', operator: 'eq', value }] };
        const answer = await call('POST', '/analytics/query', requested);
        assert.match(JSON.stringify(answer.body), /"request_count":1\b/);
        assert.doesNotMatch(JSON.stringify(answer.body), /warnings/);
      }
    });

    // @spec analytics-6
    test('groups unset values', async () => {
      const rows = await query({ metrics: ['request_count'], dimensions: ['app'], time_range: range });
      assert.deepEqual(new Set(rows.map((row) => row['app'])), new Set(['App', null]));
      const [ids] = await query({ metrics: ['request_count'], dimensions: ['origin', 'app'], time_range: range });
      assert.deepEqual([ids?.['origin'], ids?.['app']], ['https://app.example', 'App']);
      assert.equal(ids?.['app__id'], appIdOf('https://app.example'));
      const unset = await query({
        metrics: ['request_count'],
        filters: [{ field: 'app', operator: 'eq', value: 'https://none.example', include_unset: true }],
        time_range: range,
      });
      assert.equal(unset[0]?.['request_count'], 1);
    });

    test('queries single generations, speeds, order, limits and conditions on metrics', async () => {
      const byId = await query({ metrics: ['ttft_p50'], dimensions: ['generation_id'], time_range: range });
      assert.equal(byId.length, 4);
      const [speed] = await query({
        metrics: ['ttft_p50', 'ttft_p95', 'throughput_p50'],
        filters: [{ field: 'model', operator: 'eq', value: 'acme/one' }],
        time_range: range,
      });
      assert.ok(Number(speed?.['ttft_p50']) >= 76 && Number(speed?.['ttft_p50']) <= 114, JSON.stringify(speed));
      assert.ok(Number(speed?.['ttft_p95']) >= 256 && Number(speed?.['ttft_p95']) <= 384, JSON.stringify(speed));
      const ordered = await query({
        metrics: ['request_count'],
        dimensions: ['model'],
        order_by: { field: 'request_count', direction: 'desc' },
        filters: [{ field: 'request_count', operator: 'gt', value: 1 }],
        limit: 1,
        time_range: range,
      });
      assert.deepEqual(ordered, [{ model: 'acme/one', request_count: 2 }]);
    });

    test('returns 0 for a sum of nothing at any time, and no rows for a series of nothing', async () => {
      const metrics = ['request_count', 'error_rate'];
      for (const [start, end] of [
        ['2001-01-01T00:00:00+14:00', '2001-01-02T00:00:00-12:00'],
        ['0001-01-01T00:00:00Z', '0002-01-01T00:00:00Z'],
        ['9998-01-01T00:00:00Z', '9999-01-01T00:00:00Z'],
      ]) {
        const time_range = { start, end };
        assert.deepEqual(await query({ metrics, time_range }), [{ request_count: 0, error_rate: null }], start);
        assert.deepEqual(await query({ metrics, time_range, granularity: 'day' }), [], start);
      }
    });

    test('gives each of several series its share of the rows', async () => {
      const rows = await query({
        metrics: ['request_count'],
        dimensions: ['model'],
        granularity: 'hour',
        time_range: range,
        group_limit: 1,
      });
      assert.equal(rows.length, 2);
    });

    // @spec analytics-9
    test('returns whole months and weeks', async () => {
      const start = new Date(TODAY_MS - 60 * DAY_MS).toISOString();
      const time_range = { start, end: new Date(TODAY_MS).toISOString() };
      for (const granularity of ['month', 'week']) {
        const rows = await query({ metrics: ['request_count'], granularity, time_range });
        assert.equal(
          rows.reduce((sum, row) => sum + Number(row['request_count']), 0),
          5,
        );
        for (const row of rows) {
          const first = new Date(textOf(row[`created_at__${granularity}`]));
          assert.ok(granularity === 'month' ? first.getUTCDate() === 1 : first.getUTCDay() === 1, String(first));
        }
      }
    });

    // @spec analytics-3, analytics-4
    test('rejects an invalid query with 400 and its name', async () => {
      const long = { start: new Date(TODAY_MS - 90 * DAY_MS).toISOString(), end: new Date(TODAY_MS).toISOString() };
      const refused: readonly (readonly [object, RegExp])[] = [
        [{ metrics: [] }, /metrics/],
        [{ metrics: ['request_cout'] }, /metrics\[0\]: did you mean .{1,2}request_count/],
        [{ metrics: ['request_count'], dimensions: ['model', 'app', 'user'] }, /dimensions/],
        [{ metrics: ['request_count'], dimensions: ['planet'] }, /dimensions\[0\]/],
        [{ metrics: ['request_count'], granularity: 'year' }, /granularity/],
        [
          { metrics: ['request_count'], filters: [{ field: 'model', operator: 'gt', value: 'a' }] },
          /filters\[0\]\.operator/,
        ],
        [
          { metrics: ['request_count'], filters: [{ field: 'model', operator: 'in', value: 'a' }] },
          /filters\[0\]\.value/,
        ],
        [{ metrics: ['request_count'], order_by: { field: 'model', direction: 'asc' } }, /order_by\.field/],
        [{ metrics: ['request_count'], time_range: { start: range.end, end: range.start } }, /time_range/],
        [{ metrics: ['ttft_p50'], time_range: long }, /31 days with .{1,2}ttft_p50/],
        [{ metrics: ['request_count'], dimensions: ['generation_id'], time_range: long }, /31 days/],
        [{ metrics: ['request_count'], granularity: 'minute', time_range: long }, /granularity|31 days/],
        [{ metrics: ['request_count'], colour: 'red' }, /colour/],
      ];
      for (const [body, words] of refused) {
        const answer = await call('POST', '/analytics/query', body);
        assert.equal(answer.status, 400, JSON.stringify(body));
        assert.match(JSON.stringify(answer.body), words);
      }
      assert.equal((await call('POST', '/analytics/query', { metrics: ['request_count'] }, API_KEY)).status, 403);
    });

    // @spec analytics-14
    test('exports the rows of a query, as CSV that no spreadsheet runs and as lines of JSON', async () => {
      const send = async (body: object, key = MANAGEMENT_KEY) => {
        const response = await fetch(`${gateway.baseUrl}/analytics/export`, {
          method: 'POST',
          headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
          body: JSON.stringify(body),
        });
        return { response, text: await response.text() };
      };
      await call('PATCH', `/keys/${keyHash}`, { name: '=HYPERLINK("http://a.example","Shop")' });
      const body = { metrics: ['request_count'], dimensions: ['api_key_id'], time_range: range };
      const { response, text } = await send({ ...body, include_query: true });
      assert.equal(response.headers.get('content-type'), 'text/csv; charset=utf-8', text);
      assert.match(response.headers.get('content-disposition') ?? '', /filename="analytics\.csv"/);
      const [note = '', head, ...rows] = text.trimEnd().split('\r\n');
      assert.match(note, /^"# \{""query"":\{.*""row_count"":2,""truncated"":false\}"$/);
      assert.equal(head, 'api_key_id,api_key_id__id,request_count');
      assert.ok(rows.includes(`"'=HYPERLINK(""http://a.example"",""Shop"")",${keyHash},2`), text);
      await call('PATCH', `/keys/${keyHash}`, { name: 'Shop' });
      const lines = await send({ ...body, format: 'jsonl' });
      assert.deepEqual(
        lines.text
          .trimEnd()
          .split('\n')
          .map((line) => parseJsonObject(line)),
        await query(body),
      );
      assert.deepEqual(
        [lines.response.headers.get('x-service-row-count'), lines.response.headers.get('x-service-truncated')],
        ['2', 'false'],
      );
      const short = await send({ ...body, format: 'jsonl', limit: 1, include_query: true });
      assert.match(short.text, /^\{"query":.*"row_count":1,"truncated":true\}\n\{[^\n]*\}\n$/);
      assert.equal(short.response.headers.get('x-service-truncated'), 'true');
      assert.equal((await send({ ...body, time_range: { start: range.end, end: range.start } })).response.status, 400);
      for (const wrong of [{ limit: 100_001 }, { format: 'xlsx' }, { metrics: ['colour'] }, { colour: 'red' }])
        assert.equal((await send({ ...body, ...wrong })).response.status, 400, JSON.stringify(wrong));
      assert.equal((await send(body, API_KEY)).response.status, 403);
    });

    // @spec analytics-14
    test('leaves no row out of a series while all of them fit', async () => {
      const body = { metrics: ['request_count'], dimensions: ['country'], granularity: 'hour', time_range: range };
      // Of two series, one has more rows than half of the limit.
      assert.equal((await query({ ...body, limit: 4 })).length, 4);
      assert.equal((await query({ ...body, limit: 3 })).length, 3, 'two of one and the one of the other');
    });

    // @spec analytics-2
    test('accepts every listed name', async () => {
      const { body } = await call('GET', '/analytics/meta');
      const meta = body['data'] as {
        metrics: { name: string }[];
        dimensions: { name: string }[];
        granularities: { name: string }[];
      };
      const metrics = meta.metrics.map(({ name }) => name);
      for (const { name } of meta.dimensions)
        assert.ok((await query({ metrics, dimensions: [name], time_range: range })).length > 0, name);
      for (const { name } of meta.granularities)
        assert.ok((await query({ metrics, granularity: name, time_range: range })).length > 0, name);
    });
  });
