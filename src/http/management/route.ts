import { IncomingMessage, type IncomingHttpHeaders } from 'node:http';
import { z } from 'zod';
import type { Audit } from '../../accounts/audit.ts';
import type { Rotation } from '../../accounts/byok/rotate-secret.ts';
import type { ByokKeys } from '../../accounts/byok/byok-keys.ts';
import type { Files } from '../../accounts/files.ts';
import type { GenerationLookup, GenerationRecord } from '../../accounts/generation-lookup.ts';
import type { GuardrailAssignments } from '../../accounts/policy/guardrail-assignments.ts';
import type { Guardrails } from '../../accounts/policy/guardrails.ts';
import type { Credits } from '../../accounts/limits/credits.ts';
import type { Reconciliations } from '../../accounts/limits/reconciliations.ts';
import type { KeyLimits } from '../../accounts/limits/key-limits.ts';
import type { CountAnalyticsRequest } from '../../accounts/limits/analytics-rate-limit.ts';
import type { Keys } from '../../accounts/keys/keys.ts';
import type { OauthCodes } from '../../accounts/keys/oauth-codes.ts';
import type { Presets } from '../../accounts/presets.ts';
import type { Organization } from '../../accounts/workspaces/organization.ts';
import type { AdmitKey } from '../../accounts/keys/authenticate.ts';
import type { Principal } from '../../accounts/principal.ts';
import type { WorkspaceBudgets } from '../../accounts/workspaces/workspace-budgets.ts';
import type { WorkspaceMembers } from '../../accounts/workspaces/workspace-members.ts';
import type { People } from '../../accounts/people/people.ts';
import type { Touched, Viewer } from '../../accounts/people/viewer.ts';
import type { Workspaces } from '../../accounts/workspaces/workspaces.ts';
import type { PluginRequest, ProviderPreferences } from '../../canonical/directives.ts';
import type { ClientFormatId } from '../../canonical/extra.ts';
import type { MetricsOf } from '../../catalog/endpoint-metrics.ts';
import type { Catalog, Endpoint, Model } from '../../catalog/model.ts';
import type { Evaluations } from '../../evaluations/evaluations.ts';
import type { Classifiers } from '../../classifiers/classifiers.ts';
import type { Interns } from '../../interns/interns.ts';
import type { JsonObject } from '../../lib/json.ts';
import type { BacktestResult } from '../../pipeline/backtest.ts';
import type { TryFilters } from '../../pipeline/content-filters/try-filters.ts';
import type { ContainerRoutes } from '../../containers/container-routes.ts';
import type { Vault } from '../../vault/vault.ts';
import type { VideoJobs } from '../../video-jobs/video-jobs.ts';
import type { StoredResponses } from '../../stored-responses/stored-responses.ts';
import type { Analytics } from '../../telemetry/analytics/analytics.ts';
import type { ContentLog } from '../../telemetry/content-log.ts';
import type { Notifications } from '../../notifications/notifications.ts';
import type { Destinations } from '../../telemetry/destinations/destinations.ts';
import type { FeedbackBox } from '../../telemetry/feedback.ts';
import type { CountMatches } from '../../telemetry/route-log/guardrail-matches.ts';
import type { RouteLog } from '../../telemetry/route-log/route-log.ts';
import type { SessionCosts } from '../../telemetry/datasets/session-costs.ts';
import type { TaskTrafficWatch } from '../../telemetry/task-traffic.ts';
import type { ScimServices } from './scim/services.ts';
import type { OperationServices } from './operations/services.ts';
import { checkShape } from '../../wire/gateway/validation/check-shape.ts';

