import type { Calibration } from '../canonical/calibration.ts';
import type { MediaFacts } from './media-facts.ts';
import type { Origins } from './origins.ts';
import type { EndpointPrice } from './endpoint-price.ts';
import type { MemoryBudget } from './memory-budget.ts';
import type { ProxySettings } from '../lib/net/proxy/proxies.ts';
import type { OwnMcpConfig } from './schema/mcp-server.ts';
import type { NotificationsConfig } from './schema/notifications.ts';
import type { ScoresConfig } from './schema/scores.ts';
import type { SEARCH_ENGINES } from './schema/services.ts';

/** The operator's configuration, parsed and validated once. Names follow docs/configuration.md, in camelCase; times are ms. */
export interface Config {
  /** The file that was read; absent: none. */
  readonly path?: string;
  readonly origins: Origins;
  readonly server: {
    readonly host: string;
    /** 0 selects a free one. */
    readonly port: number;
    /** Processes that serve generations. 1: the gateway is one process. */
    readonly workers: number;
    readonly maxBodyBytes: number;
    /** Memory for fetched files, of all requests together. */
    readonly fileMemoryBytes: number;
    /** Size of the response cache; with Redis, of all processes together. 0 turns it off. */
    readonly responseCacheBytes: number;
    readonly drainMs: number;
    readonly region: string;
    /** Where the gateway is found from outside, without a slash at the end. Absent: nothing says it. */
    readonly publicUrl?: string;
  };
  /** Shares of the memory that the process may use. */
  readonly memory: MemoryBudget;
  readonly dataDir: string;
  readonly journal: {
    /** Absent: `process`, or `database` where the folder may vanish with the process. */
    readonly durability?: 'process' | 'power' | 'database';
    readonly bytesMax: number;
  };
  readonly files: {
    /** Absent: below the data directory. */
    readonly directory?: string;
    /** Of all files of a workspace. */
    readonly workspaceBytesMax: number;
  };
  readonly defaults: {
    readonly model?: string;
    readonly imageModel?: string;
    readonly embeddingsModel?: string;
    readonly rerankModel?: string;
    readonly transcriptionModel?: string;
    readonly speechModel?: string;
    readonly videoModel?: string;
    readonly provider: ProviderDefaults;
  };
  readonly timeouts: Timeouts;
  readonly databaseUrl?: string;
  readonly redisUrl?: string;
  /** Proxies on the way to the Internet. Absent: none. */
  readonly proxies?: ProxySettings;
  /** Gateways with the same prefix in one Redis share their state. */
  readonly redisPrefix: string;
  readonly catalog: { readonly refresh: CatalogRefreshConfig };
  /** Whether mid-stream failover is on by default. */
  readonly rescue: { readonly enabled: boolean };
  /** Retries at one endpoint before the next candidate. */
  readonly retry: RetryConfig;
  /** Whether an attempt has less time than configured while another candidate is left. */
  readonly deadlines: { readonly adaptive: boolean };
  readonly routers: RoutersConfig;
  readonly credits: { readonly enforce: boolean };
  readonly console: ConsoleConfig;
  readonly organization: OrganizationConfig;
  /** The gateway itself as an MCP server. */
  readonly mcpServer: OwnMcpConfig;
  readonly scim: ScimConfig;
  readonly notifications: NotificationsConfig;
  /** Whether normal keys may issue keys. @spec key-18 */
  readonly oauth: { readonly normalKeys: boolean };
  readonly decisions: {
    readonly timeoutMs: number;
    /** Of judges that a request waits for. */
    readonly judgeTimeoutMs: number;
    readonly calibrations: readonly Calibration[];
  };
  readonly vault: VaultConfig;
  readonly containers: ContainersConfig;
  readonly interns: InternsConfig;
  readonly scores: ScoresConfig;
  /** MCP servers, including disabled ones. */
  readonly mcpServers: readonly McpServerConfig[];
  /** Configured web search engines, without those of the environment. */
  readonly search: {
    /** Absent: the first configured one. */
    readonly engine?: SearchEngineName;
    readonly engines: Readonly<Record<SearchEngineName, ServiceConfig>>;
  };
  /** Whether pages may be fetched from the operator's own network. */
  readonly webFetch: { readonly privateAddresses: boolean; readonly credentials: readonly WebCredential[] };
  readonly fileParser: { readonly mistralOcr: ServiceConfig & { readonly model?: string } };
  /** Phrases, in lower case, that the prompt injection detector ignores. */
  readonly guardrails: { readonly allowedPhrases: readonly string[] };
  readonly moderation: {
    /** Speaks OpenAI's `POST /moderations`. */
    readonly endpoint: ServiceConfig & { readonly model?: string };
    /** Slug of a model that judges if there is no endpoint. */
    readonly judge?: string;
    /** The judge flags a category from this probability on. */
    readonly threshold: number;
    /** What becomes of a request without a verdict. */
    readonly onError: 'allow' | 'block';
  };
  readonly observability: {
    /** `service.name` of what is sent. */
    readonly serviceName: string;
    readonly environment?: string;
    /** How long content is stored for workspaces that log it. */
    readonly contentRetentionMs: number;
    /** Whether records may be sent to addresses that are not on the public Internet, and without TLS. */
    readonly privateDestinations: boolean;
    /** What callers do not sample, by the flag of their `traceparent`, is not sent to receivers of OpenTelemetry. */
    readonly followsSampledFlag: boolean;
    /** Records that are older are not sent to a destination any more. */
    readonly catchUpMs: number;
    /** Records that no destination has taken are deleted after this time, or when they take more room. */
    readonly exportRetentionMs: number;
    readonly exportBytesMax: number;
    /** A destination is turned off after this time without success. 0: never. */
    readonly suspendAfterMs: number;
    /** `sample`: the share of plain successes whose route is kept, from 0 to 1. */
    readonly routeLog: { readonly sample: number; readonly retentionMs: number };
    /** Where metrics of models are sent. Absent: nowhere. */
    readonly metricsPush: MetricsPushConfig | undefined;
  };
  readonly responses: ResponsesConfig;
  readonly videos: VideosConfig;
  /** `holdNanoUsd`: reserved for a picture of a model that is paid by tokens where nothing says how many one has. */
  readonly images: { readonly holdNanoUsd: number };
  /** Rate limits of each key, of the account as a whole, of all requests for `:free` models together, and of each management key. */
  readonly rateLimits: {
    readonly key: RateLimit;
    readonly account: RateLimit;
    readonly free: RateLimit;
    readonly management: Pick<RateLimit, 'requestsPerMinute' | 'requestsPerDay'>;
  };
  readonly providers: readonly ProviderConfig[];
  /** Changes of the table of beta flags, by the provider's slug. Reloaded while the gateway runs. */
  readonly betaFlags: Readonly<Record<string, BetaFlagsConfig>>;
  readonly models: readonly ModelConfig[];
  /** Further names of models, with their slugs. Reloaded while the gateway runs. */
  readonly aliases: Readonly<Record<string, string>>;
  /** Whether a unique name without an author is resolved. Reloaded while the gateway runs. */
  readonly resolveBareNames: boolean;
  /** `local/*`: everything after the prefix is the upstream's own name at that provider. */
  readonly passThrough: readonly PassThroughConfig[];
  /** Keys from the environment; with them no key is created or printed. */
  readonly managementKey?: string;
  readonly apiKey?: string;
  /** Encrypts stored provider credentials. */
  readonly secret?: string;
  /** Decrypts data from before the last change of `secret`. */
  readonly previousSecret?: string;
  readonly logLevel: string;
  /** `pretty`: lines for people. */
  readonly logFormat: 'json' | 'pretty';
}

