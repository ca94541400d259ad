import type { InnerGenerate } from '../canonical/inner-generation.ts';
import type { ModelChoice, RouterDecision } from '../canonical/model-choice.ts';
import type { GenerationRequest } from '../canonical/request.ts';
import type { PipelineStage } from '../canonical/route-report.ts';
import { assert } from '../lib/assert.ts';
import type { JsonObject } from '../lib/json.ts';
import { withSuffixes } from './no-models.ts';
import type { FieldModel } from './rank-for-task.ts';
import { drawLeftOut, openTaskField, rounded, type AutoOptions, type TaskField } from './task-field.ts';

/** What an auto router is asked. */
export interface AutoQuestion {
  /** The plugin's id. */
  readonly router: string;
  /** As it stands in the request. */
  readonly slug: string;
  readonly options: AutoOptions;
  readonly context: {
    readonly signal: AbortSignal;
    readonly abilities: { readonly choice?: ModelChoice; readonly generate?: InnerGenerate };
    note(stage: PipelineStage): void;
  };
}

/** What its strategy came to. */
export interface AutoChoice {
  /** Slugs, best first; not empty where the field is not. The first few count. */
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

/** Chooses from a field. */
export type AutoStrategy = (field: TaskField, known: AutoKnown) => AutoChoice;

export interface AutoKnown {
  /** The model that this conversation went to before. */
  readonly remembered: string | undefined;
  /** The concrete slug that a slug or an alias stands for; `undefined`: nobody serves it. */
  readonly resolve: (slug: string) => string | undefined;
}

/** A conversation goes on with its model after a pause, too. */
const SESSION_MS = 3_600_000;
const CHOSEN_MAX = 3;

/**
 * What auto routers do around their strategies: who may answer and what the request is about, what is remembered, told and
 * noted. @returns slugs, best first
 * @throws GatewayError 404 when nobody is left
 * @source generation.md 4.1
 */
export async function chooseByTask(
  request: GenerationRequest,
  { router, slug, options, context }: AutoQuestion,
  strategy: AutoStrategy,
): Promise<readonly string[]> {
  const { choice, generate } = context.abilities;
  assert(choice !== undefined, 'whoever chooses models is given what to choose by');
  const field = await openTaskField(request, { slug, options, choice, generate, signal: context.signal });
  const remembered = goesOn(request) ? await choice.remembered(router) : undefined;
  const found = strategy(field, { remembered, resolve: (slugOrAlias) => choice.resolve(slugOrAlias) });
  const chosen = found.chosen.slice(0, CHOSEN_MAX);
  const [first] = chosen;
  assert(first !== undefined, 'a field that is not empty has somebody to choose');
  choice.remember(router, first, SESSION_MS);
  choice.decided(decisionOf(router, field, chosen, found.details));
  context.note(stageOf(router, field, chosen, found));
  return withSuffixes(slug, chosen);
}

/** Whether it belongs to a conversation that a router may remember: a first message alone is no news of an earlier one. */
function goesOn({ turns, directives, settings }: GenerationRequest): boolean {
  const name = directives.sessionId ?? settings.promptCacheKey ?? '';
  return name !== '' || turns.some(({ role }) => role === 'assistant');
}

function stageOf(
  router: string,
  field: TaskField,
  chosen: readonly string[],
  { cost, data }: AutoChoice,
): PipelineStage {
  const { judged, task, by } = field;
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
  field: TaskField,
  chosen: readonly string[],
  details: () => JsonObject,
): RouterDecision {
  const comparedWith = mostCapable(field);
  return {
    router,
    strategy: 'auto',
    chosen,
    taskType: field.task.tag,
    ...(comparedWith !== undefined && { comparedWith }),
    details: () => ({ ...drawTask(field), ...details(), left_out: drawLeftOut(field.leftOut) }),
  };
}

/** The one that would answer best, whatever it costs: what a choice is compared with. */
function mostCapable({ models, by }: Pick<TaskField, 'models' | 'by'>): string | undefined {
  const worth = (model: FieldModel): number => (by === 'rankings' ? (model.prior ?? model.share) : model.price);
  const best = models.reduce<FieldModel | undefined>(
    (top, model) => (top === undefined || worth(model) > worth(top) ? model : top),
    undefined,
  );
  return best?.slug;
}

/** What explanations of auto routers have in common. */
function drawTask({ task, judged, by, requests }: TaskField): JsonObject {
  const { tag, confidence, source, scores } = task;
  return {
    classification: {
      task_type: tag,
      source: typeof judged === 'object' ? 'judge' : source,
      confidence: rounded(confidence),
      scores: scores.map(({ tag: name, score }) => ({ task_type: name, score })),
      ...(judged === 'would' && { judge: 'would be asked: words leave doubt' }),
    },
    ranked_by: by,
    requests_last_7d: requests,
  };
}
