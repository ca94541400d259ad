import type { DecisionOperation, DecisionRequest } from '../../canonical/decisions.ts';
import type { RunOperation } from '../../pipeline/operation/operation-request.ts';
import type { RunDecision } from '../../pipeline/decisions/run-decision.ts';
import { encodeDecisions } from '../../wire/decisions/answer-out.ts';
import { decodeDecisions, operationOf } from '../../wire/decisions/request-in.ts';
import { encodeOperationError } from '../../wire/operations/operation-error.ts';
import { GatewayError } from '../../canonical/gateway-error.ts';
import { NodeCaller } from './node-caller.ts';
import { createBodyRoute, type BodyRouteDeps, type RawHandler } from './route.ts';

export interface DecisionsRouteDeps extends BodyRouteDeps {
  readonly run: RunDecision;
  /** By a model that decides by itself. */
  readonly runNative: RunOperation<DecisionOperation>;
  /** Whether its first model does. @throws GatewayError 400 where it cannot do what is demanded */
  readonly isNative: (request: DecisionRequest) => boolean;
  /** The slug that a model's name stands for. */
  readonly rename: (name: string) => string;
}

const CALLER = { id: 'decisions', encodeError: encodeOperationError, requestIdHeader: 'x-request-id' } as const;
const MS = 1_000;

/** `POST /alpha/decisions`. */
export function createDecisionsRoute(deps: DecisionsRouteDeps): RawHandler {
  return createBodyRoute(CALLER, deps, async (admitted, response, arrivedMs) => {
    const { id, principal, place, body, text, turns, headers } = admitted;
    const named = decodeDecisions(body, text, headers);
    const { directives } = named;
    const request = { ...named, directives: { ...directives, models: directives.models.map(deps.rename) } };
    const caller = new NodeCaller(response, CALLER, deps.unread);
    if (deps.isNative(request)) {
      const operation = operationOf(request);
      const isLarge = turns !== undefined;
      await deps.runNative({ id, request: operation, principal, arrivedMs, place, isLarge }, caller);
      return;
    }
    const gone = new AbortController();
    caller.onGone(() => gone.abort());
    const incoming = { id, request, principal, arrivedMs, place, isLarge: turns !== undefined };
    try {
      const { outcome, identity } = await deps.run(incoming, gone.signal);
      caller.announce({ 'x-provider': encodeURI(identity.provider) });
      caller.answer(id, JSON.stringify(encodeDecisions(outcome, identity, Math.floor(deps.clock.nowMs() / MS))));
    } catch (error) {
      if (!(error instanceof GatewayError)) throw error;
      deps.onRefused(error, CALLER.id);
      caller.refuse(error, { generationId: id, serviceMetadata: undefined, baseUrl: deps.baseUrl() });
    }
  });
}