/** A header of pages of one host, which names a secret of the vault. */
export interface WebCredential {
  readonly host: string;
  readonly header: string;
  readonly value: string;
}

/** Where commands of models run. */
export interface ContainersConfig {
  readonly runtime: 'off' | 'auto' | 'bubblewrap' | 'podman';
  /** Podman may work as root. */
  readonly allowsRootful: boolean;
  /** Absent: nothing runs. */
  readonly rootfs?: string;
  /** Absent: below the gateway's own control group. */
  readonly cgroup?: string;
  /** Of one command. */
  readonly limits: {
    readonly memoryBytes: number;
    readonly cpus: number;
    readonly processes: number;
    readonly diskBytes: number;
    readonly commandMs: number;
  };
  readonly callMs: number;
  readonly expiresMs: number;
}

/** Secrets that are bound to hosts. */
export interface VaultConfig {
  /** Whether secrets may be stored and deleted. */
  readonly writes: boolean;
  /** Which normal keys may do so. */
  readonly writers: 'admins' | 'any';
  readonly allowPrivateHosts: boolean;
  /** A value that is older is stale; absent: none is. */
  readonly maxAgeMs: number | undefined;
  /** Where values are kept outside; absent: in the database. */
  readonly backEnd:
    | { readonly kind: 'file'; readonly folder: string }
    | {
        readonly kind: 'hashicorp';
        readonly address: string;
        readonly mount: string;
        readonly prefix: string;
        readonly namespace: string | undefined;
        readonly writes: boolean;
        readonly token: HashicorpTokenConfig;
      }
    | undefined;
}

