import { timeoutFailure } from '../../canonical/failure/classify-failure.ts';
import { type UpstreamFailure, explains, describeFailure } from '../../canonical/failure/failure.ts';
import { GatewayError, invalid, type Availability } from '../../canonical/gateway-error.ts';
import type { MissingProvider } from '../../catalog/model.ts';
import type { Operation } from '../../canonical/operation.ts';
import type { GenerationRequest, ResponseOptions } from '../../canonical/request.ts';
import { isJsonObject, type Json } from '../../lib/json.ts';
import { pathOfConversation } from '../../wire/gateway/source/source-paths.ts';
import type { RequestFitting } from '../../plugins/contract.ts';
import type { ExclusionReason } from '../../canonical/exclusion-reasons.ts';
import type { Candidate, Considered } from '../../routing/route-plan.ts';

type Failed = { readonly candidate: Candidate; readonly failure: UpstreamFailure };

/** No model of this name. @spec model-2 */
export function unknownModel(slug: string, requested: readonly string[], nearest: string | undefined): GatewayError {
  const hint = nearest === undefined ? '' : ` Did you mean ${JSON.stringify(nearest)}?`;
  return new GatewayError('not_found', `The model ${JSON.stringify(slug)} does not exist.${hint}`, {
    availability: { code: 'model_not_found', retryable: false, requestedModels: requested },
  });
}

/** A name without its author. @param suggestions slugs that it may mean */
export function bareName(name: string, suggestions: readonly string[]): GatewayError {
  const quoted = suggestions.map((slug) => JSON.stringify(slug));
  const hint = quoted.length === 0 ? '' : `; did you mean ${quoted.join(' or ')}?`;
  return invalid('model', `${JSON.stringify(name.slice(0, 80))} is not a model slug of the form author/slug${hint}`);
}

/** Providers serve the model, and the gateway has credentials for none of them. @spec model-3 */
export function unservedModel(
  slug: string,
  requestedModels: readonly string[],
  missing: readonly MissingProvider[],
): GatewayError {
  const remedies = missing.map(({ providerName, turnedOnBy }) => `${turnedOnBy} (${providerName})`).join(', or ');
  return new GatewayError(
    'not_found',
    `No provider with credentials serves ${JSON.stringify(slug)} here. Set ${remedies} in the gateway's environment.`,
    {
      availability: {
        code: 'no_endpoints',
        retryable: false,
        requestedModels,
        affectedProviders: missing.map(({ provider }) => provider),
        excludedBy: ['credentials'],
      },
    },
  );
}

/** What the tools of a request ask of an endpoint. @spec tool-42, messages-21 */
const TOOL_FAULTS: readonly (readonly [ExclusionReason, string])[] = [['vendor_tools', "runs this vendor's own tools"]];

/** The entry of the caller's that no endpoint takes: entries that group tools come to several. */
function pathOfVendorsTool(tools: GenerationRequest['tools'], { echo }: ResponseOptions): string {
  const vendors = tools.find((tool) => tool.type === 'opaque');
  const { tools: declared } = echo;
  const entries: readonly unknown[] = Array.isArray(declared) ? declared : [];
  const type = vendors?.type === 'opaque' ? vendors.value['type'] : undefined;
  const at = entries.findIndex((entry) => isJsonObject(entry) && entry['type'] === type);
  return at < 0 ? 'tools' : `tools[${at}].type`;
}

/**
 * Endpoints exist, and the request excludes each of them.
 * @param fitting what made the request fit, as far as it could
 * @spec route-21
 */
