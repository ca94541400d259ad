import { estimateOperationTokens } from '../../canonical/estimate-tokens.ts';
import type { Operation } from '../../canonical/operation.ts';
import { NO_USAGE } from '../../canonical/usage.ts';
import { endpointName } from '../../routing/endpoint-name.ts';
import type { EndpointStats } from '../../routing/stats.ts';
import { encodeAnswer } from '../../wire/embeddings/answer-out.ts';
import { admit, type AdmitDeps } from '../admission/admit.ts';
import type { ContentFilterDeps } from '../content-filters/content-filters.ts';
import type { ExchangeDeps } from '../exchange.ts';
import { OpenRequest } from '../open-request.ts';
import { callCandidates, type CallDeps, type ServedOperation } from './call-candidates.ts';
import { estimateOperation } from './estimate.ts';
import { filterOperation } from './filter-operation.ts';
import type { IncomingOperation, RunOperation } from './operation-request.ts';
import { planOperation, type PlanOperationDeps } from './plan-operation.ts';

export interface OperationDeps extends AdmitDeps, CallDeps, ContentFilterDeps, ExchangeDeps, PlanOperationDeps {
  readonly ledger: ExchangeDeps['ledger'];
  readonly health: CallDeps['health'];
  readonly stats: EndpointStats;
}

/** A request that is no generation, from its arrival to its charge, whatever its outcome. */
export function createRunOperation(deps: OperationDeps): RunOperation {
  return async (incoming, writer) => {
    const open = new OpenRequest<Operation>(deps, incoming, writer);
    deps.streams.requestBegan();
    try {
      const { candidate, vectors } = await serve(deps, open, incoming);
      const { log } = open.facts;
      const { providerName, model } = candidate.endpoint;
      // Nothing leaves before the charge is durable.
      await open.settle().durable;
      writer.announce({ 'x-provider': encodeURI(providerName) });
      writer.answerPieces(
        log.id,
        encodeAnswer(vectors, { id: log.id, model, provider: providerName }, open.finalUsage()),
      );
    } catch (error) {
      writer.refuse(await open.fail(error), open.errorContext());
    } finally {
      await open.close();
      deps.streams.requestEnded();
    }
  };
}

/** The steps up to the answer of a provider. @throws GatewayError in place of an answer */
async function serve(
  deps: OperationDeps,
  { facts, reservation, cancellation }: OpenRequest<Operation>,
  { request: received, principal }: IncomingOperation,
): Promise<ServedOperation> {
  const { log, report, meter } = facts;
  deps.takeRoom();
  log.hasRoom = true;
  const rules = await admit(deps, principal);
  log.request = await filterOperation(deps, received, { facts, policy: rules.policy, cancellation });
  const request = log.request;
  const route = planOperation(deps, request, rules, report);
  await reservation.reserve(rules.limits, () => estimateOperation(log, route.plan), {
    promptTokens: () => estimateOperationTokens(request),
    isFree: route.resolved.models.some(({ slug }) => slug.endsWith(':free')),
  });
  const served = await callCandidates(deps, { plan: route.plan, request, facts, cancellation });
  const { promptTokens, upstreamId } = served;
  meter.usage = {
    ...NO_USAGE,
    estimated: false,
    ...(promptTokens === undefined ? { unreported: ['prompt'] } : { promptTokens }),
  };
  meter.upstreamId = upstreamId;
  meter.end = { type: 'end', finish: 'stop' };
  const totalMs = deps.monotonicMs() - served.startedMs;
  deps.stats.finished(endpointName(served.candidate.endpoint), { firstTokenMs: totalMs, totalMs, outputTokens: 0 });
  return served;
}
