import { supportsParameter } from '../canonical/supports-parameter.ts';
import type { Entry, Considered, PlanInput } from './route-plan.ts';
import type { RequestNeeds } from './request-needs.ts';

/**
 * When some endpoints of a model support the requested features, only they are kept; when none does, all are. The
 * features are `tools`, `response_format`, `verbosity`, and a response as long as `max_tokens`, with room for it after
 * the prompt.
 * @spec route-18, route-19
 */
export function keepSupporting(
  fitting: readonly Entry[],
  { preferred, deferredTools, maxTokens, promptTokensMin }: RequestNeeds,
  formats: PlanInput['formats'],
  considered: Considered[],
): readonly Entry[] {
  let kept = fitting;
  for (const parameter of preferred) {
    kept = keepSome(kept, considered, { exclusion: 'preferred_parameters', lacks: parameter }, ({ candidate }) => {
      const { endpoint, format } = candidate;
      const isExpressible = formats[format]?.parameters;
      const list = endpoint.supportedParameters ?? isExpressible;
      return (
        list === undefined ||
        (supportsParameter(list, parameter) &&
          (isExpressible === undefined || supportsParameter(isExpressible, parameter)))
      );
    });
  }
  // Elsewhere the functions are offered at once, with a warning.
  if (deferredTools)
    kept = keepSome(
      kept,
      considered,
      { exclusion: 'defer_loading' },
      ({ candidate }) => candidate.format === 'messages',
    );
  if (maxTokens === undefined) return kept;
  const able = keepSome(
    kept,
    considered,
    { exclusion: 'max_tokens' },
    ({ candidate }) => (candidate.endpoint.outputTokensMax ?? Infinity) >= maxTokens,
  );
  return keepSome(
    able,
    considered,
    { exclusion: 'context_length' },
    ({ candidate }) => (candidate.endpoint.contextTokensMax ?? Infinity) >= promptTokensMin + maxTokens,
  );
}

function keepSome(
  fitting: readonly Entry[],
  considered: Considered[],
  verdict: Omit<Considered, 'endpoint'>,
  supports: (one: Entry) => boolean,
): readonly Entry[] {
  const kept = fitting.filter(supports);
  if (kept.length === 0 || kept.length === fitting.length) return fitting;
  for (const one of fitting) {
    if (kept.includes(one)) continue;
    const { endpoint } = one.candidate;
    considered[considered.findIndex((each) => each.endpoint === endpoint)] = { endpoint, ...verdict };
  }
  return kept;
}
