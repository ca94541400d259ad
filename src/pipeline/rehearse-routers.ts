import type { RouterDecision } from '../canonical/model-choice.ts';
import type { GenerationRequest } from '../canonical/request.ts';
import type { RouteReport } from '../canonical/route-report.ts';
import type { JsonObject } from '../lib/json.ts';
import type { SessionHold } from '../routing/sticky.ts';
import type { CallerRules } from './caller-rules.ts';
import { endpointsOf, type RouteParts } from './choose-route.ts';
import { createModelChoice, type ChoiceParts } from './model-choice.ts';
import { variantsOf, withDefaultModel } from './resolve-models.ts';
import { chooseOnly, type ReviseParts } from './revise.ts';

export interface RehearsalParts extends ReviseParts, RouteParts, Pick<ChoiceParts, 'routers'> {}

export interface Rehearsed {
  readonly request: GenerationRequest;
  readonly drawn: readonly JsonObject[];
  readonly hold: SessionHold | undefined;
}

/**
 * Lets routers choose as they would, by the very code that does, but asks no model and remembers nothing.
 * @param report gets the stages and the strategy
 * @throws GatewayError 404 as the request itself would
 */
export async function rehearseRouters(
  parts: RehearsalParts,
  asked: GenerationRequest,
  rules: CallerRules,
  report: RouteReport,
): Promise<Rehearsed> {
  const drawn: JsonObject[] = [];
  const record = {
    report,
    taskType: undefined,
    router: undefined,
    comparedWith: undefined,
    pluginFeesNanoUsd: 0,
    fileFeesNanoUsd: 0,
    forError: {},
    warn: () => undefined,
  };
  const rehearsal = (decision: RouterDecision): void => void drawn.push(drawDecision(decision));
  const model = rules.policy.defaultModel ?? parts.defaults.model;
  const choice = createModelChoice(parts, { request: asked, rules, record, rehearsal });
  const request = await chooseOnly(parts, withDefaultModel(asked, model), {
    record,
    rules,
    signal: new AbortController().signal,
    abilities: { choice },
    variants: variantsOf(asked.directives.models, model, parts.catalog),
    endpointsOf: (of) => endpointsOf(parts, of, rules),
    fund: () => Promise.resolve(),
  });
  return { request, drawn, hold: choice.hold() };
}

function drawDecision({ router, strategy, chosen, taskType, comparedWith, details }: RouterDecision): JsonObject {
  return {
    router,
    strategy,
    chosen: [...chosen],
    ...(taskType !== undefined && { task_type: taskType }),
    ...(comparedWith !== undefined && { compared_with: comparedWith }),
    ...details?.(),
  };
}
