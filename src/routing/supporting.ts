import { supportsParameter } from '../canonical/supports-parameter.ts';
import type { Entry, Considered, PlanInput } from './route-plan.ts';
import type { RequestNeeds } from './request-needs.ts';

interface Fitting {
  readonly entry: Entry;
  /** Its place among the considered. */
  readonly at: number;
}

/**
 * When some endpoints of a model support the requested features, only they are kept; when none does, all are. The
 * features are `tools`, `response_format`, `verbosity`, and a response as long as `max_tokens`, with room for it after
 * the prompt.
 * @spec route-18, route-19
 */
export function keepSupporting(
  fitting: readonly Fitting[],
  { preferred, deferredTools, maxTokens, promptTokensMin }: RequestNeeds,
  formats: PlanInput['formats'],
  considered: Considered[],
): readonly Fitting[] {
  if (fitting.length < 2) return fitting;
  let kept = fitting;
  for (const parameter of preferred) {
    kept = keepSome(kept, considered, { exclusion: 'preferred_parameters', lacks: parameter }, ({ entry }) => {
      const { endpoint, format } = entry.candidate;
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
      ({ entry }) => entry.candidate.format === 'messages',
    );
  if (maxTokens === undefined) return kept;
  const able = keepSome(
    kept,
    considered,
    { exclusion: 'max_tokens' },
    ({ entry }) => (entry.candidate.endpoint.outputTokensMax ?? Infinity) >= maxTokens,
  );
  return keepSome(
    able,
    considered,
    { exclusion: 'context_length' },
    ({ entry }) => (entry.candidate.endpoint.contextTokensMax ?? Infinity) >= promptTokensMin + maxTokens,
  );
}

function keepSome(
  fitting: readonly Fitting[],
  considered: Considered[],
  verdict: Omit<Considered, 'endpoint'>,
  supports: (one: Fitting) => boolean,
): readonly Fitting[] {
  const kept = fitting.filter(supports);
  if (kept.length === 0 || kept.length === fitting.length) return fitting;
  for (const one of fitting)
    if (!kept.includes(one)) considered[one.at] = { endpoint: one.entry.candidate.endpoint, ...verdict };
  return kept;
}