/** The services of management routes. A route takes from here what it needs. */
export interface ManagementServices {
  readonly keys: Keys;
  readonly keyLimits: KeyLimits;
  readonly workspaces: Workspaces;
  readonly members: WorkspaceMembers;
  readonly organization: Organization;
  /** Absent: there is no organization, and keys are all there is. */
  readonly people?: People | undefined;
  /** Absent: no identity provider pushes users. */
  readonly scim?: ScimServices | undefined;
  readonly budgets: WorkspaceBudgets;
  readonly guardrails: Guardrails;
  readonly assignments: GuardrailAssignments;
  /** Runs the filters of a guardrail on a text. */
  readonly tryFilters: TryFilters;
  readonly audit: Audit;
  readonly credits: Credits;
  readonly reconciliations: Reconciliations;
  readonly generations: GenerationLookup;
  /** Settles when all records are stored that were written before. @throws GatewayError 503 when that takes too long */
  readonly waitForRecords: () => Promise<void>;
  readonly analytics: Analytics;
  readonly content: Pick<ContentLog, 'find'>;
  readonly routes: Pick<RouteLog, 'find'>;
  readonly countMatches: CountMatches;
  /** Plans stored requests again under other preferences. */
  readonly backtest: (
    rows: readonly GenerationRecord[],
    preferences: ProviderPreferences | undefined,
  ) => Promise<BacktestResult>;
  readonly feedback: FeedbackBox;
  readonly destinations: Destinations;
  readonly notifications: Pick<Notifications, 'channels' | 'events' | 'resend'>;
  readonly byok: ByokKeys;
  readonly presets: Presets;
  readonly vault: Vault;
  /** Which normal keys may change secrets. */
  readonly vaultWriters: 'admins' | 'any';
  /** @throws GatewayError 409 where the operator supplies the secret */
  readonly rotateMasterKey: () => Promise<Rotation>;
  readonly files: Files;
  readonly oauth: OauthCodes;
  readonly storedResponses: StoredResponses;
  readonly videos: Omit<VideoJobs, 'run' | 'start' | 'close'>;
  /** Absent: containers are off. */
  readonly containers?: ContainerRoutes | undefined;
  /** Absent: the configuration has none. */
  readonly interns?: Interns | undefined;
  readonly evaluations: Evaluations;
  readonly classifiers: Classifiers;
  /** Counts a call of a normal key that is no generation. @throws GatewayError 429 */
  readonly countCall: (principal: Principal) => Promise<void>;
  /** @throws GatewayError 400 for a body that the generation route of the format would refuse, 404 for an unknown model */
  readonly checkRequest: (format: ClientFormatId, body: JsonObject) => void;
  /**
   * Parses entries for `plugins` of a request.
   * @param path the list's name in an error
   * @throws GatewayError 400 for an entry that no request may have
   */
  readonly readPlugins: (sent: readonly unknown[], path: string) => readonly PluginRequest[];
  readonly listing: ListingServices;
  readonly insights: InsightServices;
  readonly operations: OperationServices;
}

/** Statistics over all requests. */
export interface InsightServices {
  /** @throws GatewayError 429 after too many requests */
  readonly take: CountAnalyticsRequest;
  readonly taskGroups: TaskTrafficWatch['groups'];
  readonly sessionCosts: SessionCosts;
  readonly nowMs: () => number;
}

/** The services of the lists of models, endpoints and providers. */
export interface ListingServices {
  readonly catalog: Catalog;
  readonly metricsOf: MetricsOf;
  /** All providers, with or without credentials. */
  readonly providers: () => readonly ListedProvider[];
  /**
   * Returns what preferences, guardrails and credentials leave to the requests of a caller.
   * @throws GatewayError 503 while the caller's rules cannot be read
   */
  readonly allowedTo: (principal: Principal) => Promise<IsAllowed>;
  /** The caller that the hash of a key stands for. @throws GatewayError 401 for one that may not be used */
  readonly admitKey: AdmitKey;
  /** The caller whose key a request to a public route has; `undefined`: none, or one that is refused. */
  readonly callerOf: (headers: IncomingHttpHeaders) => Promise<Principal | undefined>;
  readonly nowMs: () => number;
  /** The base URL with the version segment. */
  readonly baseUrl: () => string;
  /** Every fact about a model, with the source that has the last word on it; `undefined`: nothing is known. */
  readonly sourcesOf: (slug: string) => Promise<ModelSources | undefined>;
  /** What Codex says to the models of its list. Absent: it gets an empty one. */
  readonly codexInstructions?: string | undefined;
}