export type HashicorpTokenConfig =
  | { readonly kind: 'token'; readonly token: string }
  | { readonly kind: 'file'; readonly path: string }
  | { readonly kind: 'kubernetes'; readonly role: string; readonly mount: string; readonly jwtPath: string };

/** Saved agents. */
export interface InternsConfig {
  readonly enabled: boolean;
  /** Whether risky tools may run without an approval. */
  readonly selfDrive: boolean;
  /** Of the texts of runs that are over. */
  readonly retentionMs: number;
}

/** The dashboard. */
export interface ConsoleConfig {
  readonly enabled: boolean;
  /** Names, in lower case and without a port, under which browsers find it, besides those of this machine. */
  readonly allowedHosts: readonly string[];
  /** Whether a browser on another machine may sign in without TLS. */
  readonly plainHttp: boolean;
}

/** Users that sign in. */
export interface OrganizationConfig {
  /** False: keys are all there is. */
  readonly enabled: boolean;
  readonly name?: string;
  readonly usersMax: number;
  /** Whether passwords open sessions. */
  readonly password: boolean;
  readonly oidc?: OidcConfig;
}

/** Users and groups that an identity provider pushes. */
export interface ScimConfig {
  readonly enabled: boolean;
  /** Absent: that of the request. */
  readonly baseUrl?: string;
  readonly defaultRole: 'org:admin' | 'org:member';
  readonly adminGroup?: string;
  /** In lower case. Empty: every domain may. */
  readonly emailDomains: readonly string[];
  /** What becomes of a user that was deleted there. */
  readonly onDelete: 'disable' | 'erase';
  readonly groupPatchBody: boolean;
}

/** An identity provider. */
export interface OidcConfig {
  readonly issuer: string;
  readonly clientId: string;
  /** Absent: a public client. */
  readonly clientSecret?: string;
  readonly name: string;
  readonly scopes: readonly string[];
  readonly groupsClaim: string;
  /** Empty: the claim says nothing about roles. */
  readonly adminGroups: readonly string[];
  /** Empty: every group may. */
  readonly memberGroups: readonly string[];
  /** In lower case. Empty: every domain may. */
  readonly emailDomains: readonly string[];
  readonly createsUsers: boolean;
  readonly trustsEmail: boolean;
}

/** Jobs that make clips. */
export interface VideosConfig {
  readonly jobMs: number;
  readonly assets: 'store' | 'proxy';
  /** Of clips, since they were made. */
  readonly retentionMs: number;
  /** Looks at one provider. */
  readonly pollAtOnce: number;
  readonly webhookUrl?: string;
  readonly webhookSecret?: string;
}

/** The longest time of any request: one in the background may take longer than those that a caller waits for. */
export function longestRequestMs({ timeouts, responses }: Pick<Config, 'timeouts' | 'responses'>): number {
  return Math.max(timeouts.totalMs, responses.background ? responses.backgroundMs : 0);
}

