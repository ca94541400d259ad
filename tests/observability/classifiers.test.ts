import assert from 'node:assert/strict';
import { setTimeout as delay } from 'node:timers/promises';
import { suite, test, type TestContext } from 'node:test';
import { captureCli } from '../support/cli/capture-cli.ts';
import { isJsonObject, type Json, type JsonObject } from '../../src/lib/json.ts';
import { manage, textAt } from '../support/byok.ts';
import { MANAGEMENT_KEY, startGateway } from '../support/gateway.ts';
import { chatAnswer, json, startUpstream, type Script } from '../support/upstream.ts';

const DIMENSIONS = [
  {
    name: 'subject',
    description: 'What it is about.',
    values: [{ value: 'legal' }, { value: 'code', description: 'Programs.' }],
  },
  { name: 'mood', values: [{ value: 'calm' }, { value: 'angry' }] },
];
const replying = (tags: object): Script => json(200, chatAnswer(JSON.stringify(tags)));
const CODE_CALM = replying({ subject: 'code', mood: 'calm' });

async function start(t: TestContext, options: { readonly classifier?: Script; readonly policy?: string } = {}) {
  const [caller, classifier] = await Promise.all([
    startUpstream(json(200, chatAnswer('Use a loop.'))),
    startUpstream(options.classifier ?? CODE_CALM),
  ]);
  const gateway = await startGateway({
    jobTimes: { tickMs: 20 },
    yaml: `
providers:
  caller: { adapter: openai-compatible, name: Caller, base_url: "${caller.baseUrl}", api_key: key-1, data_policy: { training: false, retention_days: 0 } }
  reader: { adapter: openai-compatible, name: Reader, base_url: "${classifier.baseUrl}", api_key: key-2${options.policy ?? ''} }
models:
  acme/caller:
    endpoints: [{ provider: caller, model: c1, price: { prompt: 1, completion: 2 } }]
  acme/reader:
    endpoints: [{ provider: reader, model: r1, price: { prompt: 1, completion: 2 } }]
`,
  });
  t.after(async () => {
    await gateway.close();
    await Promise.all([caller.close(), classifier.close()]);
  });
  const key = await manage(gateway, 'POST', '/keys', { name: 'Payer' });
  assert.equal(key.status, 201, key.text);
  const payer = textAt(key.body['data'] as JsonObject, 'hash');
  const create = (more: object = {}) =>
    manage(gateway, 'POST', '/classifiers', {
      name: 'Subjects',
      model: 'acme/reader',
      payer_key_hash: payer,
      dimensions: DIMENSIONS,
      sampling_rate: 1,
      enabled: true,
      ...more,
    });
  const ask = async (content: string, more: object = {}) => {
    const answer = await gateway.post('/chat/completions', {
      model: 'acme/caller',
      messages: [{ role: 'user', content }],
      ...more,
    });
    assert.equal(answer.status, 200, await answer.clone().text());
    return answer.headers.get('x-generation-id') ?? '';
  };
  const today = async (id: string): Promise<JsonObject> => {
    const { body } = await manage(gateway, 'GET', `/classifiers/${id}`);
    return (body['data'] as JsonObject)['today'] as JsonObject;
  };
  /** Waits until the classifier has counted so many conversations, in whatever way. */
  const counted = async (id: string, count: number): Promise<JsonObject> => {
    for (let tries = 0; tries < 500; tries++) {
      const day = await today(id);
      if (Number(day['classified']) + Number(day['failed']) + Number(day['dropped']) >= count) return day;
      await delay(20);
    }
    throw new Error(`${JSON.stringify(await today(id))} and not ${count}`);
  };
  return { gateway, caller, classifier, payer, create, ask, counted, today };
}

const idOf = ({ body, text, status }: Awaited<ReturnType<typeof manage>>): string => {
  assert.equal(status, 201, text);
  return textAt(body['data'] as JsonObject, 'id');
};

