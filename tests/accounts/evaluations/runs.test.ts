import assert from 'node:assert/strict';
import { setTimeout as wait } from 'node:timers/promises';
import { test } from 'node:test';
import { API_KEY, MANAGEMENT_KEY } from '../../support/gateway.ts';
import { at, textAt, PAYER, questionIn, setUp } from './support.ts';

const items = (count: number) =>
  Array.from({ length: count }, (_, n) => ({ id: `q${n}`, prompt: `question ${n}`, expected: 'yes' }));

// @spec evaluation-6
test('asks every model every question, scores the answers, and bills the named key', async (t) => {
  const setting = await setUp(t);
  const { call, dataset, run, until } = setting;
  setting.say = (arrived) => (arrived.body['model'] === 'good' || questionIn(arrived).endsWith('0') ? 'Yes.' : 'no');
  const id = await run(await dataset(items(20)), { models: ['acme/good', 'acme/bad'], repeats: 2 });
  const done = await until(id, 'done');
  assert.deepEqual([at(done, 'data', 'units'), at(done, 'data', 'units_done')], [80, 80]);
  // 80 answers of 15 tokens at 1 USD for a million.
  assert.equal(at(done, 'data', 'spent_usd'), 0.0012);
  const [good, bad] = [at(done, 'results', 0), at(done, 'results', 1)];
  assert.deepEqual([at(good, 'model'), at(good, 'items'), at(good, 'mean')], ['acme/good', 20, 1]);
  assert.deepEqual([at(bad, 'mean'), at(bad, 'method'), at(bad, 'small_sample')], [0.1, 'wilson', true]);
  assert.ok(Number(at(bad, 'interval', 'low')) < 0.1 && Number(at(bad, 'interval', 'high')) > 0.25);
  const key = await call('GET', '/key', undefined, API_KEY);
  assert.equal(at(key.body, 'data', 'usage'), 0.0012);
  const listed = await call('GET', '/generations?request_origin=evaluation&limit=1');
  assert.match(listed.text, /"request_origin":"evaluation"/);
  const compared = await call('GET', `/benchmarks/compare?a=${id}&b=${id}`);
  assert.deepEqual(
    [at(compared.body, 'data', 0, 'verdict'), at(compared.body, 'data', 0, 'lost'), at(compared.body, 'data', 0, 'p')],
    ['worse', 18, 0.00009999000099990002],
  );
});

// @spec evaluation-9
test('teaches routing and shares of tasks nothing', async (t) => {
  const setting = await setUp(t);
  const id = await setting.run(await setting.dataset(items(30)));
  await setting.until(id, 'done');
  const endpoints = await setting.call('GET', '/models/acme/good/endpoints', undefined, API_KEY);
  assert.match(endpoints.text, /"uptime_last_30m":null/);
  assert.match(endpoints.text, /"latency_last_30m":null/);
  const tasks = await setting.call('GET', '/classifications/task', undefined, API_KEY);
  assert.deepEqual(at(tasks.body, 'data', 'classifications'), []);
});

// @spec evaluation-7
test('pauses before the call that could exceed the cap, and goes on once it is raised', async (t) => {
  const setting = await setUp(t);
  // A call holds some 100 tokens of an answer and its prompt, and costs 15.
  const id = await setting.run(await setting.dataset(items(40)), { max_cost_usd: 0.0004, concurrency: 8 });
  const paused = await setting.until(id, 'paused');
  assert.equal(at(paused, 'data', 'reason'), 'cost_cap');
  assert.ok(Number(at(paused, 'data', 'spent_usd')) <= 0.0004);
  const units = Number(at(paused, 'data', 'units_done'));
  assert.ok(units > 10 && units < 27, `${units} answers`);
  assert.equal(setting.upstream.arrived.length, units);
  assert.equal((await setting.call('POST', `/benchmarks/runs/${id}/publish`)).status, 409);
  assert.equal((await setting.call('PATCH', `/benchmarks/runs/${id}`, { max_cost_usd: 1 })).status, 200);
  assert.equal((await setting.call('POST', `/benchmarks/runs/${id}/resume`)).status, 200);
  await setting.until(id, 'done');
  assert.equal(setting.upstream.arrived.length, 40);
});

