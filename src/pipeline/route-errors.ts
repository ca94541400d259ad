import { timeoutFailure } from '../canonical/classify-failure.ts';
import type { UpstreamFailure } from '../canonical/failure.ts';
import { explains, wordsOfFailure } from '../canonical/failure-words.ts';
import { GatewayError, invalid, type Availability } from '../canonical/gateway-error.ts';
import type { Json } from '../lib/json.ts';
import type { RequestFitting } from '../plugins/contract.ts';
import type { Candidate, Considered, ExclusionReason } from '../routing/plan.ts';

type Failed = { readonly candidate: Candidate; readonly failure: UpstreamFailure };

/** No model of this name. @source decisions.md 1 */
export function unknownModel(slug: string, requested: readonly string[], nearest: string | undefined): GatewayError {
  const hint = nearest === undefined ? '' : ` Did you mean ${JSON.stringify(nearest)}?`;
  return new GatewayError('not_found', `The model ${JSON.stringify(slug)} does not exist.${hint}`, {
    availability: { code: 'model_not_found', retryable: false, requestedModels: requested },
  });
}

/** What the tools of a request ask of an endpoint. @source generation.md 5.13, 7.4, B */
const TOOL_FAULTS: readonly (readonly [ExclusionReason, string])[] = [
  ['vendor_tools', "runs this vendor's own tools"],
  ['defer_loading', 'hides tools with "defer_loading"; add "service:tool_search", which finds them'],
];

/**
 * Endpoints exist, and every one is excluded by something that was asked.
 * @param fitting what made the request fit, as far as it could
 * @source generation.md 8.5
 */
export function nothingFits(
  considered: readonly Considered[],
  requested: readonly string[],
  fitting: Pick<RequestFitting, 'asked'> | undefined,
): GatewayError {
  const excludedBy = [...new Set(considered.flatMap(({ exclusion }) => (exclusion === undefined ? [] : [exclusion])))];
  const names = requested.map((slug) => JSON.stringify(slug)).join(', ');
  if (excludedBy.length === 0) {
    return new GatewayError('not_found', `No provider serves ${names}.`, {
      availability: { code: 'no_endpoints', retryable: false, requestedModels: requested },
    });
  }
  if (excludedBy.includes('credentials')) return noCredentials(considered, names, requested, excludedBy);
  const fault = TOOL_FAULTS.find(([reason]) => excludedBy.includes(reason))?.[1];
  if (fault !== undefined && excludedBy.every((reason) => TOOL_FAULTS.some(([known]) => known === reason))) {
    return new GatewayError('invalid_request', `tools: no endpoint of ${names} ${fault}.`, {
      issues: [{ path: 'tools', message: `no endpoint of the model ${fault}` }],
    });
  }
  // generation.md B: nobody's context is long enough.
  if (excludedBy.every((reason) => reason === 'context_length')) {
    const longest = Math.max(...considered.map(({ endpoint }) => endpoint.contextTokensMax ?? 0));
    const advice =
      fitting?.asked === true
        ? ', even without what the plugin "context-compression" may leave out: shorten them'
        : '; shorten them, or enable the plugin "context-compression"';
    return invalid(
      'messages',
      `are longer than the ${longest} tokens that ${names} can read${advice}`,
      'context_length_exceeded',
    );
  }
  // An allow-list of the account's is no fact about the model. @source generation.md 8.2
  if (excludedBy.every((reason) => reason.startsWith('guardrail:')))
    return new GatewayError(
      'permission_denied',
      `The guardrails of this account do not allow ${names} (${excludedBy.join(', ')}).`,
    );
  if (excludedBy.every((reason) => reason === 'price_unknown'))
    return new GatewayError(
      'not_found',
      `What ${names} costs is not known here, so that it cannot be held to the limits on what this caller may spend. Give its endpoint a price; 0 is one.`,
      { availability: { code: 'constraint_filtered', retryable: false, requestedModels: requested, excludedBy } },
    );
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

/** What is left after the request's own constraints is only what the operator has no key for. */
function noCredentials(
  considered: readonly Considered[],
  names: string,
  requestedModels: readonly string[],
  excludedBy: readonly string[],
): GatewayError {
  const endpoints = considered.filter(({ exclusion }) => exclusion === 'credentials').map(({ endpoint }) => endpoint);
  const providers = [...new Set(endpoints.map(({ providerName }) => providerName))].join(', ');
  return new GatewayError('not_found', `The gateway has no credentials for ${providers}, which would serve ${names}.`, {
    availability: {
      code: 'no_endpoints',
      retryable: false,
      requestedModels,
      affectedProviders: [...new Set(endpoints.map(({ provider }) => provider))],
      excludedBy,
    },
  });
}

/** Everything that fits rests. @source decisions.md 2 */
export function nothingReady(resting: readonly Candidate[], waitMs: number | undefined): GatewayError {
  const endpoints = resting.map(({ endpoint }) => endpoint);
  return new GatewayError('provider_overloaded', 'Every provider of the model is resting after failures or limits.', {
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
    ...(isSpent(failed, last.failure, retryAfterMs) && { shouldRetry: false }),
  });
}

/** What time alone may mend: a client that waits and asks again is right to. */
const PASSING_STATUSES: ReadonlySet<number> = new Set([429, 503, 529]);

/**
 * Whether the gateway has done already what a client's own retries would do again: vendors' clients repeat every 408 and
 * 5xx, so that each would cost as many attempts as there are providers (pains.md 6b). Where only one provider was asked,
 * once, a second try of the client is still the best that can be done, unless what failed stays as it is.
 */
function isSpent(failed: readonly Failed[], last: UpstreamFailure, retryAfterMs: number | undefined): boolean {
  if (retryAfterMs !== undefined || PASSING_STATUSES.has(last.status)) return false;
  if (last.status < 500 && last.status !== 408) return false;
  return failed.length > 1 || last.clock === 'total' || isRejected(last);
}

interface Context {
  readonly previous: readonly Json[];
  readonly retryAfterMs: number | undefined;
  readonly shouldRetry?: boolean;
  readonly availability: Availability | undefined;
}

/** What these tell of the gateway's own account at the provider is the operator's business (pains.md section 4). */
const REJECTED_CREDENTIALS: ReadonlySet<number> = new Set([401, 402, 403]);

function isRejected({ upstreamStatus }: UpstreamFailure): boolean {
  return upstreamStatus !== undefined && REJECTED_CREDENTIALS.has(upstreamStatus);
}

/** One upstream failure in the caller's words. @source generation.md 8.2 "provider error" */
export function upstreamError(
  failure: UpstreamFailure,
  candidate: Candidate | undefined,
  context: Context = { previous: [], retryAfterMs: failure.retryAfterMs, availability: undefined },
): GatewayError {
  const { previous, retryAfterMs, availability, shouldRetry } = context;
  return new GatewayError(failure.errorType, wordsOfFailure(failure), {
    status: failure.status,
    ...(retryAfterMs !== undefined && { retryAfterMs }),
    ...(availability !== undefined && { availability }),
    ...(failure.issues !== undefined && { issues: failure.issues }),
    ...(shouldRetry !== undefined && { shouldRetry }),
    metadata: {
      ...(failure.providerCode !== undefined && !isRejected(failure) && { provider_code: failure.providerCode }),
      // No provider failed where the caller's own limits did.
      ...(candidate !== undefined && failure.kind !== 'unfunded' && { provider_name: candidate.endpoint.providerName }),
      ...(explains(failure) && { raw: failure.upstreamMessage }),
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
