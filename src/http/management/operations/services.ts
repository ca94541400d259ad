import type { z } from 'zod';
import type { McpTool } from '../../../canonical/tools/mcp.ts';
import type { Json, JsonObject } from '../../../lib/json.ts';
import type { RunningGeneration, RunningSight } from '../../../pipeline/running-requests.ts';
import type { ProcessFigures } from '../../../telemetry/process-figures.ts';
import type { Page, PageWindow } from '../page.ts';

/** What operators look at, and what they may set right: how endpoints, processes and credentials do. */
export interface OperationServices {
  readonly routing: RoutingHealth;
  readonly details: () => Promise<HealthDetails>;
  readonly providers: ProviderChecks;
  readonly running: RunningGenerations;
  readonly tools: ToolInventory;
  readonly config: () => ConfigInEffect;
  readonly jobs: JobList;
}

/** Work that outlives requests, of every area. What it is about is known there, by the subject. */
export interface JobList {
  /** The newest first. */
  list(
    filter: {
      readonly kind?: string | undefined;
      readonly state?: JobState | undefined;
      readonly subjectId?: string | undefined;
    },
    window: PageWindow,
  ): Promise<Page<ListedJob>>;
  find(id: string): Promise<ListedJob | undefined>;
  count(): Promise<readonly { readonly kind: string; readonly state: JobState; readonly jobs: number }[]>;
}

/** The last three are final. */
export const JOB_STATES = ['queued', 'running', 'waiting', 'done', 'failed', 'cancelled'] as const;
type JobState = (typeof JOB_STATES)[number];

/** A job without how far it is, which may be of what callers wrote. */
export interface ListedJob {
  readonly id: string;
  readonly kind: string;
  readonly subjectId: string;
  readonly state: JobState;
  readonly attempt: number;
  readonly runAfterMs: number;
  readonly isCancelled: boolean;
  readonly error: string | null;
  readonly createdAtMs: number;
  readonly updatedAtMs: number;
  readonly finishedAtMs: number | null;
  readonly expiresAtMs: number | null;
}

/** Requests under way in all processes that share state. */
export interface RunningGenerations {
  /** The newest ones. */
  list(sight: RunningSight): Promise<{
    readonly total: number;
    readonly rows: readonly RunningGeneration[];
    /** That replied, with this one. */
    readonly processes: number;
  }>;
  /** @returns whether it was under way in any process that replied */
  stop(id: string, sight: RunningSight): Promise<boolean>;
}

/** Health of endpoints as this process knows it, which hears of what all others see. */
export interface RoutingHealth {
  /** Those that were called, with the figures of their traffic. */
  list(): readonly RoutedEndpoint[];
  /** Forgets what was seen of an endpoint, in all processes. @returns whether this one knew anything of it */
  reset(id: string): boolean;
}

export interface RoutedEndpoint {
  readonly id: string;
  /** The models that it serves. */
  readonly models: readonly string[];
  readonly provider: string;
  readonly upstreamModel: string;
  readonly serviceTier: string | null;
  /** Of a credential that a user brought; null: the gateway's own. */
  readonly credentialId: string | null;
  readonly rank: 0 | 1 | 2;
  readonly isOpen: boolean;
  readonly restMs: number | null;
  /** The upstream sent the time of the rest itself. */
  readonly isRestNamed: boolean;
  readonly probeInMs: number | null;
  readonly streak: number;
  readonly lastFailure: {
    readonly kind: string;
    readonly status: number;
    readonly upstreamStatus: number | null;
    readonly agoMs: number;
  } | null;
  readonly uptimeLast5m: number | null;
  readonly requestsLast1d: number;
  readonly latencyMsLast30m: { readonly p50: number; readonly p99: number } | null;
}

/** Which providers are on and why, and whether they work. */
export interface ProviderChecks {
  /** Those that are set up, and those that a variable would turn on. */
  list(): readonly ProviderStatus[];
  /** Calls a provider with the gateway's own credential, without spending tokens. @throws GatewayError 404, 429 */
  check(slug: string): Promise<ProviderCheck>;
  /** Calls it with a stored credential. @throws GatewayError 404, 429 */
  checkStored(id: string): Promise<ProviderCheck>;
  /** Calls it with a credential that is not stored. @throws GatewayError 400, 429 */
  checkNew(provider: string, key: string): Promise<ProviderCheck>;
}

export interface ProviderStatus {
  readonly slug: string;
  readonly name: string;
  readonly isOn: boolean;
  /** Where its credential comes from, by name. Null: it has none, or needs none. */
  readonly credential: string | null;
  /** What to do to turn it on. Null: it is on. */
  readonly hint: string | null;
  /** Users brought credentials to it. */
  readonly hasByokCredentials: boolean;
  readonly formats: readonly string[];
  readonly models: number;
}

export interface ProviderCheck {
  readonly verdict: 'ok' | 'warning' | 'failed';
  /** Complete sentences, without a secret. */
  readonly message: string;
}

/** What models and requests can be given beside a conversation. */
export interface ToolInventory {
  readonly plugins: () => readonly DescribedFeature[];
  readonly serverTools: () => readonly DescribedFeature[];
  readonly mcpServers: () => Promise<readonly ListedMcpServer[]>;
  /** Calls a tool by hand. @throws GatewayError 400, 404, 502 */
  callMcpTool(call: { readonly server: string; readonly tool: string; readonly input: JsonObject }): Promise<{
    readonly content: readonly JsonObject[];
    readonly structured: Json;
    readonly hasFailed: boolean;
    readonly durationMs: number;
  }>;
}

export interface DescribedFeature {
  readonly id: string;
  readonly summary: string;
  readonly options: z.ZodType;
}

export interface ListedMcpServer {
  readonly name: string;
  readonly transport: 'http' | 'stdio';
  /** Null: it does not answer. */
  readonly tools: readonly McpTool[] | null;
  readonly trouble: string | null;
  readonly workspaces: readonly string[] | null;
  readonly keys: readonly string[] | null;
}

export interface ConfigInEffect {
  readonly file: string | null;
  /** Sections that changed on disk and that only a start reads. */
  readonly needsRestart: readonly string[];
  readonly values: readonly {
    readonly path: string;
    /** JSON. Secrets are redacted. */
    readonly value: unknown;
    /** Null: it has its default. */
    readonly origin: string | null;
    readonly meaning: string | null;
  }[];
}

export interface HealthDetails {
  readonly version: string;
  readonly startedAtMs: number;
  /** Why the gateway is not ready. Null: it is. */
  readonly problem: string | null;
  /** What does not work although requests are served. */
  readonly degraded: readonly string[];
  readonly database: {
    readonly engine: 'sqlite' | 'postgres';
    /** Null: it does not answer. */
    readonly pingMs: number | null;
    readonly bytes: number | null;
  };
  /** Null: state is shared by no Redis. */
  readonly redis: { readonly pingMs: number | null } | null;
  readonly catalog: { readonly models: number; readonly endpoints: number };
  readonly processes: readonly ProcessDetails[];
}

export interface ProcessDetails {
  readonly name: string;
  /** Null: it does not answer. */
  readonly figures: ProcessFigures | null;
}
