import type { CandidateModel as Serving, LeftOut, ModelChoice } from '../../canonical/model-choice.ts';
import type { GenerationRequest } from '../../canonical/request.ts';
import type { JsonObject } from '../../lib/json.ts';
import { classifyTask, type TaskClass } from '../classify/classify-task.ts';
import type { CostTier } from '../rank/cost-band.ts';
import { isDoubtful, judgeTask, type JudgeInput, type TaskVerdict } from '../classify/judge-task.ts';
import { noModelLeft } from './no-models.ts';
import { plainModels } from './plain-models.ts';
import type { ScoredModel } from '../rank/rank-for-task.ts';
import { namesVariants, slugFilter } from './slug-patterns.ts';
import type { TaskTag } from '../classify/task-tags.ts';

/** Options that auto routers have in common, as callers write them. @spec router-13 */
export interface AutoOptions {
  readonly allowed_models?: readonly string[] | undefined;
  readonly excluded_models?: readonly string[] | undefined;
  readonly cost_tier?: CostTier | undefined;
  readonly cost_quality_tradeoff?: number | undefined;
}

export interface TaskCandidatesInput {
  /** As in the request. */
  readonly slug: string;
  readonly options: AutoOptions;
  readonly choice: ModelChoice;
  /** Absent: no judge may be called. */
  readonly decide: JudgeInput['decide'] | undefined;
  readonly signal: AbortSignal;
}

/** The candidate pool of a request, and its task. */
export interface TaskCandidates {
  readonly task: TaskClass;
  /** The judge of the task. `would`: one would be called, if this were not a rehearsal. Absent: none. */
  readonly judged?: TaskVerdict | 'would';
  /** In the order of the operator's default models where nothing is ranked; never empty. */
  readonly models: readonly ScoredModel[];
  /** `rankings`: by tests and traffic; `defaults`: the operator's models; `price`: there is nothing but prices. */
  readonly by: 'rankings' | 'defaults' | 'price';
  /** Of the tag in the time that own traffic counts for. */
  readonly requests: number;
  /** Allowed, ranked or not. */
  readonly eligible: ReadonlySet<string>;
  readonly leftOut: readonly LeftOut[];
}

/**
 * Classifies a request and finds its candidate pool: in the order of @spec router-2, restrictions before everything
 * else.
 * @throws GatewayError 404 when no candidate is left
 */
export async function collectTaskCandidates(
  request: GenerationRequest,
  input: TaskCandidatesInput,
): Promise<TaskCandidates> {
  const { slug, options, choice } = input;
  const reported = await reportTask(request, input);
  const { task } = reported;
  const { models, leftOut } = choice.candidatePool(request);
  const userTexts = { allowed: options.allowed_models, excluded: options.excluded_models };
  const refusal = slugFilter(userTexts, (alias) => choice.resolve(alias));
  const out: LeftOut[] = [...leftOut];
  const allowed = models.filter((model) => {
    const reason = refusal(model.slug);
    if (reason !== undefined) out.push({ slug: model.slug, reason });
    return reason === undefined;
  });
  const eligible = namesVariants(userTexts) ? allowed : plainModels(allowed);
  for (const model of allowed) if (!eligible.includes(model)) out.push({ slug: model.slug, reason: 'variant' });
  if (eligible.length === 0) throw noModelLeft(slug, out);
  const ranked = rank(eligible, task.tag, options, choice);
  const kept = new Set(ranked.models.map((model) => model.slug));
  for (const model of eligible) if (!kept.has(model.slug)) out.push({ slug: model.slug, reason: 'unranked' });
  return {
    ...reported,
    ...ranked,
    requests: choice.traffic(task.tag).requests,
    eligible: new Set(eligible.map((model) => model.slug)),
    leftOut: out,
  };
}

async function reportTask(
  request: GenerationRequest,
  { choice, decide, signal }: TaskCandidatesInput,
): Promise<Pick<TaskCandidates, 'task' | 'judged'>> {
  const task = classifyTask(request);
  const { judgesTasks, judgeModels, judgeTimeoutMs: timeoutMs, taskThreshold: threshold } = choice.settings;
  if (!judgesTasks || !isDoubtful(task)) return { task };
  if (choice.isRehearsal || decide === undefined) return { task, judged: 'would' };
  const models = judgeModels.flatMap((slug) => choice.resolve(slug) ?? []);
  const input = { decide, models, timeoutMs, threshold, signal };
  const judged = models.length === 0 ? undefined : await judgeTask(request, input);
  return judged === undefined ? { task } : { task: { ...task, tag: judged.tag }, judged };
}

/** The models for the tag, and the values by which they are compared. */
function rank(
  eligible: readonly Serving[],
  tag: TaskTag,
  options: AutoOptions,
  choice: ModelChoice,
): Pick<TaskCandidates, 'models' | 'by'> {
  const traffic = choice.traffic(tag);
  const all = eligible.map((model): ScoredModel => ({
    slug: model.slug,
    price: blendedPrice(model, traffic.tokens),
    prior: choice.priorOf(model.slug, tag),
    share: traffic.standingOf(model.slug),
  }));
  const ranked = all.filter(({ prior, share }) => prior !== undefined || share > 0);
  // Models that a caller names are included, tested or not.
  if (ranked.length > 0) return { models: options.allowed_models === undefined ? ranked : all, by: 'rankings' };
  const defaults = choice.settings.defaultModels
    .map((slug) => choice.resolve(slug))
    .flatMap((slug) => all.find((model) => model.slug === slug) ?? []);
  if (defaults.length > 0) return { models: [...new Set(defaults)], by: 'defaults' };
  return { models: all.toSorted((left, right) => left.price - right.price), by: 'price' };
}

/** When the length of such requests is unknown: prompts are mostly three times as long as completions. */
const PROMPT_PARTS = 3;
const COMPLETION_PARTS = 1;

/** USD per million tokens of an average request of the kind. @spec router-11 */
export function blendedPrice(
  { promptPrice, completionPrice }: Pick<Serving, 'promptPrice' | 'completionPrice'>,
  tokens: { readonly prompt: number; readonly completion: number } | undefined,
): number {
  const { prompt, completion } =
    tokens === undefined || tokens.prompt + tokens.completion === 0
      ? { prompt: PROMPT_PARTS, completion: COMPLETION_PARTS }
      : tokens;
  return (promptPrice * prompt + completionPrice * completion) / (prompt + completion);
}

export function formatLeftOut(leftOut: readonly LeftOut[]): JsonObject[] {
  return leftOut.map(({ slug, reason, lacks }) => ({ model: slug, reason, ...(lacks !== undefined && { lacks }) }));
}

const DECIMALS = 1e4;

export function rounded(value: number): number {
  return Math.round(value * DECIMALS) / DECIMALS;
}
