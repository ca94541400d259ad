import { timeoutFailure } from '../canonical/classify-failure.ts';
import type { UpstreamFailure } from '../canonical/failure.ts';
import { GatewayError, invalid, type Availability } from '../canonical/gateway-error.ts';
import type { Json } from '../lib/json.ts';
import type { Candidate, Considered, RoutePlan } from '../routing/plan.ts';

type Failed = { readonly candidate: Candidate; readonly failure: UpstreamFailure };

/** No model of this name. @source decisions.md 1 */
export function unknownModel(slug: string, requested: readonly string[], nearest: string | undefined): GatewayError {
  const hint = nearest === undefined ? '' : ` Did you mean ${JSON.stringify(nearest)}?`;
  return new GatewayError('not_found', `The model ${JSON.stringify(slug)} does not exist.${hint}`, {
    availability: { code: 'model_not_found', retryable: false, requestedModels: requested },
  });
}

/** Endpoints exist, and every one is excluded by something that was asked. @source generation.md 8.5 */
export function nothingFits(considered: readonly Considered[], requested: readonly string[]): GatewayError {
  const excludedBy = [...new Set(considered.flatMap(({ exclusion }) => (exclusion === undefined ? [] : [exclusion])))];
  const names = requested.map((slug) => JSON.stringify(slug)).join(', ');
  if (excludedBy.length === 0) {
    return new GatewayError('not_found', `No provider serves ${names}.`, {
      availability: { code: 'no_endpoints', retryable: false, requestedModels: requested },
    });
  }
  if (excludedBy.every((reason) => reason === 'vendor_tools')) {
    return new GatewayError('invalid_request', `tools: no endpoint of ${names} runs this vendor's own tools.`, {
      issues: [{ path: 'tools', message: "no endpoint of the model runs this vendor's own tools" }],
    });
  }
  // generation.md B: nobody's context is long enough.
  if (excludedBy.every((reason) => reason === 'context_length')) {
    const longest = Math.max(...considered.map(({ endpoint }) => endpoint.contextTokensMax ?? 0));
    return invalid(
      'messages',
      `are longer than the ${longest} tokens that ${names} can read`,
      'context_length_exceeded',
    );
  }
  const lacks = [...new Set(considered.flatMap((one) => one.lacks ?? []))].join(', ');
  const privacyOnly = excludedBy.every((reason) => reason.startsWith('data_policy:'));
  const availability: Availability = {
    code: privacyOnly ? 'privacy_restricted' : 'constraint_filtered',
    retryable: false,
    requestedModels: requested,
    excludedBy,
  };
  return new GatewayError(
    'not_found',
    `No endpoint of ${names} is left after the constraints of the request: ${excludedBy.join(', ')}${lacks === '' ? '' : ` (${lacks})`}.`,
    { availability },
  );
}

/** Everything that fits rests. @source decisions.md 2 */
export function nothingReady(plan: RoutePlan, waitMs: number | undefined): GatewayError {
  const endpoints = plan.cooling.map(({ candidate }) => candidate.endpoint);
  return new GatewayError('provider_overloaded', 'Every provider of the model is resting after rate limits.', {
    status: 503,
    ...(waitMs !== undefined && { retryAfterMs: waitMs }),
    availability: {
      code: 'temporarily_unavailable',
      retryable: true,
      requestedModels: [...new Set(endpoints.map(({ model }) => model))],
      affectedProviders: [...new Set(endpoints.map(({ provider }) => provider))],
      ...(waitMs !== undefined && { retryAfterS: Math.ceil(waitMs / 1_000) }),
    },
  });
}

/** What the failures of all attempts mean: the last decides, the others are told. @source decisions.md 2, generation.md 3.7 */
export function failedRoute(failed: readonly Failed[], requested: readonly string[]): GatewayError {
  const last = failed.at(-1);
  if (last === undefined) return upstreamError(timeoutFailure('total'), undefined);
  const previous = failed.slice(0, -1).map(({ candidate, failure }) => ({
    provider: candidate.endpoint.provider,
    code: failure.errorType,
    status: failure.upstreamStatus ?? failure.status,
  }));
  const hints = failed.flatMap(({ failure }) => failure.retryAfterMs ?? []);
  const retryAfterMs = hints.length === 0 ? undefined : Math.min(...hints);
  return upstreamError(last.failure, last.candidate, {
    previous,
    retryAfterMs,
    availability: availabilityOf(last.failure, failed, requested, retryAfterMs),
  });
}

interface Context {
  readonly previous: readonly Json[];
  readonly retryAfterMs: number | undefined;
  readonly availability: Availability | undefined;
}

/** What these tell of the gateway's own account at the provider is the operator's business (pains.md section 4). */
const REJECTED_CREDENTIALS: ReadonlySet<number> = new Set([401, 402, 403]);

/** One upstream failure in the caller's words. @source generation.md 8.2 "provider error" */
export function upstreamError(
  failure: UpstreamFailure,
  candidate: Candidate | undefined,
  context: Context = { previous: [], retryAfterMs: failure.retryAfterMs, availability: undefined },
): GatewayError {
  const { previous, retryAfterMs, availability } = context;
  // A fault of the request is explained in the provider's own words; a fault of the provider is its own business.
  const explains = failure.status < 500 && failure.status !== 408 && failure.upstreamMessage !== undefined;
  const rejected = failure.upstreamStatus !== undefined && REJECTED_CREDENTIALS.has(failure.upstreamStatus);
  const message = explains ? `${failure.message} It said: ${failure.upstreamMessage}` : failure.message;
  return new GatewayError(failure.errorType, message, {
    status: failure.status,
    ...(retryAfterMs !== undefined && { retryAfterMs }),
    ...(availability !== undefined && { availability }),
    metadata: {
      ...(failure.providerCode !== undefined && !rejected && { provider_code: failure.providerCode }),
      ...(candidate !== undefined && { provider_name: candidate.endpoint.providerName }),
      ...(explains && { raw: failure.upstreamMessage }),
      ...(previous.length > 0 && { previous_errors: previous }),
    },
  });
}

function availabilityOf(
  failure: UpstreamFailure,
  failed: readonly Failed[],
  requestedModels: readonly string[],
  retryAfterMs: number | undefined,
): Availability | undefined {
  const code = AVAILABILITY_OF[failure.errorType];
  if (code === undefined) return undefined;
  return {
    code,
    retryable: code !== 'region_restricted',
    requestedModels,
    affectedProviders: [...new Set(failed.map(({ candidate }) => candidate.endpoint.provider))],
    ...(retryAfterMs !== undefined && { retryAfterS: Math.ceil(retryAfterMs / 1_000) }),
  };
}

const AVAILABILITY_OF: Readonly<Partial<Record<UpstreamFailure['errorType'], Availability['code']>>> = {
  not_found: 'model_unavailable_upstream',
  rate_limit_exceeded: 'capacity_exhausted',
  provider_overloaded: 'temporarily_unavailable',
  permission_denied: 'region_restricted',
};
