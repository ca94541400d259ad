import type { RequestPermit } from '../../accounts/limits/rate-limits.ts';
import type { Principal } from '../../accounts/principal.ts';
import type { Calibration } from '../../canonical/calibration.ts';
import type { DecisionMethod, DecisionRequest } from '../../canonical/decisions.ts';
import type { Directives } from '../../canonical/directives.ts';
import { GatewayError, invalid } from '../../canonical/gateway-error.ts';
import type { GenerationOrigin } from '../../canonical/generation-origin.ts';
import type { Settings, Turn } from '../../canonical/request.ts';
import type { Model } from '../../catalog/model.ts';
import { CALLS_MAX, planCalls } from '../../decisions/calls.ts';
import { calibrated } from '../../decisions/calibrate.ts';
import { decide } from '../../decisions/decide.ts';
import { isUnstable } from '../../decisions/stability.ts';
import type { Clock } from '../../lib/clock.ts';
import { newGenerationId, randomText } from '../../lib/ids.ts';
import type { DecisionOutcome } from '../../wire/decisions/answer-out.ts';
import type { AnswerIdentity, ClientFormat } from '../../wire/format.ts';
import type { Generate, NestedContext } from '../request.ts';
import { collectResponse, type CollectedResponse } from '../response/collect-response.ts';
import { isReasoning, judgeOf, methodOf, takesSchema, type JudgeModelDeps } from './judge-model.ts';

/** One decision, authenticated and decoded. */
export interface IncomingDecision {
  readonly id: string;
  readonly request: DecisionRequest;
  readonly principal: Principal;
  /** Monotonic ms. */
  readonly arrivedMs: number;
  /** Among the requests under way at a time; the caller ends it. */
  readonly place?: RequestPermit | undefined;
  readonly isLarge?: boolean;
  /** Absent: a request of a caller for a decision. */
  readonly origin?: GenerationOrigin;
  /** Set for a decision that serves something else, whose id its records carry. */
  readonly within?: Pick<NestedContext, 'requestId' | 'budgetNanoUsd' | 'ended'>;
}

export interface RunDecisionDeps extends JudgeModelDeps {
  readonly generate: Generate;
  readonly clock: Clock;
  readonly timeoutMs: number;
  readonly calibrations: readonly Calibration[];
  /** In which responses are folded. */
  readonly format: ClientFormat;
}

/** @throws GatewayError in place of an answer */
export type RunDecision = (
  incoming: IncomingDecision,
  signal: AbortSignal,
) => Promise<{ readonly outcome: DecisionOutcome; readonly identity: AnswerIdentity }>;

const NONCE_CHARS = 16;
const KEPT_PLACE: RequestPermit = { ended: () => Promise.resolve() };

/**
 * Decides by a chat model: every call of it is a generation with the limits, guardrails and records of any other, and all
 * records carry the id of the decision.
 */
export function createRunDecision(deps: RunDecisionDeps): RunDecision {
  return async (incoming, gone) => {
    const { id, request } = incoming;
    const model = judgeOf(deps, request.directives);
    const method = methodOf(request, model);
    checkCalls(request, method);
    checkCalibration(deps.calibrations, request, model);
    const limit = AbortSignal.timeout(deps.timeoutMs);
    const calls = new JudgeCalls(deps, incoming, model);
    try {
      const found = await decide(request, method, {
        call: (call, isRepeat, signal) => calls.run(call, isRepeat, signal),
        nonce: randomText(NONCE_CHARS),
        signal: AbortSignal.any([gone, limit]),
        limitsReasoning: isReasoning(model),
        takesSchema: takesSchema(model),
      });
      const [first] = calls.done;
      const calibration = deps.calibrations.find((one) => isWanted(one, request.calibration) && calls.areOf(one));
      const verdicts = calibration === undefined ? found : found.map((verdict) => calibrated(verdict, calibration));
      return {
        identity: { id, model: first?.model ?? model.slug, provider: first?.provider ?? '' },
        outcome: {
          ...calls.sums(),
          verdicts,
          method: calls.method ?? method,
          calibration,
          warnings: [...request.warnings, ...verdicts.filter(isUnstable).map(({ question }) => unstable(question.id))],
        },
      };
    } catch (error) {
      if (limit.aborted && !gone.aborted) throw timedOut(deps.timeoutMs, error);
      throw error;
    }
  };
}

/** Runs the calls of one decision, and sums up what they used. */
class JudgeCalls {
  readonly done: CollectedResponse[] = [];
  /** Of the last call that was run. */
  method: DecisionMethod | undefined;
  readonly #deps: RunDecisionDeps;
  readonly #incoming: IncomingDecision;
  readonly #model: Model;
  readonly #runs = { count: 0 };

  constructor(deps: RunDecisionDeps, incoming: IncomingDecision, model: Model) {
    this.#deps = deps;
    this.#incoming = incoming;
    this.#model = model;
  }