// @spec evaluation-8
test('pauses by hand once calls under way have ended, and asks none of them twice', async (t) => {
  const setting = await setUp(t);
  setting.say = async () => (await wait(20), 'yes');
  const id = await setting.run(await setting.dataset(items(60)), { concurrency: 3 });
  while (setting.upstream.arrived.length < 10) await wait(5);
  assert.equal((await setting.call('POST', `/benchmarks/runs/${id}/pause`)).status, 200);
  assert.equal((await setting.call('POST', `/benchmarks/runs/${id}/pause`)).status, 409);
  assert.equal((await setting.call('POST', `/benchmarks/runs/${id}/resume`)).status, 200);
  const done = await setting.until(id, 'done');
  assert.equal(at(done, 'data', 'units_done'), 60);
  assert.equal(setting.upstream.arrived.length, 60);
  assert.equal((await setting.call('POST', `/benchmarks/runs/${id}/resume`)).status, 409);
});

test('breaks calls off when it is cancelled', async (t) => {
  const setting = await setUp(t);
  setting.say = async () => (await wait(30_000, undefined, { ref: false }), 'yes');
  const id = await setting.run(await setting.dataset(items(5)));
  while (setting.upstream.arrived.length < 4) await wait(5);
  const cancelled = await setting.call('POST', `/benchmarks/runs/${id}/cancel`);
  assert.equal(at(cancelled.body, 'data', 'state'), 'cancelled');
  assert.equal((await setting.call('POST', `/benchmarks/runs/${id}/resume`)).status, 409);
  assert.equal((await setting.call('DELETE', `/benchmarks/runs/${id}`)).status, 200);
  assert.equal((await setting.call('GET', `/benchmarks/runs/${id}`)).status, 404);
});

// @spec evaluation-10
test('leaves out what fails upstream, pauses after 20 in a row, and asks it again twice when resumed', async (t) => {
  const setting = await setUp(t);
  setting.say = () => 500;
  const id = await setting.run(await setting.dataset(items(30)), { concurrency: 1 });
  const paused = await setting.until(id, 'paused');
  assert.equal(at(paused, 'data', 'reason'), 'failures');
  assert.deepEqual([at(paused, 'results', 0, 'items'), at(paused, 'results', 0, 'mean')], [0, null]);
  assert.equal(at(paused, 'results', 0, 'verdicts', 'upstream_error'), 20);
  setting.say = (arrived) => (questionIn(arrived) === 'question 7' ? 500 : 'yes');
  await setting.call('POST', `/benchmarks/runs/${id}/resume`);
  const done = await setting.until(id, 'done');
  assert.deepEqual([at(done, 'results', 0, 'items'), at(done, 'results', 0, 'mean')], [29, 1]);
  assert.equal(at(done, 'data', 'units_done'), 30);
  await setting.call('POST', `/benchmarks/runs/${id}/resume`);
  await setting.until(id, 'done');
  const failed = await setting.call('GET', `/benchmarks/runs/${id}/items?verdict=upstream_error`);
  assert.deepEqual([at(failed.body, 'data', 0, 'item_id'), at(failed.body, 'data', 1)], ['q7', undefined]);
  assert.ok(Number(at(failed.body, 'data', 0, 'attempts')) >= 2);
});

test('pages through the answers without a text of them', async (t) => {
  const setting = await setUp(t);
  const id = await setting.run(await setting.dataset(items(7)), { models: ['acme/good', 'acme/bad'] });
  await setting.until(id, 'done');
  const seen: unknown[] = [];
  for (let cursor: string | undefined = ''; cursor !== undefined;) {
    const { body } = await setting.call(
      'GET',
      `/benchmarks/runs/${id}/items?limit=3&model=acme/bad${cursor === '' ? '' : `&cursor=${cursor}`}`,
    );
    const data = body['data'];
    assert.ok(Array.isArray(data) && data.length <= 3);
    seen.push(...data.map((row: unknown) => at(JSON.parse(JSON.stringify(row)), 'item_id')));
    cursor = textAt(body, 'next_cursor') || undefined;
  }
  assert.deepEqual(seen, ['q0', 'q1', 'q2', 'q3', 'q4', 'q5', 'q6']);
  for (const query of ['model=acme/none', 'cursor=x', 'verdict=good'])
    assert.equal((await setting.call('GET', `/benchmarks/runs/${id}/items?${query}`)).status, 400);
});

