import type { Wish } from '../accounts/ledger.ts';
import { privacyOf, type Directives, type StopCondition } from '../canonical/directives.ts';
import { wordsOfFailure } from '../canonical/failure-words.ts';
import { GatewayError } from '../canonical/gateway-error.ts';
import type { InnerAnswer, InnerGenerate, InnerQuestion } from '../canonical/inner-generation.ts';
import type { GenerationRequest } from '../canonical/request.ts';
import type { Clock } from '../lib/clock.ts';
import { newGenerationId } from '../lib/ids.ts';
import { usdFromNano } from '../lib/money.ts';
import type { GenerationRecord } from '../telemetry/record.ts';
import type { ClientFormat, Closing } from '../wire/format.ts';
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
  /** Types of server tools that nobody in it is offered. */
  readonly withoutTools: ReadonlySet<string>;
  /** Generations inside the outermost request so far, however deep. */
  readonly runs: { count: number };
  /** Hears what it came to, once it is accounted for, whatever became of it. */
  readonly ended: (closing: Closing) => void;
}

/** A panel that asks an advisor is two deep; nobody needs more. */
const DEPTH_MAX = 2;
/** Generations inside one request, side by side, one after the other, and inside of each other. */
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
    underWay,
  }: {
    readonly record: GenerationRecord;
    readonly format: ClientFormat;
    readonly signal: AbortSignal;
    /** Those that run, for whoever must not end before they have. */
    readonly underWay: Set<Promise<unknown>>;
  },
): InnerGenerate {
  const runs = outer.inside?.runs ?? { count: 0 };
  return async (question, toolSignal) => {
    const depth = (outer.inside?.depth ?? 0) + 1;
    if (depth > DEPTH_MAX)
      throw new GatewayError('invalid_request', `Generations do not nest deeper than ${DEPTH_MAX}.`);
    if (++runs.count > RUNS_MAX)
      throw new GatewayError('rate_limit_exceeded', `One request runs at most ${RUNS_MAX} generations inside of it.`);
    // A header that tells the depth, as generation.md 9.1 has it, anybody could send: this is told from one to the next.
    const withoutTools = new Set([...(outer.inside?.withoutTools ?? []), ...(question.withoutTools ?? [])]);
    const asked: Asked = {
      id: newGenerationId(clock.nowMs()),
      request: requestOf(question, outer.request, withoutTools),
      asker: outer.asker,
      arrivedMs: clock.monotonicMs(),
      inside: {
        requestId: outer.inside?.requestId ?? outer.id,
        depth,
        budgetNanoUsd: question.budgetNanoUsd,
        withoutTools,
        runs,
        ended({ usage, charge }) {
          record.innerRuns.push({ usage, cost: charge });
          question.ended?.({ usage, costNanoUsd: charge?.totalNanoUsd ?? 0 });
        },
      },
    };
    const running = answerOf(generate, asked, format, [signal, toolSignal]);
    underWay.add(running);
    return running.finally(() => underWay.delete(running));
  };
}

/** The route with an answer that every endpoint of it can write: whoever asks inside a request bounds answers of any model. */
export function withinEndpoints(route: Route): Route {
  const { plan, request } = route;
  const { maxTokens } = request.settings;
  const candidates = [...plan.candidates, ...plan.cooling.map(({ candidate }) => candidate)];
  const least = Math.min(...candidates.map(({ endpoint }) => endpoint.outputTokensMax ?? Infinity));
  if (maxTokens === undefined || maxTokens <= least) return route;
  return { ...route, request: { ...request, settings: { ...request.settings, maxTokens: least } } };
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

/** Settles when it is accounted for, too. @throws GatewayError what a caller of its own would be told */
async function answerOf(
  generate: Generate,
  asked: Asked,
  format: ClientFormat,
  signals: readonly AbortSignal[],
): Promise<InnerAnswer> {
  let answered: InnerAnswer | undefined;
  let refusal: GatewayError | undefined;
  const collecting: ClientFormat = {
    ...format,
    canSay: () => true,
    encodeWhole(answer, { id, model }, { usage, charge }) {
      answered = { generationId: id, model, answer, usage, costNanoUsd: charge?.totalNanoUsd ?? 0 };
      return '';
    },
  };
  // Not `AbortSignal.any`: Node keeps its signal, with all that listens to it, for as long as it has not aborted.
  const gone: (() => void)[] = [];
  const caller: Caller = {
    onGone(listener) {
      if (signals.some(({ aborted }) => aborted)) return listener();
      gone.push(listener);
      for (const signal of signals) signal.addEventListener('abort', listener, { once: true });
    },
    started: false,
    announce: () => undefined,
    startStream: () => undefined,
    write: () => true,
    drained: () => Promise.resolve(),
    end: () => undefined,
    answer: () => undefined,
    refuse: (error) => void (refusal = error),
  };
  try {
    await generate(asked, collecting, caller);
  } finally {
    for (const signal of signals) for (const listener of gone) signal.removeEventListener('abort', listener);
  }
  if (refusal !== undefined) throw refusal;
  if (answered === undefined) throw new GatewayError('server', 'The generation inside this one gave no answer.');
  const { failure } = answered.answer;
  // Half an answer is none: whoever asked for it would take it for the whole.
  if (failure !== undefined)
    throw new GatewayError(failure.errorType, wordsOfFailure(failure), { status: failure.status });
  return answered;
}

/** Who asks, and what must not become known, is the outer request's; everything else is the question's. */
function requestOf(
  question: InnerQuestion,
  outer: GenerationRequest,
  withoutTools: ReadonlySet<string>,
): GenerationRequest {
  const { tools = [] } = question;
  return {
    format: outer.format,
    delivery: 'whole',
    turns: question.turns,
    tools: tools.filter((tool) => tool.type !== 'server' || !withoutTools.has(tool.name)),
    settings: question.settings ?? {},
    directives: directivesOf(question, outer.directives),
    warnings: [],
  };
}

function directivesOf({ models, maxToolCalls, budgetNanoUsd }: InnerQuestion, outer: Directives): Directives {
  const { user, app, sessionId } = outer;
  // Without a call of a tool there is no further turn that could cost more.
  const stop = budgetNanoUsd === undefined || maxToolCalls === 0 ? undefined : stopAt(budgetNanoUsd, maxToolCalls);
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
