import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import type { CandidateModel, ModelChoice, RouterDecision, TestedModel } from '../../canonical/model-choice.ts';
import { GatewayError } from '../../canonical/gateway-error.ts';
import type { GenerationRequest } from '../../canonical/request.ts';
import type { PluginContext } from '../contract.ts';
import type { paretoRouterOptions } from './options.ts';
import { paretoRouter } from './plugin.ts';
import { plainDirectives } from '../../../tests/support/plain-directives.ts';

const SLUG = 'service/pareto-code';

function serving(slug: string, price: number, coding?: number): CandidateModel {
  return {
    slug,
    name: slug,
    promptPrice: price,
    completionPrice: price,
    isFree: price === 0,
    scores: new Map(),
    throughput: () => undefined,
    ...(coding !== undefined && { coding }),
  };
}

interface Given {
  readonly pool: readonly CandidateModel[];
  readonly tested?: readonly TestedModel[];
  /** Average prices of real prompts. */
  readonly paid?: Readonly<Record<string, number>>;
  readonly slug?: string;
}

interface Chosen {
  readonly slugs: readonly string[];
  readonly decision: RouterDecision | undefined;
}

async function choose(
  { pool, tested = [], paid = {}, slug = SLUG }: Given,
  options: (typeof paretoRouterOptions)['_output'] = {},
): Promise<Chosen> {
  let decision: RouterDecision | undefined;
  const choice: ModelChoice = {
    settings: {} as ModelChoice['settings'],
    isRehearsal: false,
    candidatePool: () => ({ models: pool, leftOut: [{ slug: 'a/out', reason: 'zdr' }] }),
    resolve: (name) => name,
    priorOf: () => undefined,
    tested: () => tested,
    traffic: () => ({ requests: 0, tokens: undefined, standingOf: () => 0 }),
    paidPromptPrice: (name) => paid[name],
    random: () => 0,
    remembered: () => Promise.resolve(undefined),
    remember: () => assert.fail('a conversation that nobody named is not remembered'),
    decided: (made) => void (decision = made),
  };
  const context = { abilities: { choice }, note: () => undefined } as unknown as PluginContext;
  const request: GenerationRequest = {
    format: 'chat',
    delivery: 'whole',
    turns: [],
    tools: [],
    settings: {},
    directives: plainDirectives(slug),
    warnings: [],
  };
  return { slugs: await paretoRouter.chooseModels(request, slug, options, context), decision };
}

suite('the price of a model', () => {
  const pool = [serving('a/cached', 5, 0.9), serving('a/plain', 3, 0.9)];
  const paid = { 'a/cached': 1 };

  test('is the list price by default', async () => {
    assert.equal((await choose({ pool, paid })).slugs[0], 'a/plain');
    assert.equal((await choose({ pool, paid }, { price_source: 'prompt' })).slugs[0], 'a/plain');
  });

  // @spec router-23
  test('compares average prices of real prompts on request, and the list price of unused models', async () => {
    assert.deepEqual((await choose({ pool, paid }, { price_source: 'weighted_avg' })).slugs, ['a/cached', 'a/plain']);
    assert.deepEqual((await choose({ pool, paid }, { price_source: 'weighted_avg', max_price: 1 })).slugs, [
      'a/cached',
    ]);
  });
});

suite('the candidates', () => {
  test('include a model that only the older tests have, by its place in them', async () => {
    const both = (release: string, score: number): TestedModel['scores'] => [
      { metric: `${release}/coding`, score },
      { metric: `${release}/agentic-coding`, score },
    ];
    const tested: readonly TestedModel[] = [
      { slug: 'a/new', scores: [...both('livebench-2026-06-25', 0.5), ...both('livebench-2026-01-08', 0.5)] },
      { slug: 'a/top', scores: both('livebench-2026-06-25', 0.8) },
      { slug: 'a/old', scores: both('livebench-2026-01-08', 0.7) },
    ];
    const pool = [serving('a/new', 1, 0.5), serving('a/old', 2)];
    assert.deepEqual((await choose({ pool, tested }, { max_price: 9 })).slugs, ['a/old', 'a/new']);
  });

  test('include no variant of a model, unless there is nothing else', async () => {
    const free = serving('a/one:free', 0, 0.9);
    assert.deepEqual((await choose({ pool: [free, serving('a/one', 1, 0.9)] })).slugs, ['a/one']);
    assert.deepEqual((await choose({ pool: [free] })).slugs, ['a/one:free']);
  });

  test('meet a cap by a variant where only that one does', async () => {
    const pool = [serving('a/one:free', 0, 0.9), serving('a/one', 1, 0.9)];
    assert.deepEqual((await choose({ pool }, { max_price: 0 })).slugs, ['a/one:free']);
  });

  test('may be none: a 404 with the reasons', async () => {
    await assert.rejects(choose({ pool: [] }), (error) => {
      assert.ok(error instanceof GatewayError);
      assert.equal(error.status, 404);
      assert.match(error.message, /No models match your request and model restrictions: left out were 1 by zdr/);
      return true;
    });
  });
});

suite('the metadata', () => {
  test('keep the suffix on every model, and name models plainly in the decision', async () => {
    const { slugs, decision } = await choose({ pool: [serving('a/one', 1, 0.9)], slug: `${SLUG}:nitro` });
    assert.deepEqual([slugs, decision?.chosen], [['a/one:nitro'], ['a/one']]);
  });

  test('costs are compared with the best model that might have answered', async () => {
    const pool = [serving('a/small', 1, 0.2), serving('a/best', 9, 0.9)];
    const { decision } = await choose({ pool }, { max_price: 2 });
    assert.deepEqual([decision?.chosen, decision?.comparedWith], [['a/small'], 'a/best']);
  });
});