// @spec evaluation-14
test('has answers judged without the name of the model, and never by the model itself unless that is allowed', async (t) => {
  const setting = await setUp(t);
  setting.say = (arrived) => {
    if (arrived.body['model'] !== 'judge') return 'I think so';
    const text = JSON.stringify(arrived.body['messages']);
    assert.ok(!text.includes('acme/') && !text.includes('good'));
    const best = /([A-E]): meets the rubric in full/.exec(text)?.[1] ?? '';
    const percent = Object.fromEntries(['A', 'B', 'C', 'D', 'E'].map((label) => [label, label === best ? 100 : 0]));
    return JSON.stringify({ answers: { q1: { percent } } });
  };
  const id = await setting.dataset(
    Array.from({ length: 3 }, (_, n) => ({ prompt: `Is it so? ${n}`, checks: [{ type: 'judge' }] })),
  );
  const judge = { model: 'acme/judge', rubric: 'Is it kind?' };
  const self = { model: 'acme/good', rubric: 'Is it kind?' };
  const begin = (members: object) =>
    setting.call('POST', '/benchmarks/runs', {
      dataset_id: id,
      models: ['acme/good'],
      payer_key_hash: PAYER,
      max_cost_usd: 1,
      ...members,
    });
  assert.match((await begin({})).text, /judge: is required/);
  assert.match((await begin({ judge: self })).text, /allow_self_judge/);
  const runId = await setting.run(id, { judge });
  const done = await setting.until(runId, 'done');
  assert.equal(at(done, 'results', 0, 'items'), 3);
  assert.ok(Number(at(done, 'results', 0, 'mean')) > 0.98);
  // Two orders of the levels for each answer, of 15 tokens each.
  assert.equal(at(done, 'results', 0, 'judge_cost_usd'), 0.00009);
  const spent = Number(at(done, 'data', 'spent_usd'));
  const key = await setting.call('GET', '/key', undefined, API_KEY);
  assert.ok(Math.abs(Number(at(key.body, 'data', 'usage')) - spent) < 1e-9);
});

// @spec evaluation-17
test('has answers compared with those of a model of reference, in both orders', async (t) => {
  const setting = await setUp(t);
  const asked: string[] = [];
  const orders: string[] = [];
  setting.say = (arrived) => {
    const model = String(arrived.body['model']);
    asked.push(model);
    if (model === 'good') return 'the kind answer';
    if (model === 'bad') return questionIn(arrived).endsWith('2') ? 'the kind answer' : 'the other answer';
    const state = JSON.stringify(arrived.body['messages']).replaceAll('\\', '');
    assert.ok(!state.includes('acme/'), state);
    const kind = ['answer_1', 'answer_2'].filter((name) => state.includes(`"${name}":"the kind answer"`));
    orders.push(kind.join());
    // It sees a winner, and has a liking for the first place where there is none.
    const [winner = ''] = kind.length === 1 ? kind : ['answer_1'];
    const label = new RegExp(`([ABC]): ${winner}n`).exec(state)?.[1] ?? '';
    const percent = Object.fromEntries(['A', 'B', 'C'].map((each) => [each, each === label ? 100 : 0]));
    return JSON.stringify({ answers: { q1: { percent } } });
  };
  const id = await setting.dataset(
    Array.from({ length: 3 }, (_, n) => ({ prompt: `Is it so? ${n}`, checks: [{ type: 'judge' }] })),
  );
  const judge = { model: 'acme/judge', rubric: 'Is it kind?', reference_model: 'acme/bad' };
  const refused = await setting.call('POST', '/benchmarks/runs', {
    dataset_id: id,
    models: ['acme/good'],
    payer_key_hash: PAYER,
    max_cost_usd: 1,
    judge: { ...judge, reference_model: 'acme/judge' },
  });
  assert.match(refused.text, /allow_self_judge/);
  const runId = await setting.run(id, { judge });
  const done = await setting.until(runId, 'done');
  assert.equal(asked.filter((model) => model === 'bad').length, 3, 'once for an item');
  assert.deepEqual(orders.toSorted(), [
    'answer_1',
    'answer_1',
    'answer_1,answer_2',
    'answer_1,answer_2',
    'answer_2',
    'answer_2',
  ]);
  // Twice the better one, and once none is.
  const mean = Number(at(done, 'results', 0, 'mean'));
  assert.ok(Math.abs(mean - (2 * 0.9934 + 0.5) / 3) < 0.002, String(mean));
  // For an item two calls of the judge and one of the model of reference, of 15 tokens each.
  assert.equal(at(done, 'results', 0, 'judge_cost_usd'), 0.000135);
  const spent = Number(at(done, 'data', 'spent_usd'));
  const key = await setting.call('GET', '/key', undefined, API_KEY);
  assert.ok(Math.abs(Number(at(key.body, 'data', 'usage')) - spent) < 1e-9);
});

