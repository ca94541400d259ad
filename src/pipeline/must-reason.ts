import type { FormatId } from '../canonical/extra.ts';
import { invalid } from '../canonical/gateway-error.ts';
import { EFFORTS, type GenerationRequest, type ReasoningSettings } from '../canonical/request.ts';
import type { RouteReport } from '../canonical/route-report.ts';
import type { Model } from '../catalog/model.ts';
import { effortOf } from '../wire/gateway/efforts.ts';
import type { Route } from './choose-route.ts';

export interface SilenceQuestion {
  /** Whom the request is for before anybody else. */
  readonly model: Model | undefined;
  /** The caller named this very model. Else a name that moves led to it, a router, or a tool of ours. */
  readonly isNamed: boolean;
  /** What it is spoken to in. */
  readonly spoken: FormatId | undefined;
}

/**
 * The route with a request that its first model can hear.
 * @param report of what routers have chosen
 * @param isInside the request serves another one
 * @throws GatewayError 400 as `settleSilence`
 */
export function withSilence(route: Route, report: Pick<RouteReport, 'chosen'>, isInside: boolean): Route {
  const { resolved, plan } = route;
  const [model] = resolved.models;
  // A name such as `~acme/one-latest` led to it, or a router.
  const isChosen = model !== undefined && (resolved.strategies.has(model) || report.chosen.includes(model.slug));
  const isNamed = !isInside && !isChosen;
  const request = settleSilence(route.request, { model, isNamed, spoken: plan.candidates[0]?.format });
  return request === route.request ? route : { ...route, request };
}

/**
 * No model that always reasons is told not to. Whoever named it hears that; for whoever did not, it reasons as little as
 * it can. A vendor that is spoken to in the caller's own format answers for itself (generation.md 7.5).
 * @throws GatewayError 400
 * @source generation.md 2.5, B "effort `none`"
 */
export function settleSilence(
  request: GenerationRequest,
  { model, isNamed, spoken }: SilenceQuestion,
): GenerationRequest {
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
