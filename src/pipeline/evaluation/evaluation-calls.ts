import type { Principal } from '../../accounts/principal.ts';
import type { DecisionQuestion } from '../../canonical/decisions.ts';
import { DEFAULT_PREFERENCES, type Directives } from '../../canonical/directives.ts';
import { GatewayError, invalid } from '../../canonical/gateway-error.ts';
import type { GenerationRequest } from '../../canonical/request.ts';
import type { NestedResponse } from '../../canonical/tools/nested-generation.ts';
import type { Model } from '../../catalog/model.ts';
import { newGenerationId } from '../../lib/ids.ts';
import type { ClientFormat, FinalUsage } from '../../wire/format.ts';
import { limitAsSent } from '../attempt/request/limit-as-sent.ts';
import { worstCaseOf } from '../billing/cost-estimate.ts';
import { createRunDecision } from '../decisions/run-decision.ts';
import type { GenerateDeps } from '../generate.ts';
import { isSlugOf } from '../plugins/enabled-plugins.ts';
import type { Generate, NestedContext } from '../request.ts';
import { collectResponse } from '../response/collect-response.ts';
import { resolveModels } from '../route/resolve-models.ts';

/** What runs in the name of a benchmark run, and is recorded with its id. */
export interface EvaluationCall {
  readonly runId: string;
  /** Pays, and has the rules. */
  readonly principal: Principal;
  /** The most that it may cost, nano-USD. */
  readonly budgetNanoUsd: number;
  readonly signal: AbortSignal;
}

/** What came of a call, with what it cost in any case, nano-USD. */
export interface EvaluationOutcome<Value> {
  readonly generationId: string;
  readonly costNanoUsd: number;
  readonly result: { readonly value: Value } | { readonly error: GatewayError };
}

/** Puts one question to a judge. */
export interface JudgeInput {
  readonly model: string;
  /** Data, as text. */
  readonly state: string;
  readonly question: DecisionQuestion;
}

/** Puts two answers to a judge. */
export interface PairInput {
  readonly model: string;
  /** With the answer in question first, and second. */
  readonly states: readonly [string, string];
  /** Its options: the first one, the second one, neither. */
  readonly question: DecisionQuestion;
}

export interface EvaluationCalls {
  /**
   * The most that a request may cost, nano-USD.
   * @throws GatewayError 400 for a router, and for a model whose price is unknown; 404 for an unknown model
   */
  worstCase(request: GenerationRequest): number;
  /** The same for a question to a judge, repeats included. @throws GatewayError as `worstCase` */
  worstCaseOfJudge(model: string, state: string): number;
  generate(request: GenerationRequest, call: EvaluationCall): Promise<EvaluationOutcome<NestedResponse>>;
  /** From 0 to 1, by the probabilities of the levels. */
  judge(input: JudgeInput, call: EvaluationCall): Promise<EvaluationOutcome<number>>;
  /** How likely the answer in question is the better one, from 0 to 1; a half where they are alike. */
  compare(input: PairInput, call: EvaluationCall): Promise<EvaluationOutcome<number>>;
}

export interface EvaluationCallsDeps {
  readonly generateDeps: GenerateDeps;
  readonly generate: Generate;
  readonly format: ClientFormat;
  readonly decisionMs: number;
}

/** Orders in which a judge sees the levels: as they are, and reversed. */
const ORDERS = 2;
/** Each order may be repeated once. */
const JUDGE_CALLS_MAX = ORDERS * 2;
/** What the reply of a judge may have at most, and the instructions around what it judges. */
const JUDGE_OUTPUT_TOKENS = 4_096;
const JUDGE_PROMPT = ' '.repeat(8_192);
/** Only names of one record for all calls: nothing nests deeper. */
const DEPTH = 1;

