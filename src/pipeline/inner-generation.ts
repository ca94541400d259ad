import type { Wish } from '../accounts/ledger.ts';
import {
  DEFAULT_PREFERENCES,
  type Directives,
  type ProviderPreferences,
  type StopCondition,
} from '../canonical/directives.ts';
import { wordsOfFailure } from '../canonical/failure-words.ts';
import { GatewayError } from '../canonical/gateway-error.ts';
import type { InnerAnswer, InnerGenerate, InnerQuestion } from '../canonical/inner-generation.ts';
import type { GenerationRequest } from '../canonical/request.ts';
import type { Clock } from '../lib/clock.ts';
import { newGenerationId } from '../lib/ids.ts';
import { usdFromNano } from '../lib/money.ts';
import type { GenerationRecord } from '../telemetry/record.ts';
import type { ClientFormat } from '../wire/format.ts';
import type { Caller } from './caller.ts';
import type { Route } from './choose-route.ts';
import type { Asked, Generate } from './generate.ts';

/** What a request is that serves another one. */
export interface Inside {
  /** The id of the outermost request, which all records of it share. */
  readonly requestId: string;
  /** How many requests it is inside of, at least 1. */
  readonly depth: number;
  /** The most that it may cost, nano-USD. */
  readonly budgetNanoUsd: number | undefined;
}

/** A panel that asks an advisor is two deep; nobody needs more. */
const DEPTH_MAX = 2;
/** Generations inside one request, side by side and one after the other. */
const RUNS_MAX = 64;

export interface InnerParts {
  readonly generate: Generate;
  readonly clock: Clock;
}

/**
 * Generations inside a request go the same way as those of callers: the one who waits for the answer is just another caller,
 * whose format is the answer itself.
 */
export function createInnerGenerate(
  { generate, clock }: InnerParts,
  outer: Asked,
  {
    record,
    format,
    signal,
  }: { readonly record: GenerationRecord; readonly format: ClientFormat; readonly signal: AbortSignal },
): InnerGenerate {
  let runs = 0;
  return async (question, toolSignal) => {
    const depth = (outer.inside?.depth ?? 0) + 1;
    if (depth > DEPTH_MAX)
      throw new GatewayError('invalid_request', `Generations do not nest deeper than ${DEPTH_MAX}.`);
    if (++runs > RUNS_MAX)
      throw new GatewayError('rate_limit_exceeded', `One request runs at most ${RUNS_MAX} generations inside of it.`);
    const asked: Asked = {
      id: newGenerationId(clock.nowMs()),
      request: requestOf(question, outer.request),
      asker: outer.asker,
      arrivedMs: clock.monotonicMs(),
      inside: {
        requestId: outer.inside?.requestId ?? outer.id,
        depth,
        budgetNanoUsd: question.budgetNanoUsd,
      },
    };
    const answered = await answerOf(generate, asked, format, AbortSignal.any([signal, toolSignal]));
    const { usage, charge } = answered.closing;
    record.innerRuns.push({ usage, cost: charge });
    return answered.answer;
  };
}

/**
 * The route with an answer that its budget pays for.
 * @throws GatewayError 402 where it does not even pay for the prompt
 */
export function withinBudget(route: Route, budgetNanoUsd: number | undefined, wishOf: (route: Route) => Wish): Route {
  if (budgetNanoUsd === undefined) return route;
  const { worst, affordableTokens } = wishOf(route);
  if (worst.ownNanoUsd + worst.byokNanoUsd <= budgetNanoUsd) return route;
  const tokens = affordableTokens(budgetNanoUsd);
  if (tokens < 1)
    throw new GatewayError(
      'payment_required',
      `The generation inside this request may cost at most ${usdFromNano(budgetNanoUsd)} USD, which is too little for it.`,
    );
  const { request } = route;
  const maxTokens = Math.min(request.settings.maxTokens ?? Infinity, tokens);
  return { ...route, request: { ...request, settings: { ...request.settings, maxTokens } } };
}

interface Answered {
  readonly answer: InnerAnswer;
  readonly closing: Parameters<ClientFormat['encodeWhole']>[2];
}

/** @throws GatewayError what a caller of its own would be told */
function answerOf(generate: Generate, asked: Asked, format: ClientFormat, signal: AbortSignal): Promise<Answered> {
  return new Promise((resolve, reject) => {
    let answered: Answered | undefined;
    const collecting: ClientFormat = {
      ...format,
      canSay: () => true,
      encodeWhole(answer, { id, model }, closing) {
        const { usage, charge } = closing;
        const costNanoUsd = charge?.totalNanoUsd ?? 0;
        answered = { answer: { generationId: id, model, answer, usage, costNanoUsd }, closing };
        return '';
      },
    };
    const caller: Caller = {
      onGone(listener) {
        if (signal.aborted) listener();
        else signal.addEventListener('abort', listener, { once: true });
      },
      started: false,
      announce: () => undefined,
      startStream: () => undefined,
      write: () => true,
      drained: () => Promise.resolve(),
      end: () => undefined,
      answer() {
        if (answered === undefined) return;
        const { failure } = answered.answer.answer;
        if (failure === undefined) resolve(answered);
        // Half an answer is none: whoever asked for it would take it for the whole.
        else reject(new GatewayError(failure.errorType, wordsOfFailure(failure), { status: failure.status }));
      },
      refuse: (error) => reject(error),
    };
    generate(asked, collecting, caller).then(
      () => reject(new GatewayError('server', 'The generation inside this one gave no answer.')),
      reject,
    );
  });
}

/** Who asks, and what must not become known, is the outer request's; everything else is the question's. */
function requestOf(question: InnerQuestion, outer: GenerationRequest): GenerationRequest {
  return {
    format: outer.format,
    delivery: 'whole',
    turns: question.turns,
    tools: question.tools ?? [],
    settings: question.settings ?? {},
    directives: directivesOf(question, outer.directives),
    warnings: [],
  };
}

function directivesOf({ models, maxToolCalls, budgetNanoUsd }: InnerQuestion, outer: Directives): Directives {
  const { user, app, sessionId } = outer;
  const stop = budgetNanoUsd === undefined ? undefined : stopAt(budgetNanoUsd, maxToolCalls);
  return {
    models,
    provider: privacyOf(outer.provider),
    plugins: [],
    echoUpstreamBody: false,
    serviceMetadata: false,
    betas: [],
    ...(maxToolCalls !== undefined && { maxToolCalls }),
    ...(stop !== undefined && { stopServerToolsWhen: stop }),
    ...(user !== undefined && { user }),
    ...(app !== undefined && { app }),
    ...(sessionId !== undefined && { sessionId }),
  };
}

function stopAt(budgetNanoUsd: number, maxToolCalls: number | undefined): readonly StopCondition[] {
  return [
    { type: 'max_cost', maxCostInDollars: usdFromNano(budgetNanoUsd) },
    ...(maxToolCalls === undefined ? [] : [{ type: 'step_count_is', stepCount: maxToolCalls } as const]),
  ];
}

/** Providers that the caller shuts out stay out; an order of preference was meant for another model. */
function privacyOf({ ignore, dataCollection, zdr, enforceDistillableText }: ProviderPreferences): ProviderPreferences {
  return {
    ...DEFAULT_PREFERENCES,
    dataCollection,
    zdr,
    enforceDistillableText,
    ...(ignore !== undefined && { ignore }),
  };
}