export function nothingFits(
  considered: readonly Considered[],
  requested: readonly string[],
  fitting: Pick<RequestFitting, 'isRequested'> | undefined,
  request: Pick<GenerationRequest, 'format' | 'tools' | 'response'> | Operation,
): GatewayError {
  const excludedBy = [...new Set(considered.flatMap(({ exclusion }) => (exclusion === undefined ? [] : [exclusion])))];
  const names = requested.map((slug) => JSON.stringify(slug)).join(', ');
  if (excludedBy.length === 0) {
    return new GatewayError('not_found', `No provider serves ${names}.`, {
      availability: { code: 'no_endpoints', retryable: false, requestedModels: requested },
    });
  }
  if (excludedBy.includes('credentials')) return noCredentials(considered, names, requested, excludedBy);
  if ('kind' in request) {
    const wrong = wrongMember(considered);
    if (wrong !== undefined) return wrong;
  }
  const { format, tools, response } = 'kind' in request ? NO_CONVERSATION : request;
  const fault = TOOL_FAULTS.find(([reason]) => excludedBy.includes(reason))?.[1];
  if (fault !== undefined && excludedBy.every((reason) => TOOL_FAULTS.some(([known]) => known === reason))) {
    const path = response === undefined ? 'tools' : pathOfVendorsTool(tools, response);
    return new GatewayError('invalid_request', `${path}: no endpoint of ${names} ${fault}.`, {
      issues: [{ path, message: `no endpoint of the model ${fault}` }],
    });
  }
  // @spec route-21: no context is long enough.
  if (excludedBy.every((reason) => reason === 'context_length')) {
    const longest = Math.max(...considered.map(({ endpoint }) => endpoint.contextTokensMax ?? 0));
    const advice =
      fitting?.isRequested === true
        ? ', even without what the plugin "context-compression" may leave out: shorten them'
        : '; shorten them, or enable the plugin "context-compression"';
    return invalid(
      pathOfConversation(format),
      `are longer than the ${longest} tokens that ${names} can read${advice}`,
      'context_length_exceeded',
    );
  }
  // An allow-list of the account's is no fact about the model. @spec route-21
  if (excludedBy.every((reason) => reason.startsWith('guardrail:')))
    return new GatewayError(
      'permission_denied',
      `The guardrails of this account do not allow ${names} (${excludedBy.join(', ')}).`,
    );
  if (excludedBy.every((reason) => reason === 'price_unknown'))
    return new GatewayError(
      'not_found',
      `What ${names} costs is not known here, so that the spending limits of this caller cannot be enforced. Give its endpoint a price; 0 is allowed.`,
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

/** An operation has none. */
const NO_CONVERSATION: Pick<GenerationRequest, 'format' | 'tools' | 'response'> = { format: 'chat', tools: [] };

/** All endpoints refuse the same member, so that the request is at fault. */
function wrongMember(considered: readonly Considered[]): GatewayError | undefined {
  const [first] = considered;
  if (first?.lacks === undefined || first.fault === undefined) return undefined;
  if (!considered.every(({ lacks }) => lacks === first.lacks)) return undefined;
  const isTooLong = first.exclusion === 'context_length';
  return invalid(first.lacks, first.fault, isTooLong ? 'context_length_exceeded' : 'invalid_request');
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
  const keys = [...new Set(endpoints.flatMap(({ keyVariables }) => keyVariables ?? []))];
  const remedy = keys.length === 0 ? '' : ` Set ${keys.join(' or ')} in its environment.`;
  const message = `The gateway has no credentials for ${providers}, which would serve ${names}.${remedy}`;
  return new GatewayError('not_found', message, {
    availability: {
      code: 'no_endpoints',
      retryable: false,
      requestedModels,
      affectedProviders: [...new Set(endpoints.map(({ provider }) => provider))],
      excludedBy,
    },
  });
}

/** Everything that fits rests. @spec error-16 */
export function nothingReady(unavailable: readonly Candidate[], waitMs: number | undefined): GatewayError {
  const endpoints = unavailable.map(({ endpoint }) => endpoint);
  return new GatewayError(
    'provider_overloaded',
    'All providers of the model are in cooldown after errors or rate limits.',
    {
      status: 503,
      ...(waitMs !== undefined && { retryAfterMs: waitMs }),
      availability: {
        code: 'temporarily_unavailable',
        retryable: true,
        requestedModels: [...new Set(endpoints.map(({ model }) => model))],
        affectedProviders: [...new Set(endpoints.map(({ provider }) => provider))],
        ...(waitMs !== undefined && { retryAfterS: Math.ceil(waitMs / 1_000) }),
      },
    },
  );
}

/** What the failures of all attempts mean: the last decides, the metadata lists the others. @spec error-15 */
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
 * 5xx, so that each would cost as many attempts as there are providers (@spec error-20). Where only one provider was called,
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

/** What these tell of the gateway's own account at the provider is the operator's business (@spec error-17). */
const REJECTED_CREDENTIALS: ReadonlySet<number> = new Set([401, 402, 403]);

function isRejected({ upstreamStatus }: UpstreamFailure): boolean {
  return upstreamStatus !== undefined && REJECTED_CREDENTIALS.has(upstreamStatus);
}

/** One upstream failure in the caller's words. @spec error-17 */
export function upstreamError(
  failure: UpstreamFailure,
  candidate: Candidate | undefined,
  context: Context = { previous: [], retryAfterMs: failure.retryAfterMs, availability: undefined },
): GatewayError {
  const { previous, retryAfterMs, availability, shouldRetry } = context;
  return new GatewayError(failure.errorType, describeFailure(failure), {
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
