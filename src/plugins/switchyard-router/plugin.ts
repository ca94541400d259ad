import type { LeftOut, ModelChoice } from '../../canonical/model-choice.ts';
import type { GenerationRequest } from '../../canonical/request.ts';
import { classifyTask } from '../../model-selection/classify/classify-task.ts';
import { noModelLeft } from '../../model-selection/candidates/no-models.ts';
import { plainModels } from '../../model-selection/candidates/plain-models.ts';
import { formatLeftOut, rounded } from '../../model-selection/candidates/task-candidates.ts';
import { assert } from '../../lib/assert.ts';
import type { JsonObject } from '../../lib/json.ts';
import type { Plugin, PluginContext } from '../contract.ts';
import { findCandidates, priceOf, type Candidates } from './candidates.ts';
import { decide, type Algorithm, type Decision } from './decide.ts';
import { askJudge, JUDGE_SETTINGS, type JudgeDeps } from './judge.ts';
import { switchyardRouterOptions } from './options.ts';

const ID = 'switchyard-router';
const SLUG = 'service/switchyard';
const ALGORITHM: Algorithm = 'capability';
/** Models chosen for a request that lists none; the first serves, the others are for fallback. */
const CHOSEN_MAX = 3;

export const switchyardRouter = {
  id: ID,
  summary: 'Chooses between an efficient and a capable model, turn by turn.',
  options: switchyardRouterOptions,
  slugs: [SLUG],
  async chooseModels(request, slug, { algorithm = ALGORITHM }, context) {
    const { choice } = context.abilities;
    assert(choice !== undefined, 'a router gets a model choice in its context');
    const suffixes = slug.slice(SLUG.length);
    const { tag } = classifyTask(request);
    const { models: pool, leftOut } = choice.candidatePool(request);
    const candidates = findCandidates({ request, pool, choice, taskType: tag, isOwn });
    if (candidates === undefined) throw noModelLeft(slug, leftOut);
    const judge: JudgeDeps = {
      generate: context.abilities.generate,
      judges: () => judgesOf(request, choice),
      timeoutMs: choice.settings.judgeTimeoutMs,
      signal: context.signal,
    };
    const decision = await decide(algorithm, { request, candidates, choice, judge: (task) => askJudge(judge, task) });
    const order = candidates.from === 'models' ? decision.order : decision.order.slice(0, CHOSEN_MAX);
    choice.decided({
      router: ID,
      strategy: 'switchyard',
      chosen: order.map((model) => model.slug),
      taskType: tag,
      comparedWith: candidates.capable.slug,
      details: () => formatDetails(candidates, leftOut),
    });
    note(context, algorithm, decision, candidates);
    return order.map((model) => withSuffixes(candidates.spell(model), suffixes));
  },
} satisfies Plugin<typeof switchyardRouterOptions>;

function isOwn(slug: string): boolean {
  return slug === SLUG || slug.startsWith(`${SLUG}:`);
}

/** What stands behind the model's own name counts before what stands behind the router's. */
function withSuffixes(slug: string, suffixes: string): string {
  return slug.includes(':') ? slug : slug + suffixes;
}

/** The operator's judges, as far as this caller may use them; otherwise cheap models with structured output. */
const JUDGE_USD_PER_MILLION_MAX = 1;
const JUDGES_MAX = 3;
/** What judging is most like, of all that models are tested in. */
const JUDGING = 'classification_tagging';

/** @source research on switchyard: models below 1 USD a million input tokens, when none is configured */
function judgesOf(request: GenerationRequest, choice: ModelChoice): readonly string[] {
  const { models: pool } = choice.candidatePool({ ...request, turns: [], tools: [], settings: JUDGE_SETTINGS });
  const usable = new Set(pool.map(({ slug }) => slug));
  const named = choice.settings.judgeModels.flatMap((slug) => choice.resolve(slug) ?? []);
  const found = named.filter((slug) => usable.has(slug)).slice(0, JUDGES_MAX);
  if (found.length > 0) return found;
  return plainModels(pool)
    .filter(({ promptPrice }) => promptPrice < JUDGE_USD_PER_MILLION_MAX)
    .map((model) => ({ model, quality: choice.priorOf(model.slug, JUDGING) ?? 0 }))
    .toSorted((left, right) => right.quality - left.quality || left.model.promptPrice - right.model.promptPrice)
    .slice(0, JUDGES_MAX)
    .map(({ model }) => model.slug);
}

function note(context: PluginContext, algorithm: Algorithm, decision: Decision, candidates: Candidates): void {
  const { tier, source, signals, verdict, judgement, isHeld, wantsJudge } = decision;
  const [first] = decision.order;
  const cost = judgement?.costNanoUsd ?? 0;
  const data: JsonObject = {
    algorithm,
    ...(tier !== undefined && { tier }),
    source,
    ...(signals !== undefined && {
      decided_by: signals.by,
      score: rounded(signals.score),
      confidence: rounded(signals.confidence),
    }),
    ...(verdict !== undefined && { rule: verdict.rule, boundary: verdict.boundary, p_solve: verdict.pSolve }),
    ...(isHeld === true && { held: true }),
    ...(judgement?.model !== undefined && { judge: judgement.model }),
    ...(judgement?.failure !== undefined && { judge_failure: judgement.failure }),
    ...(wantsJudge === true && { judge: 'is not called here, so that the capable model stands for its verdict' }),
    capable: candidates.capable.slug,
    efficient: candidates.efficient.slug,
  };
  context.note({
    type: 'plugin',
    name: ID,
    summary: `${WORDS[source]}${first === undefined ? '' : `: ${first.slug}`}`,
    data,
    ...(cost > 0 && { costNanoUsd: cost }),
  });
}

const WORDS: Readonly<Record<Decision['source'], string>> = {
  signals: 'The history of tools decided',
  judge: 'A judge decided',
  default: 'Nothing decided, so that the default stands',
  random: 'Chance decided',
};

function formatDetails({ ranked, capable, efficient, from }: Candidates, leftOut: readonly LeftOut[]): JsonObject {
  return {
    candidates_from: from,
    capable: capable.slug,
    efficient: efficient.slug,
    ranking: ranked.map((model) => ({ model: model.slug, blended_price: rounded(priceOf(model)) })),
    left_out: formatLeftOut(leftOut),
  };
}
