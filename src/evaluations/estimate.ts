import { GatewayError, invalid } from '../canonical/gateway-error.ts';
import type { Principal } from '../accounts/principal.ts';
import type { RunSettings } from '../resources/evaluations.ts';
import { openLines } from './dataset/dataset-lines.ts';
import type { DatasetItem } from './dataset/item.ts';
import type { EvaluationDeps } from './deps.ts';
import { itemOrder, unitsOf } from './plan.ts';
import { judgedState, pairState, requestOf } from './unit-requests.ts';

/** Items that an estimate looks at. */
const LOOKED_AT_MAX = 50;
/** Of an answer, in what a judge is held to read. */
const ANSWER = ' '.repeat(2_000);

/** What a run may come to. */
export interface Estimate {
  /** Of models and of the judge. */
  readonly calls: number;
  /** Prompts alone. */
  readonly lowNanoUsd: number;
  /** Answers as long as they may be. */
  readonly highNanoUsd: number;
}

interface EstimateInput {
  readonly datasetId: string;
  readonly items: number;
  readonly settings: RunSettings;
  readonly principal: Principal;
}

/**
 * Estimates a run by some of its items, and checks each model with them.
 * @throws GatewayError 400 for a model that is a router, has no price, or refuses the request; 404 for one that there is not
 */
export async function estimateRun(deps: EvaluationDeps, input: EstimateInput): Promise<Estimate> {
  const { datasetId, items, settings, principal } = input;
  const lines = await openLines((range) => deps.blobs.open(datasetId, range));
  const looked = itemOrder(items, settings).slice(0, LOOKED_AT_MAX);
  let [low, high, judged] = [0, 0, 0];
  for (const at of looked) {
    const item = await lines.read(at);
    const cost = await costOf(deps, item, settings, principal);
    low += cost.low;
    high += cost.high;
    if (isJudged(item)) judged++;
  }
  const share = unitsOf(items, settings) / Math.max(1, looked.length * settings.models.length);
  const { judge } = settings;
  const judgeCalls = judge === null ? 0 : Math.round(judged * settings.models.length * share);
  // One call an item, however many answers are compared with its answer.
  const perItem = share / settings.repeats;
  const references = judge?.reference_model === undefined ? 0 : Math.round(judged * perItem);
  return {
    calls: unitsOf(items, settings) + judgeCalls + references,
    lowNanoUsd: Math.round(low * share),
    highNanoUsd: Math.round(high * share),
  };
}

function isJudged({ checks }: DatasetItem): boolean {
  return checks.some(({ type }) => type === 'judge');
}

async function costOf(deps: EvaluationDeps, item: DatasetItem, settings: RunSettings, principal: Principal) {
  let [low, high] = [0, 0];
  for (const [at, model] of settings.models.entries())
    await named(`models[${at}]`, async () => {
      const request = await requestOf(deps, { item, model, settings }, principal);
      low += deps.calls.worstCase({ ...request, settings: { ...request.settings, maxTokens: 1 } });
      high += deps.calls.worstCase(request);
    });
  const { judge } = settings;
  if (judge !== null && isJudged(item))
    await named('judge', async () => {
      const { model, reference_model: reference } = judge;
      const state = reference === undefined ? judgedState(item, ANSWER) : pairState(item, [ANSWER, ANSWER]);
      high += settings.models.length * deps.calls.worstCaseOfJudge(model, state);
      if (reference === undefined) return;
      const request = await requestOf(deps, { item, model: { model: reference }, settings }, principal);
      low += deps.calls.worstCase({ ...request, settings: { ...request.settings, maxTokens: 1 } });
      high += deps.calls.worstCase(request);
    });
  return { low, high };
}

/** Names the member of the run that is wrong. */
async function named(path: string, check: () => Promise<void>): Promise<void> {
  try {
    await check();
  } catch (error) {
    if (!(error instanceof GatewayError) || error.status >= 500) throw error;
    if (error.status === 404) throw new GatewayError('not_found', `${path}: ${error.message}`);
    throw invalid(path, error.message.replace(/^model: /, ''));
  }
}