/** Models whose calls cost 0.1 USD each, whatever their length. */
const BY_CALL = ['dear', 'judges']
  .map(
    (name) =>
      `  acme/${name}: { endpoints: [{ provider: alpha, model: ${name}, price: { prompt: 0, completion: 0, request: 0.1 } }] }`,
  )
  .join('\n');

// @spec evaluation-7, evaluation-17
test('pays for a reference again that failed for the answer before, and holds its cost until it is there', async (t) => {
  const setting = await setUp(t, BY_CALL);
  let references = 0;
  setting.say = async ({ body: { model } }) => {
    if (model === 'good') return 'yes';
    if (model === 'bad') return wait(100, 400);
    if (model === 'judges') return wait(800, 'yes');
    if (model === 'judge') return JSON.stringify({ answers: { q1: { percent: { A: 100, B: 0, C: 0 } } } });
    await wait(400);
    if (references++ > 0) return 'no';
    return { message: { role: 'assistant', content: null, refusal: 'No.' }, finish_reason: 'content_filter' };
  };
  const id = await setting.dataset([{ prompt: 'Is it so?', checks: [{ type: 'judge' }] }]);
  const judge = { model: 'acme/judge', rubric: 'Is it kind?', reference_model: 'acme/dear' };
  // The last one begins while the reference of the first one is under way, and ends after it has failed.
  const settings = { judge, models: ['acme/good', 'acme/bad', 'acme/judges'], concurrency: 2 };
  const runId = await setting.run(id, settings);
  const done = await setting.until(runId, 'done');
  assert.deepEqual([at(done, 'results', 0, 'verdicts', 'unjudged'), at(done, 'results', 2, 'items')], [1, 1]);
  // A reference costs 0.1, and so does the last answer, whose reference has to fit beside that of the first one.
  references = 0;
  const capped = await setting.run(id, { ...settings, max_cost_usd: 0.3 });
  const paused = await setting.until(capped, 'paused', 'done');
  assert.equal(at(paused, 'data', 'reason'), 'cost_cap');
  assert.equal(setting.upstream.arrived.filter(({ body }) => body['model'] === 'dear').length, 3);
});

// @spec evaluation-7
test('counts what a judge has cost that was limited before its end', async (t) => {
  const setting = await setUp(t, BY_CALL);
  let verdicts = 0;
  setting.say = (arrived) => {
    if (arrived.body['model'] !== 'judges') return 'yes';
    if (++verdicts === 2) return 429;
    return JSON.stringify({ answers: { q1: { percent: { A: 100, B: 0, C: 0, D: 0, E: 0 } } } });
  };
  const id = await setting.dataset([{ prompt: 'Is it so?', checks: [{ type: 'judge' }] }]);
  const runId = await setting.run(id, { judge: { model: 'acme/judges', rubric: 'Is it kind?' } });
  const done = await setting.until(runId, 'done');
  const key = await setting.call('GET', '/key', undefined, API_KEY);
  assert.equal(at(done, 'data', 'spent_usd'), at(key.body, 'data', 'usage'));
});

test('sends judges what the guardrails leave of an item, like models', async (t) => {
  const setting = await setUp(t);
  const { body } = await setting.call('GET', '/workspaces/default');
  const guardrail = `/guardrails/${textAt(body, 'data', 'default_guardrail_id')}`;
  const rules = { content_filters: [{ pattern: 'project-\\d+', action: 'redact' }] };
  assert.equal((await setting.call('PATCH', guardrail, rules)).status, 200);
  const seen: string[] = [];
  setting.say = (arrived) => {
    seen.push(JSON.stringify(arrived.body['messages']));
    return JSON.stringify({ answers: { q1: { percent: { A: 100, B: 0, C: 0, D: 0, E: 0 } } } });
  };
  const id = await setting.dataset([{ prompt: 'About project-7.', checks: [{ type: 'judge' }] }]);
  const run = await setting.run(id, { judge: { model: 'acme/judge', rubric: 'Is it kind?' } });
  await setting.until(run, 'done');
  assert.ok(seen.length > 1, 'the model and the judge were called');
  assert.deepEqual(
    seen.filter((messages) => messages.includes('project-7')),
    [],
  );
});