suite('classifiers', () => {
  // @spec classifier-4, classifier-5
  test('sort conversations after their end, for the key that pays, and keep nothing of them', async (t) => {
    const stage = await start(t);
    const id = idOf(await stage.create());
    const generation = await stage.ask('How do I repeat a line in Python?');
    const day = await stage.counted(id, 1);
    assert.deepEqual([day['classified'], day['failed'], day['dropped']], [1, 0, 0]);
    assert.ok(Number(day['cost']) > 0);
    const [sent] = stage.classifier.arrived;
    assert.match(sent?.text ?? '', /USER: How do I repeat a line in Python\?\\n\\nASSISTANT: Use a loop\./);
    assert.equal(isJsonObject(sent?.body['response_format']), true);
    const listed = await manage(stage.gateway, 'GET', '/generations?request_origin=classifier');
    const rows = listed.body['data'];
    assert.ok(Array.isArray(rows) && rows.length === 1 && isJsonObject(rows[0]), listed.text);
    assert.equal(rows[0]['api_key_hash'], stage.payer);
    const shown = await manage(stage.gateway, 'GET', `/generation?id=${generation}`);
    assert.deepEqual((shown.body['data'] as JsonObject)['tags'], [
      { classifier_id: id, version: 1, dimension: 'mood', value: 'calm' },
      { classifier_id: id, version: 1, dimension: 'subject', value: 'code' },
    ]);
  });

  // @spec classifier-4
  test('never sort what the gateway made for itself, what failed, and what their filters leave out', async (t) => {
    const stage = await start(t);
    const id = idOf(await stage.create({ filters: { min_turns: 2, models: ['acme/*'], finish_reasons: ['stop'] } }));
    await stage.ask('One turn.');
    const turns = [
      { role: 'user', content: 'One.' },
      { role: 'assistant', content: 'Two.' },
      { role: 'user', content: 'Three.' },
    ];
    stage.caller.script = json(500, {});
    const failed = await stage.gateway.post('/chat/completions', { model: 'acme/caller', messages: turns });
    assert.equal(failed.status >= 500, true);
    stage.caller.script = json(200, chatAnswer('Fine.'));
    await stage.ask('', { messages: turns });
    await stage.counted(id, 1);
    await delay(200);
    assert.equal(stage.classifier.arrived.length, 1);
  });

  // @spec classifier-7
  test('are never sent what may not be kept, unless their endpoint promises the same', async (t) => {
    const stage = await start(t);
    const id = idOf(await stage.create());
    await stage.ask('SECRET one', { provider: { zdr: true } });
    await stage.ask('SECRET two', { provider: { data_collection: 'deny' } });
    await stage.ask('open');
    await stage.counted(id, 1);
    await delay(200);
    assert.equal(stage.classifier.arrived.length, 1);
    assert.ok(stage.classifier.arrived.every(({ text }) => !text.includes('SECRET')));
    const promised = await start(t, { policy: ', data_policy: { training: false, retention_days: 0 }' });
    const other = idOf(await promised.create());
    await promised.ask('SECRET one', { provider: { zdr: true } });
    await promised.counted(other, 1);
    assert.match(promised.classifier.arrived[0]?.text ?? '', /SECRET one/);
  });

  // @spec classifier-5
  test('write no tag without a permitted value, and none at all for a reply that is no object', async (t) => {
    const stage = await start(t, { classifier: replying({ subject: 'cooking', mood: 'angry' }) });
    const id = idOf(await stage.create());
    const generation = await stage.ask('How do I cook?');
    await stage.counted(id, 1);
    const shown = await manage(stage.gateway, 'GET', `/generation?id=${generation}`);
    assert.deepEqual((shown.body['data'] as JsonObject)['tags'], [
      { classifier_id: id, version: 1, dimension: 'mood', value: 'angry' },
    ]);
  });

  // @spec classifier-8
  test('stop for the day at their cost limit', async (t) => {
    const stage = await start(t);
    const channel = { kind: 'slack', name: 'Ops', url: 'https://hooks.example/1' };
    assert.equal((await manage(stage.gateway, 'POST', '/notifications/channels', channel)).status, 201);
    const id = idOf(await stage.create({ daily_cost_limit_usd: 0.001 }));
    stage.classifier.script = json(200, {
      ...chatAnswer('{"subject":"code","mood":"calm"}'),
      usage: { prompt_tokens: 1_000, completion_tokens: 20, total_tokens: 1_020 },
    });
    await stage.ask('One.');
    await stage.counted(id, 1);
    await stage.ask('Two.');
    const day = await stage.counted(id, 2);
    assert.deepEqual([day['classified'], day['failed'], day['dropped']], [1, 0, 1]);
    assert.equal(stage.classifier.arrived.length, 1);
    const types = await manage(stage.gateway, 'GET', '/notifications/event-types');
    assert.match(types.text, /"classifier\.capped"/, 'channels can choose what is raised');
    await until(async () => {
      const { text } = await manage(stage.gateway, 'GET', '/notifications/events');
      return text.includes('"classifier.capped"') ? text : undefined;
    });
  });

  // @spec classifier-8
  test('say once that their cost limit is reached: with the call that reaches it, or the first that it does not pay', async (t) => {
    const stage = await start(t);
    const channel = { kind: 'slack', name: 'Ops', url: 'https://hooks.example/1' };
    assert.equal((await manage(stage.gateway, 'POST', '/notifications/channels', channel)).status, 201);
    stage.classifier.script = json(200, {
      ...chatAnswer('{"subject":"code","mood":"calm"}'),
      usage: { prompt_tokens: 9_600, completion_tokens: 200, total_tokens: 9_800 },
    });
    const capped = async () => {
      const { text } = await manage(stage.gateway, 'GET', '/notifications/events');
      return text.match(/"classifier\.capped"/g)?.length ?? 0;
    };
    const has = (count: number) => until(async () => ((await capped()) >= count ? true : undefined));
    // One call costs exactly this.
    const id = idOf(await stage.create({ daily_cost_limit_usd: 0.01 }));
    await stage.ask('One.');
    const first = await stage.counted(id, 1);
    assert.deepEqual([first['classified'], first['cost']], [1, 0.01]);
    await has(1);
    await stage.ask('Two.');
    assert.equal((await stage.counted(id, 2))['dropped'], 1);
    assert.deepEqual([await capped(), stage.classifier.arrived.length], [1, 1]);
    await manage(stage.gateway, 'DELETE', `/classifiers/${id}`);
    // What is left after the first call pays for no second one.
    const other = idOf(await stage.create({ name: 'Others', daily_cost_limit_usd: 0.010_001 }));
    await stage.ask('Three.');
    await stage.counted(other, 1);
    assert.equal(await capped(), 1, 'there is something left');
    await stage.ask('Four.');
    assert.equal((await stage.counted(other, 2))['dropped'], 1);
    await has(2);
    await stage.ask('Five.');
    await stage.counted(other, 3);
    assert.deepEqual([await capped(), stage.classifier.arrived.length], [2, 2]);
  });

  test('hold up no caller while they hang', async (t) => {
    let release: () => void = () => undefined;
    const hanging = new Promise<void>((resolve) => (release = resolve));
    const stage = await start(t, {
      classifier: async (arrived, response, request) => {
        await hanging;
        await CODE_CALM(arrived, response, request);
      },
    });
    const id = idOf(await stage.create());
    for (let count = 0; count < 5; count++) await stage.ask(`Question ${count}`);
    assert.equal((await stage.today(id))['classified'], 0);
    assert.ok(stage.classifier.arrived.length <= 1, 'one call of a classifier runs at a time');
    release();
    assert.equal((await stage.counted(id, 5))['classified'], 5);
  });

  // @spec classifier-1, classifier-2, classifier-3
  test('are made from templates, one enabled for each workspace, and count versions', async (t) => {
    const stage = await start(t);
    const id = idOf(await stage.create({ template: 'department', dimensions: undefined }));
    const { body } = await manage(stage.gateway, 'GET', `/classifiers/${id}`);
    const made = body['data'] as JsonObject;
    assert.match(textAt(made, 'prompt'), /department/);
    const [dimension] = made['dimensions'] as JsonObject[];
    assert.ok(dimension !== undefined);
    assert.ok((dimension['values'] as JsonObject[]).some(({ value }) => value === 'other'));
    assert.equal(made['version'], 1);
    const twice = await stage.create();
    assert.equal(twice.status, 409, twice.text);
    const second = await stage.create({ name: 'Other' });
    assert.equal(second.status, 409, second.text);
    assert.match(second.text, /disable it first/);
    const other = idOf(await stage.create({ name: 'Other', enabled: false }));
    const patch = (which: string, change: object) => manage(stage.gateway, 'PATCH', `/classifiers/${which}`, change);
    assert.equal((await patch(other, { enabled: true })).status, 409);
    const renamed = await patch(id, { name: 'Renamed', sampling_rate: 0.5 });
    assert.equal((renamed.body['data'] as JsonObject)['version'], 1, renamed.text);
    const asked = await patch(id, { prompt: 'Sort by department.' });
    assert.equal((asked.body['data'] as JsonObject)['version'], 2, asked.text);
    assert.equal((await manage(stage.gateway, 'DELETE', `/classifiers/${id}`)).status, 200);
    assert.equal((await manage(stage.gateway, 'GET', `/classifiers/${id}`)).status, 404);
    assert.equal((await patch(other, { enabled: true })).status, 200);
  });

  // @spec classifier-2
  test('refuse what is wrong with the path of the member', async (t) => {
    const stage = await start(t);
    const value = { value: 'a' };
    for (const [change, path] of [
      [{ name: '' }, 'name'],
      [{ dimensions: undefined }, 'dimensions'],
      [{ dimensions: [] }, 'dimensions'],
      [{ dimensions: [{ name: 'A', values: [value, { value: 'b' }] }] }, 'dimensions[0].name'],
      [{ dimensions: [{ name: 'a', values: [value] }] }, 'dimensions[0].values'],
      [{ dimensions: [{ name: 'a', values: [value, value] }] }, 'dimensions[0].values[1].value'],
      [{ dimensions: [DIMENSIONS[0], DIMENSIONS[0]] }, 'dimensions[1].name'],
      [{ payer_key_hash: 'f'.repeat(64) }, 'payer_key_hash'],
      [{ sampling_rate: 2 }, 'sampling_rate'],
      [{ model: 'service/auto' }, 'model'],
      [{ filters: { min_turns: 0 } }, 'filters.min_turns'],
      [{ other: 1 }, 'other'],
    ] as const) {
      const refused = await stage.create(change);
      assert.equal(refused.status, 400, refused.text);
      assert.ok(refused.text.includes(`"path":"${path}"`), `${path}: ${refused.text}`);
    }
    assert.equal((await stage.create({ model: 'acme/none' })).status, 404);
  });

  // @spec classifier-9
  test('are tried on kept conversations and on texts, and store no tag', async (t) => {
    const stage = await start(t);
    const id = idOf(await stage.create({ enabled: false }));
    const before = await stage.ask('Before anything was kept.');
    await keepContent(stage);
    const kept = await stage.ask('How do I sort a list?');
    const denied = await stage.ask('SECRET', { provider: { zdr: true } });
    const trials = await until(async () => {
      const found = await tryOn(stage, id, { generation_ids: [kept, before, denied, 'gen-none'] });
      return found[0]?.['transcript'] === null ? undefined : found;
    });
    const errors = trials.map(({ error }) => error);
    assert.deepEqual(trials[0]?.['tags'], { subject: 'code', mood: 'calm' });
    assert.equal(trials[0]?.['transcript'], 'USER: How do I sort a list?\n\nASSISTANT: Use a loop.');
    assert.ok(Number(trials[0]?.['cost']) > 0);
    assert.deepEqual(errors.slice(0, 2), [null, 'Its content was not kept.']);
    assert.match(JSON.stringify(errors[2]), /demands of endpoints/);
    assert.match(JSON.stringify(errors[3]), /no such generation/);
    assert.ok(stage.classifier.arrived.every(({ text }) => !text.includes('SECRET')));
    const [text] = await tryOn(stage, id, { text: 'Fix my loop.' });
    assert.deepEqual([text?.['transcript'], text?.['generation_id']], ['USER: Fix my loop.', null]);
    const shown = await manage(stage.gateway, 'GET', `/generation?id=${kept}`);
    assert.deepEqual((shown.body['data'] as JsonObject)['tags'], []);
    assert.ok(Number((await stage.today(id))['cost']) > 0, 'it counts in the cost of the day');
    assert.equal((await manage(stage.gateway, 'PATCH', `/classifiers/${id}`, { daily_cost_limit_usd: 0 })).status, 200);
    const calls = stage.classifier.arrived.length;
    const [unpaid] = await tryOn(stage, id, { text: 'Once more.' });
    assert.equal(unpaid?.['tags'], null);
    assert.equal(stage.classifier.arrived.length, calls, 'nothing is called beyond the limit of the day');
    const both = await manage(stage.gateway, 'POST', `/classifiers/${id}/test`, { text: 'a', generation_ids: ['b'] });
    assert.equal(both.status, 400, both.text);
  });

  // @spec classifier-10
  test('sort conversations that were kept earlier, within a cap and once', async (t) => {
    const stage = await start(t);
    const id = idOf(await stage.create({ enabled: false, filters: { min_turns: 1, models: ['acme/*'] } }));
    await keepContent(stage);
    const kept = [await stage.ask('One.'), await stage.ask('Two.'), await stage.ask('Three.')];
    await stage.ask('SECRET', { provider: { data_collection: 'deny' } });
    await until(async () => {
      const { body } = await manage(stage.gateway, 'GET', `/generation/content?id=${kept[2] ?? ''}`);
      return body['data'];
    });
    const range = {
      start: new Date(Date.now() - 3_600_000).toISOString(),
      end: new Date(Date.now() + 1_000).toISOString(),
    };
    const begin = (more: object = {}) =>
      manage(stage.gateway, 'POST', `/classifiers/${id}/backfill`, { ...range, max_cost_usd: 1, ...more });
    const end = () =>
      until(async () => {
        const { body } = await manage(stage.gateway, 'GET', `/classifiers/${id}/backfill`);
        const [last] = body['data'] as JsonObject[];
        return last?.['finished_at'] === null ? undefined : last;
      });
    assert.equal((await begin({ max_cost_usd: 0 })).status, 400);
    assert.equal((await begin({ end: range.start })).status, 400);
    assert.equal((await manage(stage.gateway, 'DELETE', `/classifiers/${id}/backfill`)).status, 404);
    // Each call may cost 2,048 tokens of a reply: no room for one.
    assert.equal((await begin({ max_cost_usd: 0.000001 })).status, 202);
    const capped = await end();
    assert.deepEqual([capped['state'], capped['error'], capped['classified']], ['failed', 'cost_limit', 0]);
    assert.equal(stage.classifier.arrived.length, 0);
    const begun = await begin();
    assert.equal(begun.status, 202, begun.text);
    const done = await end();
    const counts = ['state', 'total', 'read', 'classified', 'skipped', 'failed'].map((name) => done[name]);
    assert.deepEqual(counts, ['done', 4, 4, 3, 1, 0]);
    assert.ok(Number(done['cost']) > 0);
    assert.equal(stage.classifier.arrived.length, 3);
    assert.ok(stage.classifier.arrived.every(({ text }) => !text.includes('SECRET')));
    const shown = await manage(stage.gateway, 'GET', `/generation?id=${kept[0] ?? ''}`);
    assert.equal(((shown.body['data'] as JsonObject)['tags'] as Json[]).length, 2);
    assert.equal((await begin()).status, 202);
    const again = await end();
    assert.deepEqual([again['total'], again['classified'], stage.classifier.arrived.length], [1, 0, 3]);
    const printed = await captureCli([
      'classifiers',
      'backfills',
      id,
      '--url',
      stage.gateway.baseUrl,
      '--key',
      MANAGEMENT_KEY,
    ]);
    assert.equal(printed.code, 0, printed.stderr);
    assert.match(printed.stdout, /^done +4 of 4 +3 +0 +1 /mu);
    assert.match(printed.stdout, /^failed \(cost_limit\)/mu);
  });
});

type Stage = Awaited<ReturnType<typeof start>>;

async function keepContent({ gateway }: Stage): Promise<void> {
  const change = { is_observability_io_logging_enabled: true, io_logging_sampling_rate: 1 };
  const { status, text } = await manage(gateway, 'PATCH', '/workspaces/default', change);
  assert.equal(status, 200, text);
}

async function tryOn({ gateway }: Stage, id: string, input: object): Promise<readonly JsonObject[]> {
  const { status, body, text } = await manage(gateway, 'POST', `/classifiers/${id}/test`, input);
  assert.equal(status, 200, text);
  return body['data'] as JsonObject[];
}

/** Looks until there is something. */
async function until<Found>(look: () => Promise<Found | undefined>): Promise<Found> {
  for (let tries = 0; tries < 500; tries++) {
    const found = await look();
    if (found !== undefined) return found;
    await delay(20);
  }
  throw new Error('It never came.');
}