/** Calls models for benchmark runs: each call is a generation with the limits, guardrails and records of any other. */
export function createEvaluationCalls(deps: EvaluationCallsDeps): EvaluationCalls {
  const { generateDeps, generate, format, decisionMs } = deps;
  const { clock, catalog, plugins } = generateDeps;
  const decide = createRunDecision({
    generate,
    catalog,
    plugins,
    clock,
    timeoutMs: decisionMs,
    calibrations: [],
    format,
  });
  const worstCase = (request: GenerationRequest): number => worstOf(generateDeps, request);
  return {
    worstCase,
    worstCaseOfJudge(model, state) {
      const one = worstCase(judgeRequest(model, state));
      return one * JUDGE_CALLS_MAX;
    },
    generate(request, call) {
      const id = newGenerationId(clock.nowMs());
      return settled(id, (ended) => {
        const { models } = request.directives;
        return collectResponse(
          generate,
          {
            id,
            // Named twice, it is no model that is named alone, which brings its fallbacks.
            request: withModels(request, [...models, ...models]),
            principal: call.principal,
            arrivedMs: clock.monotonicMs(),
            origin: 'evaluation',
            nested: nestedOf(call, ended),
          },
          format,
          [call.signal],
        );
      });
    },
    judge({ model, state, question }, call) {
      const id = newGenerationId(clock.nowMs());
      return settled(id, async (ended) => scoreOf(await put(id, { model, state, question }, ORDERS, { call, ended })));
    },
    compare({ model, states, question }, call) {
      const id = newGenerationId(clock.nowMs());
      return settled(id, async (ended) => {
        const [first, second] = states;
        // Options stay where they are and answers change places, so that a preference for a place or a label cancels.
        const one = await put(id, { model, state: first, question }, 1, { call, ended });
        const further = newGenerationId(clock.nowMs());
        const other = await put(further, { model, state: second, question }, 1, { call, ended });
        return (shareOf(one, 0) + shareOf(other, 1)) / 2;
      });
    },
  };

  /** @returns millionths of the options */
  async function put(
    id: string,
    { model, state, question }: JudgeInput,
    ordersMax: number,
    { call, ended }: { readonly call: EvaluationCall; readonly ended: (final: FinalUsage) => void },
  ): Promise<readonly number[]> {
    const { runId: requestId, budgetNanoUsd, principal, signal } = call;
    const directives = directivesOf([model]);
    const request = { state, questions: [question], method: 'auto', ordersMax, directives, warnings: [] } as const;
    const within = { requestId, budgetNanoUsd, ended };
    const arrivedMs = clock.monotonicMs();
    const { outcome } = await decide({ id, request, principal, arrivedMs, origin: 'judge', within }, signal);
    return outcome.verdicts[0]?.millionths ?? [];
  }
}

/** Of one of two answers, with half of what neither has. */
function shareOf(millionths: readonly number[], at: 0 | 1): number {
  return ((millionths[at] ?? 0) + (millionths[2] ?? 0) / 2) / 1_000_000;
}

/** Runs a call, and adds up what its generations cost, whether it succeeds or fails. */
async function settled<Value>(
  generationId: string,
  run: (ended: (final: FinalUsage) => void) => Promise<Value>,
): Promise<EvaluationOutcome<Value>> {
  let costNanoUsd = 0;
  try {
    const value = await run(({ charge }) => (costNanoUsd += charge?.totalNanoUsd ?? 0));
    return { generationId, costNanoUsd, result: { value } };
  } catch (error) {
    if (!(error instanceof GatewayError)) throw error;
    return { generationId, costNanoUsd, result: { error } };
  }
}

function nestedOf({ runId, budgetNanoUsd }: EvaluationCall, ended: NestedContext['ended']): NestedContext {
  return {
    requestId: runId,
    startedBy: undefined,
    depth: DEPTH,
    budgetNanoUsd,
    withoutTools: new Set(),
    runs: { count: 0 },
    ended,
  };
}

/** The one model that a request is for. @throws GatewayError 400, 404 */
function modelOf({ catalog, plugins, defaults }: GenerateDeps, request: GenerationRequest): Model {
  const routed = request.directives.models.find((slug) => plugins.some((plugin) => isSlugOf(plugin, slug)));
  if (routed !== undefined) throw invalid('model', `${JSON.stringify(routed)} is a router: name the model itself`);
  const { models } = resolveModels(request, defaults.model, catalog, false);
  const [model] = models;
  if (model === undefined) throw invalid('model', 'is required');
  return model;
}

function worstOf(deps: GenerateDeps, request: GenerationRequest): number {
  const model = modelOf(deps, request);
  const usable = model.endpoints.filter(({ lacksCredentials }) => lacksCredentials !== true);
  const unpriced = usable.find(({ price }) => price === undefined);
  if (unpriced !== undefined)
    throw invalid(
      'model',
      `${JSON.stringify(model.slug)} has no known price at ${unpriced.providerName}, so its cost has no bound: set its price in the configuration, 0 where it is free`,
    );
  const offers = usable.map((endpoint) => {
    const [format = 'chat'] = endpoint.formats;
    return { endpoint, maxTokens: limitAsSent(deps, request, { endpoint, format }) };
  });
  return worstCaseOf(request, offers, deps.clock.nowMs()).nanoUsd;
}

function withModels(request: GenerationRequest, models: readonly string[]): GenerationRequest {
  return { ...request, directives: { ...request.directives, models } };
}

function directivesOf(models: readonly string[]): Directives {
  return {
    models,
    provider: DEFAULT_PREFERENCES,
    plugins: [],
    echoUpstreamBody: false,
    serviceMetadata: false,
    betas: [],
  };
}

/** Stands for a call of a judge where its cost is estimated. */
function judgeRequest(model: string, state: string): GenerationRequest {
  return {
    format: 'chat',
    delivery: 'whole',
    turns: [{ role: 'user', blocks: [{ type: 'text', text: state + JUDGE_PROMPT }] }],
    tools: [],
    settings: { maxTokens: JUDGE_OUTPUT_TOKENS },
    directives: directivesOf([model]),
    warnings: [],
  };
}

/** The mean of the levels, each as far from 0 to 1 as its place. */
function scoreOf(millionths: readonly number[]): number {
  const last = millionths.length - 1;
  return millionths.reduce((sum, share, level) => sum + (share * level) / last, 0) / 1_000_000;
}