/** Responses of `POST /responses` that are kept, and how that format responds. */
export interface ResponsesConfig {
  readonly store: 'off' | 'memory' | 'database';
  /** Of all keys together; with Redis, of all processes together. */
  readonly memoryBytes: number;
  /** In memory, since the last use. */
  readonly memoryMs: number;
  /** In the database, since it was made; 0: until it is deleted. */
  readonly retentionMs: number;
  /** Of one key, in the database. */
  readonly bytesMaxPerKey: number;
  /** Which keys may read and continue a response. */
  readonly share: 'key' | 'workspace';
  readonly background: boolean;
  /** Running at a time. */
  readonly backgroundPerKey: number;
  readonly backgroundMs: number;
  /** Of the events of a background response, since its end. */
  readonly eventsMs: number;
  readonly echo: 'full' | 'terminal' | 'none';
  readonly lengthErrors: 'failed' | 'incomplete';
  readonly streamErrors: 'status' | 'in-band';
  readonly autoCache: boolean;
  readonly compaction: 'native' | 'own';
  readonly codexModels: 'off' | 'list';
  readonly codexInstructionsFile?: string;
}

export type SearchEngineName = (typeof SEARCH_ENGINES)[number];

/** Absent fields have their defaults. */
export interface ServiceConfig {
  readonly apiKey?: string;
  readonly baseUrl?: string;
}

/** Models of routers when the request names none. Slugs and aliases (`~author/family-latest`). */
export interface RoutersConfig {
  /** A sample of the requests without an auto router is classified, too, on this machine. */
  readonly classifiesTraffic: boolean;
  /** Judges of routers: the first available one is used. */
  readonly judge: { readonly models: readonly string[]; readonly timeoutMs: number };
  readonly auto: {
    /** The judge classifies requests when keywords are inconclusive. */
    readonly judge: boolean;
    /** Used when no model is ranked. */
    readonly judgeThreshold: number;
    readonly defaultModels: readonly string[];
  };
  readonly switchyard: { readonly efficient?: string; readonly capable?: string };
  readonly fusion: {
    /** Absent fields have their defaults. */
    readonly presets: Readonly<Partial<Record<FusionPresetName, FusionPresetConfig>>>;
  };
}

type FusionPresetName = 'general-high' | 'general-budget' | 'general-fast';

/** Places of a panel, each with its alternatives, first choice first. */
export interface FusionPresetConfig {
  readonly panel?: readonly (readonly string[])[];
  readonly analyst?: readonly string[];
}

/** A server of the Model Context Protocol. */
export type McpServerConfig = McpServerRules &
  (
    | {
        readonly transport: 'http';
        readonly url: string;
        readonly headers: Readonly<Record<string, string>>;
      }
    | {
        readonly transport: 'stdio';
        readonly command: string;
        readonly args: readonly string[];
        /** The process gets these, PATH and HOME of the gateway, and nothing else. */
        readonly env: Readonly<Record<string, string>>;
        readonly cwd?: string;
        /** The user and group of the process. Absent: those of the gateway. */
        readonly uid?: number;
        readonly gid?: number;
      }
  );

export interface McpServerRules {
  readonly name: string;
  readonly enabled: boolean;
  readonly callMsMax: number;
  /** Its calls carry the trace that they belong to. */
  readonly sendsTraceContext?: true;
  /** Names of the tools to offer, with `*` for any characters. Absent: all. */
  readonly tools?: readonly string[];
  /** Ids of the workspaces, and hashes of the keys, that may use it. With neither: every key. */
  readonly workspaces?: readonly string[];
  readonly keys?: readonly string[];
}

/** A public list of models that is read at intervals. */
export interface CatalogRefreshConfig {
  readonly enabled: boolean;
  readonly everyMs: number;
  /** Absent: the default one. */
  readonly url?: string;
  /** Its prices win over the project's. */
  readonly overridePrices: boolean;
}

/** Absent limits are unlimited. */
export interface RateLimit {
  readonly requestsPerMinute?: number;
  readonly requestsPerDay?: number;
  readonly tokensPerMinute?: number;
  /** Concurrent requests. */
  readonly concurrent?: number;
}

export interface BetaFlagsConfig {
  /** Features, whatever their date; whole flags; or `*` for all. */
  readonly allow: readonly string[];
  readonly deny: readonly string[];
  readonly rename: Readonly<Record<string, string>>;
}

