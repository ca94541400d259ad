import type { RouterDecision } from '../../canonical/model-choice.ts';
import type { GenerationRequest } from '../../canonical/request.ts';
import type { RouteReport } from '../../canonical/route-report.ts';
import type { JsonObject } from '../../lib/json.ts';
import type { SessionPin } from '../../routing/sticky.ts';
import { endpointsOf, type RouteDeps } from './choose-route.ts';
import { RequestChoice, type ChoiceDeps } from './model-choice.ts';
import { variantsOf, withDefaultModel } from './resolve-models.ts';
import { chooseOnly, type ApplyPluginsDeps } from '../plugins/apply-plugins.ts';
import type { CallerRules } from '../request.ts';
import { Cancellation } from '../../lib/async/cancellation.ts';

export interface RehearsalDeps extends ApplyPluginsDeps, RouteDeps, Pick<ChoiceDeps, 'routers'> {}

export interface Rehearsed {
  readonly request: GenerationRequest;
  readonly serialized: readonly JsonObject[];
  readonly pin: SessionPin | undefined;
}

/**
 * Lets routers choose as they would, by the very code that does, but asks no model and remembers nothing.
 * @param report gets the stages and the strategy
 * @throws GatewayError 404 as the request itself would
 */
export async function rehearseRouters(
  deps: RehearsalDeps,
  originalRequest: GenerationRequest,
  rules: CallerRules,
  report: RouteReport,
): Promise<Rehearsed> {
  const serialized: JsonObject[] = [];
  const log = {
    routerChoice: undefined,
    errorMetadata: {},
    createdMs: 0,
    noteStep: () => undefined,
    warn: () => undefined,
    chargePlugin: () => undefined,
  };
  const rehearsal = (decision: RouterDecision): void => void serialized.push(serializeDecision(decision));
  const model = rules.policy.defaultModel ?? deps.defaults.model;
  const choice = new RequestChoice(deps, { request: originalRequest, rules, log, report, rehearsal });
  const request = await chooseOnly(deps, withDefaultModel(originalRequest, model), {
    log,
    report,
    rules,
    cancellation: new Cancellation(),
    abilities: { choice },
    variants: variantsOf(originalRequest.directives.models, model, deps.catalog),
    endpointsOf: (of) => endpointsOf(deps, of, rules),
    fund: () => Promise.resolve(),
  });
  return { request, serialized, pin: choice.pin() };
}

function serializeDecision({ router, strategy, chosen, taskType, comparedWith, details }: RouterDecision): JsonObject {
  return {
    router,
    strategy,
    chosen: [...chosen],
    ...(taskType !== undefined && { task_type: taskType }),
    ...(comparedWith !== undefined && { compared_with: comparedWith }),
    ...details?.(),
  };
}
