import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import type { NestedInput } from '../../canonical/tools/nested-generation.ts';
import type { CandidateModel, ModelChoice, RouterDecision } from '../../canonical/model-choice.ts';
import type { GenerationRequest } from '../../canonical/request.ts';
import type { PipelineStage } from '../../canonical/route-report.ts';
import type { PluginContext } from '../contract.ts';
import type { switchyardRouterOptions } from './options.ts';
import { switchyardRouter } from './plugin.ts';
import { candidateModel, remembering, requestOf, user } from '../../../tests/support/plugins/switchyard-candidates.ts';

const LARGE = candidateModel('a/large', 10);
const SMALL = candidateModel('a/small', 0.5);
const CHEAP_JUDGE = candidateModel('b/judge', 0.9);
const DEAR_JUDGE = candidateModel('b/dear-judge', 1);

interface Given {
  readonly request?: GenerationRequest;
  readonly slug?: string;
  readonly judgeModels?: readonly string[];
  /** The models that may serve the request, and those that may judge. */
  readonly pool?: readonly CandidateModel[];
  readonly judges?: readonly CandidateModel[];
  readonly options?: (typeof switchyardRouterOptions)['_output'];
}

interface Done {
  readonly slugs: readonly string[];
  /** The inputs of the judges. */
  readonly requested: readonly NestedInput[];
  readonly stages: readonly PipelineStage[];
  readonly decision: RouterDecision | undefined;
}

async function choose({
  request = requestOf([user('Sort this')]),
  slug = 'service/switchyard',
  judgeModels = [],
  pool = [LARGE, SMALL],
  judges = [],
  options = {},
}: Given): Promise<Done> {
  const requested: NestedInput[] = [];
  const stages: PipelineStage[] = [];
  let decision: RouterDecision | undefined;
  const choice = {
    ...remembering(),
    settings: { judgeModels, judgeTimeoutMs: 1_000 },
    candidatePool: ({ turns }: GenerationRequest) => ({ models: turns.length > 0 ? pool : judges, leftOut: [] }),
    resolve: (name: string) => name.replace(/^~(.*)-latest$/, '$1').replace(/:.*/, ''),
    priorOf: () => undefined,
    decided: (made: RouterDecision) => void (decision = made),
  } as unknown as ModelChoice;
  const context = {
    abilities: {
      choice,
      generate(input: NestedInput) {
        requested.push(input);
        return Promise.reject(new Error('away'));
      },
    },
    signal: new AbortController().signal,
    note: (stage: PipelineStage) => void stages.push(stage),
  } as unknown as PluginContext;
  return { slugs: await switchyardRouter.chooseModels(request, slug, options, context), requested, stages, decision };
}

suite('the judges', () => {
  test("are the operator's, in that order, as far as the caller may use them", async () => {
    const judgeModels = ['c/gone', '~b/dear-judge-latest', 'b/judge'];
    const { requested } = await choose({ judgeModels, judges: [CHEAP_JUDGE, DEAR_JUDGE] });
    assert.deepEqual(requested[0]?.models, ['b/dear-judge', 'b/judge']);
  });

  test('are otherwise models below one dollar a million tokens', async () => {
    const { requested } = await choose({ judgeModels: ['c/gone'], judges: [DEAR_JUDGE, CHEAP_JUDGE] });
    assert.deepEqual(requested[0]?.models, ['b/judge']);
  });

  test('are absent when all cost more, and the capable model serves', async () => {
    const { requested, slugs, stages } = await choose({ judges: [DEAR_JUDGE] });
    assert.deepEqual([requested.length, slugs[0]], [0, 'a/large']);
    assert.equal(stages[0]?.data?.['judge_failure'], 'no_judge');
  });

  test('are not resolved when none is needed', async () => {
    const { requested } = await choose({ judges: [CHEAP_JUDGE], options: { algorithm: 'auto' } });
    assert.equal(requested.length, 0);
  });
});

suite('the models that take the place of the slug', () => {
  test('are at most three of a ranking, and all that the request lists', async () => {
    const pool = Array.from({ length: 5 }, (_, at) => candidateModel(`a/m${at}`, at));
    const ranked = await choose({ pool, options: { algorithm: 'passthrough' } });
    assert.deepEqual(ranked.slugs, ['a/m4', 'a/m3', 'a/m2']);
    const models = pool.map(({ slug }) => slug);
    const listed = await choose({
      pool,
      request: requestOf([user('hi')], models),
      options: { algorithm: 'auto' },
    });
    assert.deepEqual(listed.slugs, ['a/m0', 'a/m4', 'a/m1', 'a/m2', 'a/m3']);
  });

  test('have the router’s suffix, but for those that have one of their own', async () => {
    const request = requestOf([user('hi')], ['a/small:floor', 'a/large']);
    const { slugs, decision } = await choose({
      request,
      slug: 'service/switchyard:nitro',
      options: { algorithm: 'passthrough' },
    });
    assert.deepEqual(slugs, ['a/small:floor', 'a/large:nitro']);
    assert.deepEqual(decision?.chosen, ['a/small', 'a/large']);
  });

  test('are compared with the capable one', async () => {
    const { decision } = await choose({ options: { algorithm: 'auto' } });
    assert.deepEqual(
      [decision?.chosen[0], decision?.comparedWith, decision?.strategy],
      ['a/small', 'a/large', 'switchyard'],
    );
  });
});
