import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import type { InnerQuestion } from '../../canonical/inner-generation.ts';
import type { FieldModel, ModelChoice, RouterDecision } from '../../canonical/model-choice.ts';
import type { GenerationRequest } from '../../canonical/request.ts';
import type { PipelineStage } from '../../canonical/route-report.ts';
import type { PluginContext } from '../contract.ts';
import type { switchyardRouterOptions } from './options.ts';
import { switchyardRouter } from './plugin.ts';
import { fieldModel, remembering, requestOf, user } from './test-candidates.ts';

const LARGE = fieldModel('a/large', 10);
const SMALL = fieldModel('a/small', 0.5);
const CHEAP_JUDGE = fieldModel('b/judge', 0.9);
const DEAR_JUDGE = fieldModel('b/dear-judge', 1);

interface Given {
  readonly request?: GenerationRequest;
  readonly slug?: string;
  readonly judgeModels?: readonly string[];
  /** Who may answer the request, and who a judge's question. */
  readonly field?: readonly FieldModel[];
  readonly judges?: readonly FieldModel[];
  readonly options?: (typeof switchyardRouterOptions)['_output'];
}

interface Done {
  readonly slugs: readonly string[];
  /** What judges were asked. */
  readonly asked: readonly InnerQuestion[];
  readonly stages: readonly PipelineStage[];
  readonly decision: RouterDecision | undefined;
}

async function choose({
  request = requestOf([user('Sort this')]),
  slug = 'service/switchyard',
  judgeModels = [],
  field = [LARGE, SMALL],
  judges = [],
  options = {},
}: Given): Promise<Done> {
  const asked: InnerQuestion[] = [];
  const stages: PipelineStage[] = [];
  let decision: RouterDecision | undefined;
  const choice = {
    ...remembering(),
    settings: { judgeModels, judgeTimeoutMs: 1_000 },
    field: ({ turns }: GenerationRequest) => ({ models: turns.length > 0 ? field : judges, leftOut: [] }),
    resolve: (name: string) => name.replace(/^~(.*)-latest$/, '$1').replace(/:.*/, ''),
    priorOf: () => undefined,
    decided: (made: RouterDecision) => void (decision = made),
  } as unknown as ModelChoice;
  const context = {
    abilities: {
      choice,
      generate(question: InnerQuestion) {
        asked.push(question);
        return Promise.reject(new Error('away'));
      },
    },
    signal: new AbortController().signal,
    note: (stage: PipelineStage) => void stages.push(stage),
  } as unknown as PluginContext;
  return { slugs: await switchyardRouter.chooseModels(request, slug, options, context), asked, stages, decision };
}

suite('who judges', () => {
  test('whom the operator names, in that order, as far as the caller may ask them', async () => {
    const judgeModels = ['c/gone', '~b/dear-judge-latest', 'b/judge'];
    const { asked } = await choose({ judgeModels, judges: [CHEAP_JUDGE, DEAR_JUDGE] });
    assert.deepEqual(asked[0]?.models, ['b/dear-judge', 'b/judge']);
  });

  test('else whoever costs less than a dollar a million', async () => {
    const { asked } = await choose({ judgeModels: ['c/gone'], judges: [DEAR_JUDGE, CHEAP_JUDGE] });
    assert.deepEqual(asked[0]?.models, ['b/judge']);
  });

  test('nobody, where all cost more, and the capable model answers', async () => {
    const { asked, slugs, stages } = await choose({ judges: [DEAR_JUDGE] });
    assert.deepEqual([asked.length, slugs[0]], [0, 'a/large']);
    assert.equal(stages[0]?.data?.['judge_failure'], 'no_judge');
  });

  test('nobody is looked for where nobody is asked', async () => {
    const { asked } = await choose({ judges: [CHEAP_JUDGE], options: { algorithm: 'auto' } });
    assert.equal(asked.length, 0);
  });
});

suite('the models that take the place of the slug', () => {
  test('are at most three of a ranking, and all that the request lists', async () => {
    const field = Array.from({ length: 5 }, (_, at) => fieldModel(`a/m${at}`, at));
    const ranked = await choose({ field, options: { algorithm: 'passthrough' } });
    assert.deepEqual(ranked.slugs, ['a/m4', 'a/m3', 'a/m2']);
    const models = field.map(({ slug }) => slug);
    const listed = await choose({ field, request: requestOf([user('hi')], models), options: { algorithm: 'auto' } });
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
