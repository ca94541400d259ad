import type { JsonObject } from '../lib/json.ts';

export type ProviderSortMetric = 'price' | 'throughput' | 'latency' | 'exacto';

/** Percentiles of a metric; a plain number of the caller's is `p50`. */
export type PercentileBound = Readonly<Partial<Record<'p50' | 'p75' | 'p90' | 'p99', number>>>;

/** The `provider` object. @spec route-1 */
export interface ProviderPreferences {
  /** Provider slugs, tried first and in this order. */
  readonly order?: readonly string[];
  readonly allowFallbacks: boolean;
  readonly only?: readonly string[];
  readonly ignore?: readonly string[];
  readonly requireParameters: boolean;
  readonly dataCollection: 'allow' | 'deny';
  readonly zdr: boolean;
  readonly enforceDistillableText: boolean;
  readonly quantizations?: readonly string[];
  readonly sort?: { readonly by?: ProviderSortMetric; readonly partition?: 'model' | 'none' };
  /** USD: `prompt` and `completion` per million tokens, the others per unit. */
  readonly maxPrice?: Readonly<Partial<Record<'prompt' | 'completion' | 'request' | 'image' | 'audio', number>>>;
  /** Tokens per second. */
  readonly preferredMinThroughput?: PercentileBound;
  /** Seconds to the first token. */
  readonly preferredMaxLatency?: PercentileBound;
}

/** Preferences of the configuration, a workspace or a key, for requests that set none. `routing/preferences.ts` merges them. */
export type DefaultPreferences = Partial<
  Pick<ProviderPreferences, 'order' | 'only' | 'ignore' | 'sort' | 'dataCollection' | 'zdr'>
>;

/** One entry of `plugins`, its options already checked against the plugin's own schema. */
export interface PluginRequest {
  readonly id: string;
  readonly enabled: boolean;
  readonly options: JsonObject;
  /** Endpoints that do the same by themselves are left to it. */
  readonly yieldsToNative?: true;
}

/** One plugin as a workspace or a key sets it for requests that do not name it. @spec plugin-6 */
export interface DefaultPlugin extends PluginRequest {
  /** The setting wins over the request; that of a workspace also wins over that of a key. */
  readonly preventOverrides: boolean;
}

export type StopCondition =
  | { readonly type: 'step_count_is'; readonly stepCount: number }
  | { readonly type: 'has_tool_call'; readonly toolName: string }
  | { readonly type: 'max_tokens_used'; readonly maxTokens: number }
  | { readonly type: 'max_cost'; readonly maxCostInDollars: number }
  | { readonly type: 'finish_reason_is'; readonly reason: string };

/** The response to the very same body of the same key may be replayed. @spec cache-1 */
export interface ResponseCacheSetting {
  readonly ttlMs: number;
  /** The cached response is deleted first. */
  readonly clear: boolean;
  /** Bodies with one digest are equal. */
  readonly bodyDigest: string;
}

/** The caller's instructions for the gateway itself. Nothing in here is ever sent upstream. */
export interface Directives {
  /** `model` first, then the fallbacks, duplicates removed, as the caller spelled them. Empty: the default model. */
  readonly models: readonly string[];
  readonly provider: ProviderPreferences;
  readonly plugins: readonly PluginRequest[];
  readonly sessionId?: string;
  /** The raw end-user id: only its hash may leave. */
  readonly user?: string;
  readonly trace?: JsonObject;
  /** `traceparent` and `tracestate`, as they came: they may be invalid. */
  readonly traceContext?: { readonly parent: string; readonly state?: string };
  readonly metadata?: Readonly<Record<string, string>>;
  readonly stopServerToolsWhen?: readonly StopCondition[];
  readonly maxToolCalls?: number;
  readonly preset?: string;
  /** `x_search_filter`, as it came: the plugin that uses it checks it. @spec web-16 */
  readonly postFilter?: unknown;
  /** Stream begins with the transformed upstream body. */
  readonly echoUpstreamBody: boolean;
  /** `X-Service-Metadata: enabled`. */
  readonly serviceMetadata: boolean;
  /** `X-Service-Rescue`: mid-stream failover, on or off. Absent: as the operator configured it. */
  readonly rescue?: boolean;
  readonly responseCache?: ResponseCacheSetting;
  /** The chat caller declared `functions`: it reads one call, as `function_call`. */
  readonly legacyCalls?: true;
  /** `anthropic-beta` tokens of the caller. */
  readonly betas: readonly string[];
  readonly app?: AppAttribution;
}

/** How the calling application identifies itself. @spec request-27 */
export interface AppAttribution {
  readonly url?: string;
  readonly title?: string;
  readonly categories?: readonly string[];
  readonly userAgent?: string;
  /** Two letters, ISO 3166: the country of its user, as a proxy in front of the gateway reports it. */
  readonly country?: string;
}

export const DEFAULT_PREFERENCES: ProviderPreferences = {
  allowFallbacks: true,
  requireParameters: false,
  dataCollection: 'allow',
  zdr: false,
  enforceDistillableText: false,
};

/**
 * The part of a caller's preferences that also holds for models that the caller did not name. Providers that it excludes,
 * by `only` or by `ignore`, stay excluded; an order was meant for another model.
 */
export function privacyOf({
  only,
  ignore,
  dataCollection,
  zdr,
  enforceDistillableText,
}: ProviderPreferences): ProviderPreferences {
  return {
    ...DEFAULT_PREFERENCES,
    dataCollection,
    zdr,
    enforceDistillableText,
    ...(only !== undefined && { only }),
    ...(ignore !== undefined && { ignore }),
  };
}
