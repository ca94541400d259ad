import type { EndpointPrice } from './endpoint-price.ts';

/** The operator's configuration, read and checked once. Names follow README.md, "Configure", in camelCase; times are ms. */
export interface Config {
  /** The file that was read; absent: none. */
  readonly path?: string;
  readonly server: {
    readonly host: string;
    /** 0 picks a free one. */
    readonly port: number;
    readonly maxBodyBytes: number;
    readonly drainMs: number;
    readonly region: string;
  };
  readonly dataDir: string;
  readonly defaults: { readonly model?: string; readonly provider: ProviderDefaults };
  readonly timeouts: Timeouts;
  readonly databaseUrl?: string;
  readonly redisUrl?: string;
  readonly credits: { readonly enforce: boolean };
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
  readonly logLevel: string;
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
  readonly scores: Readonly<Record<string, number>>;
  readonly endpoints: readonly EndpointConfig[];
}

export interface EndpointConfig {
  readonly provider: string;
  /** The upstream's own name. */
  readonly model: string;
  /** Absent: unknown. */
  readonly price?: EndpointPrice;
  readonly quantization?: string;
  readonly supportedParameters?: readonly string[];
  readonly contextLength?: number;
  readonly maxCompletionTokens?: number;
  readonly minCompletionTokens?: number;
}

export interface PassThroughConfig {
  /** `local/`. */
  readonly prefix: string;
  readonly provider: string;
}