/** A fact about a model, and why it is believed. */
export interface ListedFact {
  readonly member: string;
  /** JSON. */
  readonly value: unknown;
  readonly layer: 'library' | 'list' | 'project' | 'configuration';
  readonly source: string;
  /** When the source said so; absent: it is the operator's word. */
  readonly date?: string;
}

export interface ModelSources {
  readonly slug: string;
  /** No person of the project has reviewed its facts. */
  readonly unreviewed: boolean;
  readonly figures: readonly ListedFact[];
  readonly endpoints: readonly {
    readonly provider: string;
    readonly model: string;
    /** The provider is set up and has credentials. */
    readonly usable: boolean;
    readonly figures: readonly ListedFact[];
  }[];
}

export type IsAllowed = (model: Model, endpoint: Endpoint) => boolean;

/** A provider as callers see it. Null: unknown. */
export interface ListedProvider {
  readonly slug: string;
  readonly name: string;
  readonly headquarters: string | null;
  readonly datacenters: readonly string[] | null;
  readonly privacyPolicyUrl: string | null;
  readonly termsOfServiceUrl: string | null;
  readonly statusPageUrl: string | null;
}

/** The keys that a route accepts: management keys, any key, or none at all. */
export type RouteScope = 'management' | 'normal' | 'any' | 'public';

/** The sessions of keys that may call a route, besides those of operators. @spec console-11 */
export type RouteRole = 'member';

/**
 * What users that are no operators may do: what they touch is compared with their rights before the route runs, or the
 * route itself narrows what it shows to the `viewer`. @spec people-9
 */
export type UserAccess<Context> = 'narrowed' | ((context: Context) => Promise<Touched> | Touched);

/** One status that a route may answer with. */
export interface RouteResponse {
  readonly description: string;
  readonly schema: z.ZodType;
  /** Default: JSON. */
  readonly contentType?: string;
}

export interface RouteAnswer {
  readonly status: number;
  readonly body: object | string;
  /** Default: JSON. */
  readonly contentType?: string;
  readonly headers?: Readonly<Record<string, string>>;
  /** The changed subject for an audit event, where the path does not name it for good. */
  readonly subject?: string;
  /** The change had been made before: no event. */
  readonly changesNothing?: boolean;
}

interface RouteFacts {
  readonly method: 'GET' | 'POST' | 'PATCH' | 'PUT' | 'DELETE';
  /** Below the version segment, in the syntax of OpenAPI: `/keys/{hash}`. */
  readonly path: string;
  readonly scope: RouteScope;
  /** Absent: operators alone. */
  readonly role?: RouteRole;
  /** Unique among all routes. */
  readonly operationId: string;
  readonly tag: string;
  readonly summary: string;
  readonly responses: Readonly<Record<number, RouteResponse>>;
  /** Statuses of errors beside those that follow from scope, path and query alone. */
  readonly errors: readonly (400 | 403 | 404 | 408 | 409 | 410 | 413 | 429 | 502 | 503)[];
  /**
   * What an audit event holds of a changing body: its members with their values or, by default, their names alone,
   * since a value may be a secret.
   */
  readonly audited?: 'values' | 'names';
  /** Shows what callers said: the audit event of a session that reads it. @spec console-13 */
  readonly readsContentAs?: string;
  /** The route changes nothing, whatever its method, and leaves no audit event. */
  readonly onlyReads?: boolean;
  /** Any key may call; changes by management keys leave an audit event. */
  readonly auditsManagers?: boolean;
  /** Changes by any key leave an audit event. */
  readonly auditsEveryKey?: boolean;
  /** The response depends on records of generations: it waits until those of this process are stored. */
  readonly readsRecords?: boolean;
  /** With a header `Idempotency-Key`, a repeated call runs once. */
  readonly idempotent?: boolean;
  /** Other methods of the path get 405, unlike on all other paths. @spec key-14 */
  readonly refusesOtherMethods?: boolean;
  /** Errors name a parameter of the query by its name alone, as the vendor of the format does: `after`, not `query.after`. */
  readonly namesBareParameters?: boolean;
  /** Takes a form whose files are read as they arrive, and not a JSON body: `body` is the request itself. */
  readonly upload?: UploadFacts;
  /** The body is a generation request of this format, which the route has checked. */
  readonly takesRequestOf?: ClientFormatId;
  /** Public, but shows more to a caller with a key; an invalid key is refused. */
  readonly readsKey?: boolean;
  /** Responses hold nothing secret and change rarely, so clients may revalidate a cached one. @spec catalog-10 */
  readonly hasTag?: boolean;
}

