import { withoutRepeat, type GatewayError } from '../../canonical/gateway-error.ts';
import type { Operation } from '../../canonical/operation.ts';
import { endpointName } from '../../routing/endpoint-name.ts';
import type { EndpointStats } from '../../routing/stats.ts';
import { admit, type AdmitDeps } from '../admission/admit.ts';
import type { ContentFilterDeps } from '../content-filters/content-filters.ts';
import type { ExchangeDeps } from '../exchange.ts';
import { OpenRequest } from '../open-request.ts';
import type { ResponseCacheDeps } from '../response/response-cache.ts';
import { openStreamOutput, type StreamOutputOptions } from '../response/sse-output.ts';
import { callCandidates, type CallDeps, type Served } from './call-candidates.ts';
import { estimateOperation } from './estimate.ts';
import { filterGiven, filterOperation } from './filter-operation.ts';
import type { KindSteps } from './kind-steps.ts';
import type { AnswerWriter, IncomingOperation, RunOperation } from './operation-request.ts';
import { lookUpOperation } from './operation-cache.ts';
import { planOperation, type PlanOperationDeps } from './plan-operation.ts';

export interface OperationDeps extends AdmitDeps, CallDeps, ContentFilterDeps, ExchangeDeps, PlanOperationDeps {
  readonly ledger: ExchangeDeps['ledger'];
  readonly health: CallDeps['health'];
  readonly stats: EndpointStats;
  readonly responseCache: ResponseCacheDeps;
}

/** A request that is no generation, from its arrival to its charge, whatever its outcome. */
export function createRunOperation<Op extends Operation, Given extends object, Deps extends CallDeps>(
  deps: OperationDeps & Deps,
  steps: KindSteps<Op, Given, Deps>,
): RunOperation<Op> {
  return async (incoming, writer) => {
    const open = new OpenRequest<Op>(deps, incoming, writer);
    deps.streams.requestBegan();
    let served: Served<Given> | undefined;
    const events = steps.events?.isWanted(incoming.request) === true ? steps.events : undefined;
    const output = events && openStreamOutput(writer, streamOptions(deps, open));
    try {
      served = await serve(deps, open, incoming, steps, writer);
      await steps.deliver({ open, served, writer, output, deps });
    } catch (error) {
      const refusal = asRefusal(await open.fail(error), open, steps);
      if (writer.started && output !== undefined && events !== undefined) output.end(events.encodeFailure(refusal));
      else writer.refuse(refusal, open.errorContext());
    } finally {
      output?.stop();
      // What was large has left the process by now.
      served?.memory.close();
      await open.close();
      deps.streams.requestEnded();
    }
  };
}

function streamOptions<Op extends Operation>(
  { monotonicMs }: Pick<CallDeps, 'monotonicMs'>,
  { facts, cancellation }: OpenRequest<Op>,
): StreamOutputOptions {
  return { generationId: facts.log.id, keepAlive: () => KEEP_ALIVE, cancellation, monotonicMs };
}

const KEEP_ALIVE = ': keep-alive\n\n';

/** An answer that is given again uses no tokens. */
const UNCOUNTED = { promptTokens: () => 1, isFree: false } as const;

/** Clients send what failed with a 5xx again by themselves: not where the operator may pay for each time. @spec image-7 */
function asRefusal<Op extends Operation>(
  error: GatewayError,
  { facts }: OpenRequest<Op>,
  { isPaidEachTime = false }: Pick<KindSteps<Op, object>, 'isPaidEachTime'>,
): GatewayError {
  return isPaidEachTime && facts.log.wasSent && error.status >= 500 ? withoutRepeat(error) : error;
}

/** The steps up to the answer of a provider. @throws GatewayError in place of an answer */
async function serve<Op extends Operation, Given extends object, Deps extends CallDeps>(
  deps: OperationDeps & Deps,
  open: OpenRequest<Op>,
  { request: received, principal }: IncomingOperation<Op>,
  steps: KindSteps<Op, Given, Deps>,
  writer: AnswerWriter,
): Promise<Served<Given>> {
  const { facts, reservation, cancellation } = open;
  const { log, report, meter } = facts;
  deps.takeRoom();
  log.hasRoom = true;
  const rules = await admit(deps, principal);
  log.request = await filterOperation(deps, received, steps, { facts, policy: rules.policy, cancellation });
  if (steps.prepare !== undefined)
    log.request = await steps.prepare(deps, log.request, {
      owner: principal,
      signal: cancellation.signal,
      defer: (end) => open.defer(end),
    });
  const { request } = log;
  const { cache } = steps;
  const cached =
    cache &&
    (await lookUpOperation(deps.responseCache, {
      request,
      report,
      principal,
      policy: rules.policy,
      cache,
      memory: deps.wholeResponseMemory,
    }));
  if (cached !== undefined) writer.announce(cached.headers);
  if (cached?.hit !== undefined) {
    await reservation.takePermit(UNCOUNTED);
    log.cacheSourceId = cached.hit.sourceId;
    meter.replay(cached.hit.served.candidate.endpoint, deps.monotonicMs());
    return cached.hit.served;
  }
  const route = planOperation(deps, request, rules, report);
  await reservation.reserve(
    rules.limits,
    () => estimateOperation(log, steps.margin?.(request) ?? 1, route.plan, steps.worst),
    {
      promptTokens: () => steps.promptTokens(request),
      isFree: route.resolved.models.some(({ slug }) => slug.endsWith(':free')),
    },
  );
  const call = (turn: Parameters<typeof steps.call>[1]): ReturnType<typeof steps.call> => steps.call(deps, turn);
  const first = await callCandidates(deps, { plan: route.plan, request, facts, cancellation, call });
  meter.usage = steps.usageOf(first.given, { operation: request, served: first });
  const given = await filterGiven(deps, first, steps, { facts, policy: rules.policy, cancellation }).catch(
    (error: unknown) => {
      first.memory.close();
      throw error;
    },
  );
  const served = { ...first, given };
  meter.upstreamId = steps.upstreamIdOf?.(served.given);
  const totalMs = deps.monotonicMs() - served.startedMs;
  if (cached !== undefined) open.defer(() => cached.keep(served, facts));
  deps.stats.finished(endpointName(served.candidate.endpoint), { firstTokenMs: totalMs, totalMs, outputTokens: 0 });
  return served;
}
