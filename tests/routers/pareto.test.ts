import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import { stageOf, startModelRow, type RowModel } from '../support/routers/model-row.ts';
import { startTwoProviders } from '../support/two-providers.ts';
import { chatAnswer, json } from '../support/upstream.ts';

/** Percentiles of the coding scores: 1, 0.75, 0.5, 0.25 and 0. `medium` beats `wasteful`; no model beats `dear`. */
const ROW: Readonly<Record<string, RowModel>> = {
  dear: { price: 10, coding: 0.9 },
  good: { price: 3, coding: 0.8 },
  medium: { price: 1, coding: 0.6 },
  wasteful: { price: 4, coding: 0.5 },
  cheap: { price: 0.1, coding: 0.3 },
};

const SLUG = 'service/pareto-code';
const pareto = (options: object): object => ({ plugins: [{ id: 'pareto-router', ...options }] });

suite('the pareto router', () => {
  // @spec router-21, router-26
  test('chooses the cheapest of the high tier by default', async (t) => {
    const row = await startModelRow(t, ROW);
    const answer = await row.ask(SLUG);
    assert.deepEqual([answer.status, answer.model, answer.text], [200, 'acme/good', 'I am good']);
    assert.equal(answer.metadata.strategy, 'pareto');
    assert.equal(answer.metadata.params?.['quality_floor'], 0.66);
    assert.deepEqual(stageOf(answer, 'pareto-router')?.data, {
      chosen: ['acme/good', 'acme/dear'],
      tier: 'high',
      price_source: 'prompt',
      price: 3,
      coding_score: 0.8,
    });
  });

  for (const [score, model, floor] of [
    [0.9, 'acme/good', 0.66],
    [0.66, 'acme/good', 0.66],
    [0.5, 'acme/medium', 0.33],
    [0.33, 'acme/medium', 0.33],
    [0.32, 'acme/cheap', 0],
    [0, 'acme/cheap', 0],
  ] as const)
    // @spec router-20
    test(`chooses ${model} for a score of ${score}`, async (t) => {
      const row = await startModelRow(t, ROW);
      const answer = await row.ask(SLUG, pareto({ min_coding_score: score }));
      assert.deepEqual([answer.model, answer.metadata.params?.['quality_floor']], [model, floor]);
    });

  for (const [cap, chosen] of [
    [100, ['acme/dear', 'acme/good', 'acme/medium']],
    [9.99, ['acme/good', 'acme/medium', 'acme/cheap']],
    [1, ['acme/medium', 'acme/cheap']],
    [0.1, ['acme/cheap']],
  ] as const)
    // @spec router-22
    test(`chooses ${chosen[0]} below ${cap} USD, whatever the score`, async (t) => {
      const row = await startModelRow(t, ROW);
      const answer = await row.ask(SLUG, pareto({ max_price: cap, min_coding_score: 0 }));
      assert.equal(answer.model, chosen[0]);
      assert.deepEqual(stageOf(answer, 'pareto-router')?.data?.['chosen'], chosen);
      assert.equal(answer.metadata.params?.['quality_floor'], undefined);
    });

  // @spec router-22
  test('returns 404 for a price that no model meets, and names the cheapest', async (t) => {
    const row = await startModelRow(t, ROW);
    const answer = await row.ask(SLUG, pareto({ max_price: 0.05 }));
    assert.equal(answer.status, 404);
    assert.match(answer.message ?? '', /at most 0\.05 USD per million input tokens.*the cheapest costs 0\.1/);
  });

  test('falls back to the next model of the tier', async (t) => {
    const failing = json(503, { error: { message: 'overloaded' } });
    const row = await startModelRow(t, { ...ROW, good: { price: 3, coding: 0.8, script: failing } });
    const answer = await row.ask(SLUG);
    assert.deepEqual([answer.model, answer.metadata.strategy], ['acme/dear', 'pareto']);
  });

  // @spec router-25
  test('keeps a named session with its model while that is a candidate and the options are the same', async (t) => {
    const row = await startModelRow(t, { a: { price: 1, coding: 0.9 }, b: { price: 2, coding: 0.9 } });
    const session = { session_id: 'session-1' };
    const begun = await row.ask(SLUG, { ...session, provider: { ignore: ['a'] } });
    assert.equal(begun.model, 'acme/b');
    const later = await row.ask(SLUG, session);
    assert.deepEqual([later.model, stageOf(later, 'pareto-router')?.data?.['session']], ['acme/b', true]);
    assert.equal((await row.ask(SLUG, { ...session, ...pareto({ max_price: 5 }) })).model, 'acme/a');
    assert.equal((await row.ask(SLUG)).model, 'acme/a');
  });

  // @spec router-25
  test('keeps a named session with its provider, even without a cache, only through the router', async (t) => {
    const chance = { next: 0.99 };
    const good = json(200, chatAnswer('yes'));
    const { gateway } = await startTwoProviders(t, { first: good, second: good, random: () => chance.next });
    const ask = async (model: string, more: object): Promise<unknown> => {
      const messages = [{ role: 'user', content: 'Sort a list' }];
      const response = await gateway.post('/chat/completions', { model, messages, ...more });
      return ((await response.json()) as { provider: unknown }).provider;
    };
    const session = { session_id: 'session-1' };
    assert.equal(await ask(SLUG, session), 'Second');
    chance.next = 0;
    assert.equal(await ask(SLUG, {}), 'First', 'chance alone would go elsewhere');
    assert.equal(await ask(SLUG, session), 'Second');
    assert.equal(await ask('acme/both', session), 'First');
  });

  test('continues a named session with the model that served as fallback', async (t) => {
    const row = await startModelRow(t, { a: { price: 1, coding: 0.9 }, b: { price: 2, coding: 0.9 } });
    const session = { session_id: 'session-1' };
    const { a: first } = row.upstreams;
    assert.ok(first !== undefined);
    const { script } = first;
    first.script = json(500, { error: { message: 'broken' } });
    assert.equal((await row.ask(SLUG, session)).model, 'acme/b');
    first.script = script;
    assert.equal((await row.ask(SLUG, session)).model, 'acme/b');
    assert.equal((await row.ask(SLUG)).model, 'acme/a');
  });

  test('chooses by price alone without scores', async (t) => {
    const row = await startModelRow(t, { dear: { price: 4 }, cheap: { price: 2 } });
    assert.equal((await row.ask(SLUG)).model, 'acme/cheap');
    assert.equal((await row.ask(SLUG, pareto({ max_price: 1 }))).status, 404);
  });

  test('excludes a model without a score when others have one', async (t) => {
    const row = await startModelRow(t, { ...ROW, unknown: { price: 0.01 } });
    assert.equal((await row.ask(SLUG, pareto({ min_coding_score: 0 }))).model, 'acme/cheap');
  });

  // @spec router-24, router-26
  test('puts the fastest model of the tier first with :nitro', async (t) => {
    const usage = { prompt_tokens: 10, completion_tokens: 50, total_tokens: 60 };
    const dear: RowModel = { price: 10, coding: 0.9, script: json(200, chatAnswer('I am dear', { usage })) };
    const row = await startModelRow(t, { ...ROW, dear });
    assert.equal((await row.ask(`${SLUG}:nitro`)).model, 'acme/good');
    // A speed is believed from the fifth answer on, and the last one may not be counted yet.
    for (let requestedCount = 0; requestedCount < 6; requestedCount++) await row.ask('acme/dear');
    const answer = await row.ask(`${SLUG}:nitro`);
    assert.equal(answer.model, 'acme/dear');
    const floor = answer.metadata.params?.['throughput_floor'];
    assert.ok(typeof floor === 'number' && floor > 0);
  });

  test('rejects an unknown suffix with 400', async (t) => {
    const row = await startModelRow(t, ROW);
    assert.equal((await row.ask(`${SLUG}:warp`)).status, 400);
  });

  test('serves the messages route likewise', async (t) => {
    const row = await startModelRow(t, ROW);
    const response = await row.gateway.post('/messages', {
      model: SLUG,
      max_tokens: 100,
      messages: [{ role: 'user', content: 'hi' }],
      ...pareto({ max_price: 1 }),
    });
    const body = (await response.json()) as { model: string };
    assert.deepEqual([response.status, body.model], [200, 'acme/medium']);
  });

  test('explains the ranking, the tiers and the frontier, and calls no model', async (t) => {
    const row = await startModelRow(t, ROW);
    const explained = await row.explain(SLUG, pareto({ max_price: 5 }));
    const [router] = explained['routers'] as readonly Record<string, unknown>[];
    assert.equal(router?.['router'], 'pareto-router');
    assert.deepEqual(router['chosen'], ['acme/good', 'acme/medium', 'acme/cheap']);
    const ranking = router['ranking'] as readonly Readonly<Record<'model' | 'tier' | 'on_frontier', unknown>>[];
    assert.deepEqual(
      ranking.map((one) => [one.model, one.tier, one.on_frontier]),
      [
        ['acme/dear', 'high', true],
        ['acme/good', 'high', true],
        ['acme/medium', 'medium', true],
        ['acme/wasteful', 'low', false],
        ['acme/cheap', 'low', true],
      ],
    );
    assert.ok(Object.values(row.upstreams).every(({ arrived }) => arrived.length === 0));
  });
});
