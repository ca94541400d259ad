import type { Decide } from '../../canonical/decisions.ts';
import type { ModelChoice, RouterDecision } from '../../canonical/model-choice.ts';
import type { GenerationRequest } from '../../canonical/request.ts';
import type { PipelineStage } from '../../canonical/route-report.ts';
import { assert } from '../../lib/assert.ts';
import type { JsonObject } from '../../lib/json.ts';
import { withSuffixes } from '../candidates/no-models.ts';
import type { ScoredModel } from './rank-for-task.ts';
import {
  formatLeftOut,
  collectTaskCandidates,
  rounded,
  type AutoOptions,
  type TaskCandidates,
} from '../candidates/task-candidates.ts';

/** Input of an auto router. */
export interface AutoInput {
  /** The plugin's id. */
  readonly router: string;
  /** As in the request. */
  readonly slug: string;
  readonly options: AutoOptions;
  readonly context: {
    readonly signal: AbortSignal;
    readonly abilities: { readonly choice?: ModelChoice; readonly decide?: Decide };
    note(stage: PipelineStage): void;
  };
}

/** The result of its strategy. */
export interface AutoChoice {
  /** Slugs, best first; not empty where the pool is not. The first few count. */
  readonly chosen: readonly string[];
  /** The part of the models' costs that they were chosen from; absent: nothing was ranked. */
  readonly cost?:
    | { readonly band: { readonly from: number; readonly to: number }; readonly bandMoved: boolean }
    | undefined;
  /** Further members of the stage's data. */
  readonly data?: JsonObject;
  /** What an explanation shows of it. */
  readonly details: () => JsonObject;
}

/** Chooses from a pool. */
export type AutoStrategy = (pool: TaskCandidates, known: AutoKnown) => AutoChoice;

export interface AutoKnown {
  /** The model that this conversation went to before. */
  readonly remembered: string | undefined;
  /** The concrete slug that a slug or an alias stands for; `undefined`: it is not served. */
  readonly resolve: (slug: string) => string | undefined;
}

/** A conversation keeps its model after a pause, too. */
const SESSION_MS = 3_600_000;
const CHOSEN_MAX = 3;

/**
 * The common part of auto routers around their strategies: candidate pool and task, memory, report and metadata.
 * @returns slugs, best first
 * @throws GatewayError 404 when no candidate is left
 * @spec router-10
 */
export async function chooseByTask(
  request: GenerationRequest,
  { router, slug, options, context }: AutoInput,
  strategy: AutoStrategy,
): Promise<readonly string[]> {
  const { choice, decide } = context.abilities;
  assert(choice !== undefined, 'a router gets a model choice in its context');
  const pool = await collectTaskCandidates(request, { slug, options, choice, decide, signal: context.signal });
  const remembered = goesOn(request) ? await choice.remembered(router) : undefined;
  const found = strategy(pool, { remembered, resolve: (slugOrAlias) => choice.resolve(slugOrAlias) });
  const chosen = found.chosen.slice(0, CHOSEN_MAX);
  const [first] = chosen;
  assert(first !== undefined, 'a pool that is not empty has a model to choose');
  choice.remember(router, first, SESSION_MS);
  choice.decided(decisionOf(router, pool, chosen, found.details));
  context.note(stageOf(router, pool, chosen, found));
  return withSuffixes(slug, chosen);
}

/** Whether it belongs to a conversation that a router may remember: a first message alone is no news of an earlier one. */
function goesOn({ turns, directives, settings }: GenerationRequest): boolean {
  const name = directives.sessionId ?? settings.promptCacheKey ?? '';
  return name !== '' || turns.some(({ role }) => role === 'assistant');
}

function stageOf(
  router: string,
  pool: TaskCandidates,
  chosen: readonly string[],
  { cost, data }: AutoChoice,
): PipelineStage {
  const { judged, task, by } = pool;
  const verdict = typeof judged === 'object' ? judged : undefined;
  return {
    type: 'plugin',
    name: router,
    summary: `Chose ${chosen[0]} for ${task.tag}`,
    ...(verdict !== undefined && { costNanoUsd: verdict.costNanoUsd }),
    data: {
      task_type: task.tag,
      chosen: [...chosen],
      ranked_by: by,
      ...(cost !== undefined && { cost_band: [cost.band.from, cost.band.to] }),
      ...(cost?.bandMoved === true && { band_moved: true }),
      ...(verdict !== undefined && { judge: verdict.model }),
      ...data,
    },
  };
}

function decisionOf(
  router: string,
  pool: TaskCandidates,
  chosen: readonly string[],
  details: () => JsonObject,
): RouterDecision {
  const comparedWith = mostCapable(pool);
  return {
    router,
    strategy: 'auto',
    chosen,
    taskType: pool.task.tag,
    ...(comparedWith !== undefined && { comparedWith }),
    details: () => ({ ...formatTask(pool), ...details(), left_out: formatLeftOut(pool.leftOut) }),
  };
}

/** The one that would answer best, whatever it costs: what a choice is compared with. */
function mostCapable({ models, by }: Pick<TaskCandidates, 'models' | 'by'>): string | undefined {
  const worth = (model: ScoredModel): number => (by === 'rankings' ? (model.prior ?? model.share) : model.price);
  const best = models.reduce<ScoredModel | undefined>(
    (top, model) => (top === undefined || worth(model) > worth(top) ? model : top),
    undefined,
  );
  return best?.slug;
}

/** What explanations of auto routers have in common. */
function formatTask({ task, judged, by, requests }: TaskCandidates): JsonObject {
  const { tag, confidence, source, scores } = task;
  return {
    classification: {
      task_type: tag,
      source: typeof judged === 'object' ? 'judge' : source,
      confidence: rounded(confidence),
      scores: scores.map(({ tag: name, score }) => ({ task_type: name, score })),
      ...(judged === 'would' && { judge: 'would be called: keywords are inconclusive' }),
    },
    ranked_by: by,
    requests_last_7d: requests,
  };
}
