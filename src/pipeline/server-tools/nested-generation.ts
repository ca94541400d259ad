import { privacyOf, type Directives, type StopCondition } from '../../canonical/directives.ts';
import { GatewayError } from '../../canonical/gateway-error.ts';
import type { GenerateNested, NestedInput, StartedBy } from '../../canonical/tools/nested-generation.ts';
import type { GenerationRequest } from '../../canonical/request.ts';
import type { Clock } from '../../lib/clock.ts';
import { newGenerationId } from '../../lib/ids.ts';
import type { JsonObject } from '../../lib/json.ts';
import { usdFromNano } from '../../lib/money.ts';
import type { RequestLog } from '../../telemetry/request-log.ts';
import type { ClientFormat } from '../../wire/format.ts';
import type { Generate, IncomingRequest } from '../request.ts';
import { collectResponse } from '../response/collect-response.ts';
import type { SignalSource } from '../../lib/async/cancellation.ts';

/** A panel that calls an advisor is two deep; no plugin needs more. */
const DEPTH_MAX = 2;
/** Generations inside one request, side by side, one after the other, and inside of each other. */
const RUNS_MAX = 64;

export interface NestedDeps {
  readonly generate: Generate;
  readonly clock: Clock;
}

/**
 * Generations inside a request take the path of any request: the plugin or tool that waits is one more caller, whose format
 * is the folded response itself.
 */
export function createGenerateNested(
  { generate, clock }: NestedDeps,
  parent: IncomingRequest,
  {
    log,
    format,
    cancellation,
    follow,
  }: {
    readonly log: Pick<RequestLog, 'nestedRuns'>;
    readonly format: ClientFormat;
    readonly cancellation: SignalSource;
    /** Is given each that runs: the outer request does not end before it has. */
    readonly follow: (running: Promise<unknown>) => void;
  },
): GenerateNested {
  const runs = parent.nested?.runs ?? { count: 0 };
  return async (input, toolSignal) => {
    const depth = (parent.nested?.depth ?? 0) + 1;
    // A judge runs nothing inside of it.
    if (depth > DEPTH_MAX && input.origin !== 'judge')
      throw new GatewayError('invalid_request', `Generations do not nest deeper than ${DEPTH_MAX}.`);
    if (++runs.count > RUNS_MAX)
      throw new GatewayError('rate_limit_exceeded', `One request runs at most ${RUNS_MAX} generations inside of it.`);
    // A depth in a header could come from any caller: it is passed from one generation to the next. @spec request-30
    const withoutTools = new Set([...(parent.nested?.withoutTools ?? []), ...(input.withoutTools ?? [])]);
    const incoming: IncomingRequest = {
      id: newGenerationId(clock.nowMs()),
      request: requestOf(input, parent.request, withoutTools),
      // What a tool asks may hold the whole conversation.
      isLarge: parent.isLarge === true,
      origin: input.origin ?? parent.origin,
      principal: parent.principal,
      arrivedMs: clock.monotonicMs(),
      nested: {
        requestId: parent.nested?.requestId ?? parent.id,
        depth,
        startedBy: input.startedBy && { ...input.startedBy, generationId: parent.id },
        budgetNanoUsd: input.budgetNanoUsd,
        withoutTools,
        runs,
        ...(input.origin === 'judge' && { isJudge: true }),
        ended({ usage, charge }) {
          log.nestedRuns.push({ usage, cost: charge });
          input.ended?.({ usage, costNanoUsd: charge?.totalNanoUsd ?? 0 });
        },
      },
    };
    const running = collectResponse(generate, incoming, format, [cancellation.signal, toolSignal]);
    follow(running);
    return running;
  };
}

/** Says of all generations that they are run by one step. */
export function startedBy(generate: GenerateNested, step: StartedBy, onStart?: () => void): GenerateNested {
  return (input, signal) => {
    onStart?.();
    return generate({ ...input, startedBy: step }, signal);
  };
}

/** The caller and its privacy rules are those of the outer request; everything else is the input's. */
function requestOf(
  input: NestedInput,
  parent: GenerationRequest,
  withoutTools: ReadonlySet<string>,
): GenerationRequest {
  const { tools = [] } = input;
  return {
    format: parent.format,
    delivery: 'whole',
    turns: input.turns,
    tools: tools.filter((tool) => tool.type !== 'server' || !withoutTools.has(tool.name)),
    settings: input.settings ?? {},
    directives: directivesOf(input, parent.directives),
    warnings: [],
  };
}

function directivesOf(
  { models, maxToolCalls, budgetNanoUsd, requiresParameters }: NestedInput,
  parent: Directives,
): Directives {
  const { user, app, sessionId, trace, traceContext } = parent;
  // Without a call of a tool there is no further turn that could cost more.
  const stop = budgetNanoUsd === undefined || maxToolCalls === 0 ? undefined : stopAt(budgetNanoUsd, maxToolCalls);
  return {
    models,
    provider: { ...privacyOf(parent.provider), ...(requiresParameters === true && { requireParameters: true }) },
    plugins: [],
    echoUpstreamBody: false,
    serviceMetadata: false,
    betas: [],
    ...(maxToolCalls !== undefined && { maxToolCalls }),
    ...(stop !== undefined && { stopServerToolsWhen: stop }),
    ...(user !== undefined && { user }),
    ...(app !== undefined && { app }),
    ...(sessionId !== undefined && { sessionId }),
    // Names are those of the outer generation; the trace is one.
    ...(trace !== undefined && { trace: withoutNames(trace) }),
    ...(traceContext !== undefined && { traceContext }),
  };
}

function withoutNames(trace: JsonObject): JsonObject {
  const { span_name: _span, generation_name: _generation, ...rest } = trace;
  return rest;
}

function stopAt(budgetNanoUsd: number, maxToolCalls: number | undefined): readonly StopCondition[] {
  return [
    { type: 'max_cost', maxCostInDollars: usdFromNano(budgetNanoUsd) },
    ...(maxToolCalls === undefined ? [] : [{ type: 'step_count_is', stepCount: maxToolCalls } as const]),
  ];
}
