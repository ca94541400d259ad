import type { EndpointPrice } from './endpoint-price.ts';
import type { SEARCH_ENGINES } from './schema.ts';

/** The operator's configuration, read and checked once. Names follow README.md, "Configure", in camelCase; times are ms. */
export interface Config {
  /** The file that was read; absent: none. */
  readonly path?: string;
  readonly server: {
    readonly host: string;
    /** 0 picks a free one. */
    readonly port: number;
    readonly maxBodyBytes: number;
    /** For the files of all requests together that are fetched from addresses. */
    readonly fileMemoryBytes: number;
    /** For answers that callers ask to have cached. With Redis, those of all processes together. 0 keeps none. */
    readonly responseCacheBytes: number;
    readonly drainMs: number;
    readonly region: string;
  };
  readonly dataDir: string;
  readonly files: {
    /** Absent: below the data directory. */
    readonly directory?: string;
    /** Of all files of a workspace. */
    readonly workspaceBytesMax: number;
  };
  readonly defaults: { readonly model?: string; readonly provider: ProviderDefaults };
  readonly timeouts: Timeouts;
  readonly databaseUrl?: string;
  readonly redisUrl?: string;
  /** Gateways that share a Redis share their state when they have the same. */
  readonly redisPrefix: string;
  readonly catalog: { readonly refresh: CatalogRefreshConfig };
  /** Whether another endpoint goes on with a stream that breaks off, where the caller does not say. */
  readonly rescue: { readonly enabled: boolean };
  readonly routers: RoutersConfig;
  readonly credits: { readonly enforce: boolean };
  /** Whose tools models may use, those that are switched off among them. */
  readonly mcpServers: readonly McpServerConfig[];
  /** Engines that the gateway searches the web with; those that the environment sets up are not among them. */
  readonly search: {
    /** Absent: the first that is set up. */
    readonly engine?: SearchEngineName;
    readonly engines: Readonly<Record<SearchEngineName, ServiceConfig>>;
  };
  /** Whether pages may be fetched from the operator's own network. */
  readonly webFetch: { readonly privateAddresses: boolean };
  readonly fileParser: { readonly mistralOcr: ServiceConfig & { readonly model?: string } };
  /** Phrases, in lower case, that the prompt injection detector lets pass. */
  readonly guardrails: { readonly allowedPhrases: readonly string[] };
  readonly moderation: {
    /** Speaks OpenAI's `POST /moderations`. */
    readonly endpoint: ServiceConfig & { readonly model?: string };
    /** Slug of a model that judges where there is no endpoint. */
    readonly judge?: string;
  };
  readonly observability: {
    /** How long is kept what was said in generations, where a workspace logs that. */
    readonly contentRetentionMs: number;
    /** Whether records may be sent to addresses that are not on the public Internet, and without TLS. */
    readonly privateDestinations: boolean;
  };
  /** How fast each key, the account as a whole, and all callers of `:free` models together may ask; and each management key. */
  readonly rateLimits: {
    readonly key: RateLimit;
    readonly account: RateLimit;
    readonly free: RateLimit;
    readonly management: Pick<RateLimit, 'requestsPerMinute' | 'requestsPerDay'>;
  };
  readonly providers: readonly ProviderConfig[];
  /** Changes in the table of beta flags, by the provider's slug. Read again while the gateway runs. */
  readonly betaFlags: Readonly<Record<string, BetaFlagsConfig>>;
  readonly models: readonly ModelConfig[];
  /** `local/*`: everything after the prefix is the upstream's own name at that provider. */
  readonly passThrough: readonly PassThroughConfig[];
  /** Keys from the environment; when set no key is made or printed. */
  readonly managementKey?: string;
  readonly apiKey?: string;
  /** Encrypts stored provider credentials. */
  readonly secret?: string;
  /** Opens what was encrypted before `secret` was changed. */
  readonly previousSecret?: string;
  readonly logLevel: string;
}

export type SearchEngineName = (typeof SEARCH_ENGINES)[number];

/** Absent members: what is usual. */
export interface ServiceConfig {
  readonly apiKey?: string;
  readonly baseUrl?: string;
}

