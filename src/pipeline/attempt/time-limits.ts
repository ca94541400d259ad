import type { GenerationRequest } from '../../canonical/request.ts';
import type { JsonObject } from '../../lib/json.ts';
import type { RequestFitting } from '../../plugins/contract.ts';
import { requestClassOf } from '../../routing/deadlines.ts';
import { candidateName } from '../../routing/endpoint-name.ts';
import type { Health } from '../../routing/health.ts';
import type { Candidate } from '../../routing/route-plan.ts';
import { hasAlternative } from '../../routing/candidate-iterator.ts';
import type { AttemptDeadlineDeps } from './attempt-deadline.ts';
import type { AttemptDeps } from './attempt.ts';
import { couldServe } from './could-serve.ts';

export interface TimeLimitDeps extends AttemptDeadlineDeps, Pick<AttemptDeps, 'formats' | 'providers'> {
  readonly health: Health;
}

/**
 * What bounds an attempt until its first token or whole answer, if those before it fail. @spec fallback-12
 * @param fitting makes the request fit candidates that are too small for it
 */
export function timeLimitsOf(
  deps: TimeLimitDeps,
  request: GenerationRequest,
  candidates: readonly Candidate[],
  at: number,
  fitting?: RequestFitting,
): JsonObject | null {
  const { deadlines, providers, health } = deps;
  const candidate = candidates[at];
  const timeouts = candidate && providers.get(candidate.endpoint.provider)?.settings.timeouts;
  if (candidate === undefined || timeouts === undefined) return null;
  const isStream = request.delivery === 'stream';
  const configured = isStream
    ? { headers_ms: timeouts.headersMs, first_token_ms: timeouts.firstTokenMs }
    : { whole_ms: timeouts.wholeMs };
  if (deadlines === undefined) return { ...configured, adaptive_ms: null, basis: 'off' };
  const isExpectedToServe = (other: Candidate): boolean => {
    const fitted = fitting?.fit(request, other.endpoint, other.format);
    return couldServe(deps, fitted?.request ?? request, other);
  };
  if (!hasAlternative(health, candidates.slice(at + 1), isExpectedToServe))
    return { ...configured, adaptive_ms: null, basis: 'last_candidate' };
  const found = deadlines.find(candidateName(candidate), requestClassOf(request, candidate.endpoint));
  const longestMs = isStream ? timeouts.headersMs + timeouts.firstTokenMs : timeouts.wholeMs;
  return {
    ...configured,
    adaptive_ms: found.limitMs === undefined ? null : Math.min(found.limitMs, longestMs),
    basis: found.basis,
    samples: found.samples,
    ...(found.p99Ms !== undefined && { p99_ms: found.p99Ms }),
  };
}