test('counts an item without a verdict of the judge as unjudged', async (t) => {
  const setting = await setUp(t);
  setting.say = (arrived) => (arrived.body['model'] === 'judge' ? 'I cannot say' : 'fine');
  const id = await setting.dataset([{ prompt: 'a', checks: [{ type: 'judge' }] }]);
  const runId = await setting.run(id, { judge: { model: 'acme/judge', rubric: 'Is it kind?' } });
  const done = await setting.until(runId, 'done');
  assert.equal(at(done, 'results', 0, 'verdicts', 'unjudged'), 1);
  assert.equal(at(done, 'results', 0, 'items'), 0);
});

test('says what is wrong with a run before anything is spent', async (t) => {
  const setting = await setUp(t);
  const id = await setting.dataset(items(3));
  const refused = async (members: object, status: number, reason: RegExp): Promise<void> => {
    const answer = await setting.call('POST', '/benchmarks/runs', {
      dataset_id: id,
      models: ['acme/good'],
      payer_key_hash: PAYER,
      max_cost_usd: 1,
      ...members,
    });
    assert.equal(answer.status, status, answer.text);
    assert.match(answer.text, reason);
  };
  await refused({ models: ['acme/good', 'acme/none'] }, 404, /models\[1\]: /);
  await refused({ models: ['acme/unpriced'] }, 400, /models\[0\]: .*no known price/);
  await refused({ models: ['service/auto'] }, 400, /models\[0\]: .*is a router/);
  await refused({ payer_key_hash: 'a'.repeat(64) }, 400, /payer_key_hash/);
  await refused({ max_cost_usd: 0 }, 400, /max_cost_usd/);
  await refused({ models: [] }, 400, /models/);
  await refused({ judge: { model: 'acme/judge', rubric: 'x', pairwise: true } }, 400, /pairwise/);
  await refused({ dataset_id: '00000000-0000-4000-8000-00000000000a' }, 404, /no such dataset/);
  assert.equal(setting.upstream.arrived.length, 0);
  const dry = await setting.call('POST', '/benchmarks/runs', {
    dataset_id: id,
    models: ['acme/good', 'acme/bad'],
    payer_key_hash: PAYER,
    max_cost_usd: 1,
    dry_run: true,
  });
  assert.equal(dry.status, 200);
  assert.equal(at(dry.body, 'estimate', 'calls'), 6);
  const [low, high] = [
    Number(at(dry.body, 'estimate', 'cost_usd_low')),
    Number(at(dry.body, 'estimate', 'cost_usd_high')),
  ];
  assert.ok(low > 0 && low < 0.001 && high > 6 * 0.004 && high < 0.05, `${low} to ${high}`);
  assert.equal(at((await setting.call('GET', '/benchmarks/runs')).body, 'total_count'), 0);
  const normal = await setting.call('GET', '/benchmarks/runs', undefined, API_KEY);
  assert.equal(normal.status, 403);
});

test('stops for good when its key is gone', async (t) => {
  const setting = await setUp(t);
  const made = await setting.call('POST', '/keys', { name: 'payer' });
  const hash = textAt(made.body, 'data', 'hash');
  setting.say = async () => (await wait(10), 'yes');
  const id = await setting.run(await setting.dataset(items(200)), { payer_key_hash: hash, concurrency: 1 });
  while (setting.upstream.arrived.length < 3) await wait(5);
  assert.equal((await setting.call('DELETE', `/keys/${hash}`, undefined, MANAGEMENT_KEY)).status, 200);
  const failed = await setting.until(id, 'failed');
  assert.equal(at(failed, 'data', 'reason'), 'payer_gone');
});

test('pauses where the limit of its key is reached', async (t) => {
  const setting = await setUp(t);
  const made = await setting.call('POST', '/keys', { name: 'payer', limit: 0.0003 });
  const hash = textAt(made.body, 'data', 'hash');
  const id = await setting.run(await setting.dataset(items(100)), { payer_key_hash: hash, concurrency: 1 });
  const paused = await setting.until(id, 'paused');
  assert.equal(at(paused, 'data', 'reason'), 'payer_limit');
  assert.ok(Number(at(paused, 'data', 'spent_usd')) <= 0.0003);
});
