import type { FormatId } from '../../canonical/extra.ts';
import { invalid } from '../../canonical/gateway-error.ts';
import { EFFORTS, type GenerationRequest, type ReasoningSettings } from '../../canonical/request.ts';
import type { RouteReport } from '../../canonical/route-report.ts';
import type { Model } from '../../catalog/model.ts';
import { effortOf } from '../../wire/gateway/efforts.ts';
import type { Route } from '../request.ts';

export interface SilenceInput {
  /** The first model of the request. */
  readonly model: Model | undefined;
  /** The caller named this very model. Else a name that moves led to it, a router, or a tool of ours. */
  readonly isNamed: boolean;
  /** What it is spoken to in. */
  readonly spoken: FormatId | undefined;
}

/**
 * The route with a request that its first model can hear.
 * @param report of what routers have chosen
 * @param isNested the request serves another one
 * @throws GatewayError 400 as `settleSilence`
 */
export function withSilence(route: Route, report: Pick<RouteReport, 'chosen'>, isNested: boolean): Route {
  const { resolved, plan } = route;
  const [model] = resolved.models;
  // A name such as `~acme/one-latest` led to it, or a router.
  const isChosen = model !== undefined && (resolved.strategies.has(model) || report.chosen.includes(model.slug));
  const isNamed = !isNested && !isChosen;
  const request = settleSilence(route.request, { model, isNamed, spoken: plan.candidates[0]?.format });
  return request === route.request ? route : { ...route, request };
}

/**
 * A model that always reasons is not sent a setting that turns reasoning off. A caller that named the model gets an error; otherwise it reasons as little as
 * it can. A vendor that is spoken to in the caller's own format answers for itself (@spec messages-24).
 * @throws GatewayError 400
 * @spec reasoning-4
 */
export function settleSilence(request: GenerationRequest, { model, isNamed, spoken }: SilenceInput): GenerationRequest {
  const { format, settings } = request;
  const { reasoning } = settings;
  if (reasoning === undefined || model?.reasoning?.mandatory !== true) return request;
  if (effortOf(reasoning, undefined) !== 'none' || (format === 'messages' && spoken === format)) return request;
  if (isNamed)
    throw invalid(
      format === 'messages' ? 'thinking' : memberOf(reasoning),
      `must not turn reasoning off: ${JSON.stringify(model.slug)} always reasons`,
    );
  const known = model.reasoning.supportedEfforts;
  const least = EFFORTS.find((effort) => effort !== 'none' && known?.includes(effort) === true);
  if (least === undefined) return request;
  const { enabled: _enabled, maxTokens: _maxTokens, ...rest } = reasoning;
  return { ...request, settings: { ...settings, reasoning: { ...rest, effort: least } } };
}

function memberOf({ effort, enabled }: ReasoningSettings): string {
  if (enabled === false) return 'reasoning.enabled';
  return effort === 'none' ? 'reasoning.effort' : 'reasoning.max_tokens';
}