  async run(
    { turns, settings }: { readonly turns: readonly Turn[]; readonly settings: Settings },
    isRepeat: boolean,
    signal: AbortSignal,
  ): Promise<CollectedResponse> {
    const { generate, clock, format } = this.#deps;
    const { id, request, principal, isLarge = false, place, origin = 'decisions', within } = this.#incoming;
    const isFirst = ++this.#runs.count === 1;
    this.method = settings.logprobs === true ? 'logprobs' : 'schema';
    const directives = this.#directivesOf(request.directives, settings, isRepeat);
    const response = await collectResponse(
      generate,
      {
        id: isFirst ? id : newGenerationId(clock.nowMs()),
        // The decision keeps it until all of its calls have ended.
        ...(isFirst && place !== undefined && { place: KEPT_PLACE }),
        request: { format: format.id, delivery: 'whole', turns, tools: [], settings, directives, warnings: [] },
        principal,
        arrivedMs: clock.monotonicMs(),
        isLarge,
        origin,
        nested: {
          requestId: within?.requestId ?? id,
          startedBy: undefined,
          depth: 1,
          budgetNanoUsd: within?.budgetNanoUsd,
          withoutTools: new Set(),
          runs: this.#runs,
          ended: (final) => within?.ended(final),
        },
      },
      format,
      [signal],
    );
    this.done.push(response);
    return response;
  }

  /** Whether the model of a calibration gave everything, in its way. */
  areOf({ model, method }: Calibration): boolean {
    return this.method === method && this.done.every((one) => one.model === model);
  }

  sums(): Pick<DecisionOutcome, 'inputTokens' | 'outputTokens' | 'costNanoUsd' | 'generations'> {
    const sum = (of: (one: CollectedResponse) => number): number =>
      this.done.reduce((total, one) => total + of(one), 0);
    return {
      inputTokens: sum(({ usage }) => usage.promptTokens),
      outputTokens: sum(({ usage }) => usage.completionTokens),
      costNanoUsd: this.done.some(({ isUnpriced }) => isUnpriced) ? undefined : sum(({ costNanoUsd }) => costNanoUsd),
      generations: this.done.map(({ generationId }) => generationId),
    };
  }

  /** Log-probabilities are worth nothing from an endpoint that leaves them out. */
  #directivesOf(directives: Directives, { logprobs }: Settings, isRepeat: boolean): Directives {
    const turned = isRepeat ? beginningElsewhere(directives, this.#model, this.done) : directives;
    return logprobs === true ? { ...turned, provider: { ...turned.provider, requireParameters: true } } : turned;
  }
}

/** A repeat begins with the next model, or else with a provider of the same one that has not been heard. */
function beginningElsewhere(
  directives: Directives,
  { endpoints }: Model,
  heard: readonly CollectedResponse[],
): Directives {
  const { models, provider } = directives;
  const [first, ...others] = models;
  if (first !== undefined && others.length > 0) return { ...directives, models: [...others, first] };
  const names = new Set(heard.map(({ provider: name }) => name));
  const fresh = endpoints.filter(({ providerName }) => !names.has(providerName)).map(({ provider: slug }) => slug);
  if (fresh.length === 0) return directives;
  return { ...directives, provider: { ...provider, order: [...new Set([...fresh, ...(provider.order ?? [])])] } };
}

function checkCalls({ questions, ordersMax }: DecisionRequest, method: DecisionMethod): void {
  const { length } = planCalls(questions, method, ordersMax);
  if (length > CALLS_MAX)
    throw invalid(
      'questions',
      `would take ${length} generations, and ${CALLS_MAX} are allowed: send fewer questions, or set options.orders to 1`,
    );
}

function isWanted({ name }: Calibration, wanted = 'off'): boolean {
  return wanted === 'auto' || wanted === name;
}

/** @throws GatewayError 400 for a name that no calibration of the model has */
function checkCalibration(
  calibrations: readonly Calibration[],
  { calibration: wanted = 'off' }: DecisionRequest,
  { slug }: Model,
): void {
  if (wanted === 'auto' || wanted === 'off') return;
  if (!calibrations.some(({ name, model }) => name === wanted && model === slug))
    throw invalid('options.calibration', `there is none of this name for ${JSON.stringify(slug)}: use "auto" or "off"`);
}

function unstable(id: string): DecisionOutcome['warnings'][number] {
  return {
    code: 'unstable_order',
    path: `questions.${id}`,
    message: 'the probabilities depend on the order of the options, so the confidence is at most 0.5',
  };
}

function timedOut(timeoutMs: number, cause: unknown): GatewayError {
  return new GatewayError(
    'provider_unavailable',
    `The decision took longer than ${timeoutMs} ms. Send fewer questions, or name a faster model.`,
    { metadata: { reason: 'timeout' }, cause },
  );
}