/** Whom routers ask and choose where the request does not say. Slugs and aliases (`~author/family-latest`). */
export interface RoutersConfig {
  /** What requests are about is told of those that no auto router saw, too: some of them, on this machine. */
  readonly classifiesTraffic: boolean;
  /** Whom a router asks for a verdict: the first that can be asked. */
  readonly judge: { readonly models: readonly string[]; readonly timeoutMs: number };
  readonly auto: {
    /** The judge is asked what a request is about, where words leave doubt. */
    readonly judge: boolean;
    /** Where nothing is ranked. */
    readonly defaultModels: readonly string[];
  };
  readonly switchyard: { readonly efficient?: string; readonly capable?: string };
  readonly fusion: {
    /** What is absent is as usual. */
    readonly presets: Readonly<Partial<Record<FusionPresetName, FusionPresetConfig>>>;
  };
}

type FusionPresetName = 'general-high' | 'general-budget' | 'general-fast';

/** Places of a panel, each with the slugs that may take it, first choice first. */
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
        /** Beside these the process gets PATH and HOME of the gateway, and nothing else. */
        readonly env: Readonly<Record<string, string>>;
        readonly cwd?: string;
      }
  );

export interface McpServerRules {
  readonly name: string;
  readonly enabled: boolean;
  readonly callMsMax: number;
  /** Names of tools that are offered, with `*` for any characters. Absent: all. */
  readonly tools?: readonly string[];
  /** Ids of the workspaces, and hashes of the keys, that may use it. With neither: everybody. */
  readonly workspaces?: readonly string[];
  readonly keys?: readonly string[];
}

/** A public list of models that is read again and again. */
export interface CatalogRefreshConfig {
  readonly enabled: boolean;
  readonly everyMs: number;
  /** Absent: the usual one. */
  readonly url?: string;
  /** Its prices win over those that the project wrote down. */
  readonly overridePrices: boolean;
}

/** What is absent has no bound. */
export interface RateLimit {
  readonly requestsPerMinute?: number;
  readonly requestsPerDay?: number;
  readonly tokensPerMinute?: number;
  /** Requests under way at a time. */
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
  readonly totalMs: number;
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
  /** What only its adapter knows, in the file's words. */
  readonly options: Readonly<Record<string, unknown>>;
  /** Those of them that are never shown. */
  readonly secretOptions: readonly string[];
  readonly dataPolicy: { readonly training?: boolean; readonly retentionDays?: number };
  readonly headers: Readonly<Record<string, string>>;
  readonly timeouts: Partial<Omit<Timeouts, 'totalMs'>>;
}

export interface ModelConfig {
  readonly slug: string;
  readonly name: string;
  readonly contextLength?: number;
  readonly maxCompletionTokens?: number;
  readonly inputModalities?: readonly string[];
  readonly outputModalities?: readonly string[];
  /** Its author lets others train on what it wrote. Absent: as the project knows. */
  readonly distillable?: boolean;
  readonly scores: Readonly<Record<string, number>>;
  readonly endpoints: readonly EndpointConfig[];
}

export interface EndpointConfig {
  readonly provider: string;
  /** The upstream's own name. */
  readonly model: string;
  /** What preferences call it, beside its provider's slug. */
  readonly tag?: string;
  /** Capacity with a price of its own; such a tier is asked for with every request that goes there. */
  readonly serviceTier?: 'priority' | 'flex';
  /** Member by member over the provider's. */
  readonly dataPolicy?: { readonly training?: boolean; readonly retentionDays?: number };
  /** Absent: unknown. */
  readonly price?: EndpointPrice;
  readonly quantization?: string;
  readonly supportedParameters?: readonly string[];
  /** The model goes on from a last message of the assistant. Absent: as its provider's adapter knows. */
  readonly assistantPrefill?: boolean;
  readonly contextLength?: number;
  readonly maxCompletionTokens?: number;
  readonly minCompletionTokens?: number;
}

export interface PassThroughConfig {
  /** `local/`. */
  readonly prefix: string;
  readonly provider: string;
}