export interface UploadFacts {
  /** The size of the whole form. A form that declares more is not read at all. */
  readonly bytesMax: number;
  /** The content of the form, for the documentation. */
  readonly form: z.ZodType;
}

export interface RouteContext<Params, Query, Body> {
  /** Absent on public routes only. */
  readonly principal: Principal | undefined;
  /** A user that is no operator. Absent: a key, or an operator. */
  readonly viewer?: Viewer | undefined;
  readonly params: Params;
  readonly query: Query;
  readonly body: Body;
  /** Names in lower case. */
  readonly headers: IncomingHttpHeaders;
  readonly services: ManagementServices;
}

interface RouteDefinition<
  Params extends z.ZodType,
  Query extends z.ZodType,
  Body extends z.ZodType,
> extends RouteFacts {
  readonly params: Params;
  readonly query: Query;
  readonly body: Body;
  /** Absent: users that are no operators may do here what their key for the dashboard may, and nothing on other routes. */
  readonly users?: UserAccess<RouteContext<z.output<Params>, z.output<Query>, z.output<Body>>>;
  readonly handle: (
    context: RouteContext<z.output<Params>, z.output<Query>, z.output<Body>>,
  ) => Promise<RouteAnswer> | RouteAnswer;
}

/** A route without type parameters: it checks its input by itself. */
export interface ManagementRoute extends RouteFacts {
  readonly params: z.ZodType;
  readonly query: z.ZodType;
  readonly body: z.ZodType;
  readonly users?: UserAccess<RouteContext<unknown, unknown, unknown>>;
  /** @throws GatewayError */
  answer(raw: RouteContext<unknown, unknown, unknown>): Promise<RouteAnswer>;
}

/** No path parameters, or no query parameters: any member is a 400 that names it. */
export const NOTHING: z.ZodType<Record<string, never>> = z.strictObject({});
/** The schema of a response without a body: status 204. */
export const NO_CONTENT: z.ZodVoid = z.void();
/** The route has no body; one that is sent is ignored. */
export const NO_BODY: z.ZodUnknown = z.unknown();

export function defineRoute<Params extends z.ZodType, Query extends z.ZodType, Body extends z.ZodType>(
  definition: RouteDefinition<Params, Query, Body>,
): ManagementRoute {
  const { handle, users, ...facts } = definition;
  const check = (raw: RouteContext<unknown, unknown, unknown>) => ({
    ...raw,
    params: checkShape(definition.params, raw.params, { root: 'path' }),
    query: checkShape(definition.query, raw.query, facts.namesBareParameters === true ? {} : { root: 'query' }),
    // An upload is a request that is still to be read, and no JSON to check.
    body: raw.body instanceof IncomingMessage ? definition.body.parse(raw.body) : checkShape(definition.body, raw.body),
  });
  return {
    ...facts,
    ...(users !== undefined && {
      users: typeof users === 'string' ? users : async (raw) => users(check(raw)),
    }),
    answer: async (raw) => handle(check(raw)),
  };
}
