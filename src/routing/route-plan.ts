import type { ExclusionReason } from '../canonical/exclusion-reasons.ts';
import type { ProviderPreferences, ProviderSortMetric } from '../canonical/directives.ts';
import type { FormatId } from '../canonical/extra.ts';
import type { ZeroRetention } from '../canonical/guardrail-rules.ts';
import type { ModelRequest } from '../canonical/operation.ts';
import type { Endpoint, Model } from '../catalog/model.ts';
import type { Cooldown, EndpointHealth } from './health.ts';
import type { RoutingMetrics } from './stats.ts';

/** One way to serve the request: an endpoint, and the format to speak to it. */
export interface Candidate {
  readonly endpoint: Endpoint;
  /** Of a generation; requests of other kinds have a format of their own, which the provider's offer names. */
  readonly format: FormatId;
  /** The caller's own credential that is used, and no other; absent: the gateway's. */
  readonly credential?: { readonly id: string; readonly label: string };
  /** It comes first to test its recovery: a second request goes to the next candidate. */
  readonly probe?: true;
}

/** A candidate with what its place depends on. */
export interface Entry {
  readonly candidate: Candidate;
  readonly health: EndpointHealth;
}

/** A credential of the caller's own that may be used for a request, as far as routing knows it: nothing secret. */
export interface CallerCredential {
  readonly id: string;
  /** A masked excerpt. */
  readonly label: string;
  /** Used when all others have failed. */
  readonly isFallback: boolean;
  /** Where it may be used, the gateway's own credential of that provider is not. */
  readonly alwaysUse: boolean;
}

/** Those that match the request at this endpoint, in the order to use them. */
export type CredentialsOf = (endpoint: Endpoint) => readonly CallerCredential[];

/** What an account allows its requests to use. Null: all except the ignored ones. @spec guardrail-9 */
export interface Permissions {
  readonly allowedProviders: readonly string[] | null;
  readonly ignoredProviders: readonly string[];
  /** Permanent names where the catalog has one. */
  readonly allowedModels: readonly string[] | null;
  readonly ignoredModels: readonly string[];
  readonly zeroRetention: ZeroRetention;
  /** Whether endpoints that train on what they are sent may be used: those with a price, and those without. */
  readonly paidTraining: boolean;
  readonly freeTraining: boolean;
}

/** Which rule of the account's leaves an endpoint out. */
export type Refusal = Extract<ExclusionReason, `guardrail:${string}`>;

export interface Considered {
  readonly endpoint: Endpoint;
  readonly exclusion?: ExclusionReason;
  /** The parameter, modality or member of the body that the endpoint lacks. */
  readonly lacks?: string;
  /** What is wrong with the member that `lacks` names, where the request can do something about it. */
  readonly fault?: string;
  /** A preference that it does not meet, so that it is tried last. */
  readonly demotion?: 'preferred_min_throughput' | 'preferred_max_latency';
}

/** By what the endpoints of a model were put in order. */
export type Ordering = 'balanced' | 'order' | ProviderSortMetric;

export interface RoutePlan {
  /** In the order to try them; empty when nothing fits. */
  readonly candidates: readonly Candidate[];
  /** Every endpoint of every requested model, with the reason for its exclusion. */
  readonly considered: readonly Considered[];
  /** Endpoints that fit but rest, soonest ready first. */
  readonly cooling: readonly { readonly candidate: Candidate; readonly cooldown: Cooldown }[];
  readonly ordering: Ordering;
  /** The endpoint that the session is tied to, by its name, where it is among the candidates. */
  readonly sticky?: string;
  /** Whether another may try when the first one fails. */
  readonly allowFallbacks: boolean;
}

/** A suffix of a model's slug that says how to choose among its endpoints. @spec model-14 */
export type Shortcut = 'nitro' | 'floor' | 'exacto';

/** What a format has words for. */
export interface FormatFacts {
  readonly parameters: ReadonlySet<string>;
  /** The media of a request and of an answer; absent: all. */
  readonly modalities?: { readonly inputs: ReadonlySet<string>; readonly outputs: ReadonlySet<string> };
}

export interface PlanInput {
  readonly request: ModelRequest;
  /** Models to try, in order. */
  readonly models: readonly Model[];
  /** The preferences of a slug's suffix. */
  readonly shortcuts?: ReadonlyMap<Model, Shortcut>;
  readonly preferences: ProviderPreferences;
  /** What the account allows; absent: everything. */
  readonly permissions?: Permissions;
  /** Spending is limited, which needs known prices. Default false. */
  readonly mustBePriced?: boolean;
  /** The provider that alone can read what the request brings from an earlier answer: it is tried first. @spec route-29 */
  readonly pinnedProvider?: string | undefined;
  /** The endpoint that a model's session is tied to, by its name. */
  readonly sticky?: ((model: Model) => string | undefined) | undefined;
  readonly formats: Readonly<Partial<Record<FormatId, FormatFacts>>>;
  /** An endpoint is excluded if the prompt cannot fit; not so for counting its tokens. Default true. */
  readonly mustFit?: boolean;
  /** Whether the prompt will be made to fit an endpoint that is too small for it; `undefined`: it stays as it is. */
  readonly fits?: ((endpoint: Endpoint) => boolean | undefined) | undefined;
  /** Each credential of a caller's own has a health of its own. */
  readonly health: (endpoint: Endpoint, credential?: CallerCredential) => EndpointHealth;
  /** Credentials of the caller's own; absent: none. */
  readonly credentials?: CredentialsOf;
  readonly metrics?: (endpoint: Endpoint) => RoutingMetrics | undefined;
  /** From 0 up to, not including, 1: the one chance of the plan. With 0 the catalog's order stands where nothing else counts. */
  readonly random: number;
}