export interface Timeouts {
  readonly connectMs: number;
  readonly headersMs: number;
  readonly firstTokenMs: number;
  readonly idleMs: number;
  readonly wholeMs: number;
  readonly embeddingsMs: number;
  readonly rerankMs: number;
  readonly imageMs: number;
  readonly transcriptionMs: number;
  readonly speechFirstByteMs: number;
  readonly speechIdleMs: number;
  readonly totalMs: number;
  readonly videoSubmitMs: number;
  readonly videoPollMs: number;
}

/** Those that a provider may have of its own. */
export type AttemptTimeouts = Omit<Timeouts, 'totalMs' | 'videoSubmitMs' | 'videoPollMs'>;

export interface RetryConfig {
  readonly sameEndpoint: number;
  /** A longer `Retry-After` means the next candidate. */
  readonly waitMsMax: number;
}

export interface ProviderDefaults {
  readonly order?: readonly string[];
  readonly only?: readonly string[];
  readonly ignore?: readonly string[];
  readonly sort?: 'price' | 'throughput' | 'latency' | 'exacto';
  readonly dataCollection?: 'allow' | 'deny';
  readonly zdr?: boolean;
}

export interface ProviderConfig {
  readonly slug: string;
  /** Id of an adapter in `src/providers`. */
  readonly adapter: string;
  readonly name?: string;
  readonly baseUrl?: string;
  readonly apiKey?: string;
  /** Options of its adapter, as in the file. */
  readonly options: Readonly<Record<string, unknown>>;
  /** Those of them that are never shown. */
  readonly secretOptions: readonly string[];
  readonly dataPolicy: { readonly training?: boolean; readonly retentionDays?: number };
  readonly headers: Readonly<Record<string, string>>;
  /** It receives the trace that a call belongs to. */
  readonly sendsTraceContext: boolean;
  /** The field for reasoning of earlier turns in the chat format. Absent: determined by the adapter and the conversation. */
  readonly reasoningHistory?: ReasoningHistoryConfig;
  readonly timeouts: Partial<AttemptTimeouts>;
  readonly retry: Partial<RetryConfig>;
}

export interface MetricsPushConfig {
  /** Of a collector, with or without `/v1/metrics`. */
  readonly endpoint: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly intervalMs: number;
  readonly temporality: 'cumulative' | 'delta';
}

export type ReasoningHistoryConfig = 'none' | 'reasoning_content' | 'reasoning' | 'think_tags';

export interface ModelConfig {
  readonly slug: string;
  readonly name: string;
  readonly contextLength?: number;
  readonly maxCompletionTokens?: number;
  readonly inputModalities?: readonly string[];
  readonly outputModalities?: readonly string[];
  /** Whether its author permits training on its responses. Absent: the project's fact. */
  readonly distillable?: boolean;
  /** For its endpoints without a setting of their own; wins over the provider's. */
  readonly reasoningHistory?: ReasoningHistoryConfig;
  readonly scores: Readonly<Record<string, number>>;
  /** Models for a generation that names this one alone, once all its endpoints failed. */
  readonly fallbacks?: readonly string[];
  readonly endpoints: readonly EndpointConfig[];
}

export interface EndpointConfig extends MediaFacts {
  readonly provider: string;
  /** The upstream's own name. */
  readonly model: string;
  /** Its name in routing preferences, in addition to the provider's slug. */
  readonly tag?: string;
  /** Capacity with a price of its own; every request to this endpoint asks for that tier. */
  readonly serviceTier?: 'priority' | 'flex';
  /** Wins over the provider's, field by field. */
  readonly dataPolicy?: { readonly training?: boolean; readonly retentionDays?: number };
  /** Absent: unknown. */
  readonly price?: EndpointPrice;
  readonly quantization?: string;
  readonly supportedParameters?: readonly string[];
  /** The model continues a last message of the assistant. Absent: the adapter's fact. */
  readonly assistantPrefill?: boolean;
  readonly reasoningHistory?: ReasoningHistoryConfig;
  readonly contextLength?: number;
  readonly maxCompletionTokens?: number;
  readonly minCompletionTokens?: number;
}

export interface PassThroughConfig {
  /** `local/`. */
  readonly prefix: string;
  readonly provider: string;
  readonly reasoningHistory?: ReasoningHistoryConfig;
}
