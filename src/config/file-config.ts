import type {
  AttemptTimeouts,
  CatalogRefreshConfig,
  Config,
  EndpointConfig,
  MetricsPushConfig,
  ModelConfig,
  PassThroughConfig,
  ProviderConfig,
  ProviderDefaults,
  RateLimit,
  RetryConfig,
  ServiceConfig,
  Timeouts,
} from './config.ts';
import { nanoFromUsd } from '../lib/money.ts';
import { findMemoryLimit } from './memory-limit.ts';
import { readPrice } from './endpoint-price.ts';
import { countWorkers } from './count-workers.ts';
import { mcpServerOf } from './mcp-servers.ts';
import { budgetMemory, type MemoryBudget } from './memory-budget.ts';
import { mediaFactsOf } from './media-facts.ts';
import type { CheckedOptions } from './read-options.ts';
import { containersOf } from './schema/containers.ts';
import { consoleOf } from './schema/console.ts';
import { vaultOf, webCredentialsOf } from './schema/vault.ts';
import { present } from './present.ts';
import { decisionsOf } from './schema/decisions.ts';
import { routersOf } from './schema/routers.ts';
import { moderationSettingsOf } from './schema/moderation.ts';
import { internsOf } from './schema/interns.ts';
import { scoresOf } from './schema/scores.ts';
import { ownMcpOf } from './schema/mcp-server.ts';
import { peopleOf } from './schema/scim.ts';
import { notificationsOf } from './schema/notifications.ts';
import type { ModelEntry, PassThroughEntry, ProviderEntry } from './schema/models.ts';
import type { ConfigFile } from './schema.ts';

/** What the file alone says, in the words of `Config`. */
export type FileConfig = Omit<
  Config,
  'dataDir' | 'managementKey' | 'apiKey' | 'secret' | 'previousSecret' | 'logLevel' | 'logFormat' | 'path' | 'origins'
>;

export const DEFAULT_TIMEOUTS: Timeouts = {
  connectMs: 5_000,
  headersMs: 120_000,
  firstTokenMs: 120_000,
  idleMs: 120_000,
  wholeMs: 300_000,
  embeddingsMs: 60_000,
  rerankMs: 30_000,
  imageMs: 300_000,
  transcriptionMs: 60_000,
  speechFirstByteMs: 60_000,
  speechIdleMs: 30_000,
  totalMs: 900_000,
  videoSubmitMs: 60_000,
  videoPollMs: 30_000,
};

const RETRY_WAIT_MS = 3_000;

const REDIS_PREFIX = 'gateway';

const BYTES_PER_MB = 1_048_576;
const DEFAULT_JOURNAL_MB = 1_024;
const DEFAULT_RETENTION_DAYS = 30;
/** @spec file-7 */
const DEFAULT_FILE_QUOTA_MB = 10_240;
const MS_PER_S = 1_000;
const MS_PER_DAY = 86_400_000;

/**
 * The file's snake_case as `Config`, with the defaults of README.md where it is silent.
 * @param memoryLimitMb wins over the file; absent: nothing else says it
 */
export function fileConfig(
  file: ConfigFile,
  models: readonly ModelConfig[],
  passThrough: readonly PassThroughConfig[],
  options: ReadonlyMap<string, CheckedOptions>,
  memoryLimitMb: number | undefined,
): FileConfig {
  const { server, defaults, timeouts } = file;
  const memory = budgetMemory(memoryLimitOf(memoryLimitMb ?? server.memory_limit_mb));
  return {
    server: {
      host: server.host ?? '127.0.0.1',
      port: server.port ?? 8787,
      workers: countWorkers(server.workers ?? 1, memory.limitBytes),
      maxBodyBytes: Math.floor((server.max_body_mb ?? 32) * BYTES_PER_MB),
      fileMemoryBytes: bytesOf(server.file_memory_mb) ?? memory.fileBytes,
      responseCacheBytes: bytesOf(server.response_cache_mb) ?? memory.responseCacheBytes,
      drainMs: (server.drain_seconds ?? 30) * 1_000,
      region: server.region ?? 'local',
      ...present({ publicUrl: server.public_url?.replace(/\/+$/, '') }),
    },
    memory,
    files: filesOf(file.files),
    defaults: { ...modelDefaultsOf(defaults), provider: providerDefaultsOf(defaults.provider) },
    timeouts: { ...DEFAULT_TIMEOUTS, ...attemptTimeoutsOf(timeouts), ...furtherTimeoutsOf(timeouts) },
    ...present({ databaseUrl: file.database_url, redisUrl: file.redis_url }),
    redisPrefix: file.redis_prefix ?? REDIS_PREFIX,
    catalog: { refresh: refreshOf(file.catalog.refresh) },
    rescue: { enabled: file.rescue.enabled ?? false },
    retry: { sameEndpoint: 0, waitMsMax: RETRY_WAIT_MS, ...retryOf(file.retry) },
    journal: journalOf(file.journal),
    deadlines: { adaptive: file.deadlines.adaptive ?? true },
    routers: routersOf(file.routers),
    credits: { enforce: file.credits.enforce ?? false },
    oauth: { normalKeys: file.oauth.normal_keys ?? false },
    console: consoleOf(file.console),
    decisions: decisionsOf(file.decisions),
    vault: vaultOf(file.vault),
    containers: containersOf(file.containers),
    interns: internsOf(file.interns),
    scores: scoresOf(file.scores),
    mcpServer: ownMcpOf(file.mcp_server),
    ...peopleOf(file),
    notifications: notificationsOf(file.notifications),
    mcpServers: Object.entries(file.mcp_servers).map(([name, entry]) => mcpServerOf(name, entry)),
    search: searchOf(file.search),
    webFetch: webFetchOf(file.web_fetch),
    fileParser: {
      mistralOcr: {
        ...serviceOf(file.file_parser.mistral_ocr),
        ...present({ model: file.file_parser.mistral_ocr.model }),
      },
    },
    guardrails: {
      allowedPhrases: (file.guardrails.allowed_phrases ?? []).map((phrase) => phrase.toLowerCase()),
    },
    moderation: moderationOf(file.moderation),
    observability: observabilityOf(file.observability),
    responses: responsesOf(file.responses, memory),
    ...mediaOf(file),
    rateLimits: rateLimitsOf(file.rate_limits),
    providers: Object.entries(file.providers).map(([slug, entry]) => providerOf(slug, entry, options.get(slug))),
    betaFlags: file.beta_flags,
    aliases: file.aliases,
    resolveBareNames: file.resolve_bare_names ?? false,
    models,
    passThrough,
  };
}

function rateLimitsOf(limits: ConfigFile['rate_limits']): FileConfig['rateLimits'] {
  const [key, account, free] = [rateLimitOf(limits.key), rateLimitOf(limits.account), rateLimitOf(limits.free)];
  return { key, account, free, management: rateLimitOf(limits.management) };
}

function modelDefaultsOf(defaults: ConfigFile['defaults']): Omit<FileConfig['defaults'], 'provider'> {
  return present({
    model: defaults.model,
    imageModel: defaults.image_model,
    embeddingsModel: defaults.embeddings_model,
    rerankModel: defaults.rerank_model,
    transcriptionModel: defaults.transcription_model,
    speechModel: defaults.speech_model,
    videoModel: defaults.video_model,
  });
}

const DEFAULT_CATCH_UP_HOURS = 24;
const DEFAULT_SERVICE_NAME = 'model-gateway';
const DEFAULT_EXPORT_HOURS = 72;
const DEFAULT_EXPORT_MB = 1_024;
const DEFAULT_SUSPEND_HOURS = 24;
const DEFAULT_ROUTE_SAMPLE = 0.01;
const DEFAULT_ROUTE_DAYS = 7;

function observabilityOf(entry: ConfigFile['observability']): FileConfig['observability'] {
  return {
    serviceName: entry.service_name ?? DEFAULT_SERVICE_NAME,
    ...(entry.environment !== undefined && { environment: entry.environment }),
    contentRetentionMs: (entry.content_retention_days ?? DEFAULT_RETENTION_DAYS) * MS_PER_DAY,
    privateDestinations: entry.private_destinations ?? false,
    followsSampledFlag: entry.follow_sampled_flag ?? false,
    catchUpMs: (entry.catch_up_hours ?? DEFAULT_CATCH_UP_HOURS) * MS_PER_HOUR,
    exportRetentionMs: (entry.export_retention_hours ?? DEFAULT_EXPORT_HOURS) * MS_PER_HOUR,
    exportBytesMax: (entry.export_bytes_max_mb ?? DEFAULT_EXPORT_MB) * BYTES_PER_MB,
    suspendAfterMs: (entry.suspend_after_hours ?? DEFAULT_SUSPEND_HOURS) * MS_PER_HOUR,
    routeLog: {
      sample: entry.route_log.sample ?? DEFAULT_ROUTE_SAMPLE,
      retentionMs: (entry.route_log.days ?? DEFAULT_ROUTE_DAYS) * MS_PER_DAY,
    },
    metricsPush: metricsPushOf(entry.metrics_otlp),
  };
}

const DEFAULT_PUSH_S = 60;

function metricsPushOf({
  endpoint,
  headers,
  interval_s: intervalS = DEFAULT_PUSH_S,
  temporality = 'cumulative',
}: ConfigFile['observability']['metrics_otlp']): MetricsPushConfig | undefined {
  return endpoint === undefined ? undefined : { endpoint, headers, intervalMs: intervalS * MS_PER_S, temporality };
}

const DEFAULT_RESPONSES_KEY_MB = 512;
const DEFAULT_RESPONSES_DAYS = 30;
const DEFAULT_RESPONSES_MINUTES = 60;
const DEFAULT_BACKGROUND_PER_KEY = 4;
const MS_PER_MINUTE = 60_000;

function responsesOf(entry: ConfigFile['responses'], memory: MemoryBudget): FileConfig['responses'] {
  const minutes = (value: number | undefined): number => (value ?? DEFAULT_RESPONSES_MINUTES) * MS_PER_MINUTE;
  return {
    store: entry.store ?? 'memory',
    memoryBytes: bytesOf(entry.memory_mb) ?? memory.keptResponseBytes,
    memoryMs: minutes(entry.memory_minutes),
    retentionMs: (entry.retention_days ?? DEFAULT_RESPONSES_DAYS) * MS_PER_DAY,
    bytesMaxPerKey: Math.floor((entry.max_mb_per_key ?? DEFAULT_RESPONSES_KEY_MB) * BYTES_PER_MB),
    share: entry.share ?? 'key',
    background: entry.background ?? false,
    backgroundPerKey: entry.background_per_key ?? DEFAULT_BACKGROUND_PER_KEY,
    backgroundMs: minutes(entry.background_minutes),
    eventsMs: minutes(entry.events_minutes),
    echo: entry.echo ?? 'terminal',
    lengthErrors: entry.length_errors ?? 'failed',
    streamErrors: entry.stream_errors ?? 'status',
    autoCache: entry.auto_cache ?? true,
    compaction: entry.compaction ?? 'native',
    codexModels: entry.codex_models ?? 'off',
    ...present({ codexInstructionsFile: entry.codex_instructions_file }),
  };
}

function filesOf({ directory, workspace_quota_mb: mb }: ConfigFile['files']): FileConfig['files'] {
  return {
    ...present({ directory }),
    workspaceBytesMax: Math.floor((mb ?? DEFAULT_FILE_QUOTA_MB) * BYTES_PER_MB),
  };
}

const DEFAULT_PICTURE_USD = 0.25;
const DEFAULT_JOB_HOURS = 24;
const DEFAULT_CLIP_DAYS = 7;
const DEFAULT_POLL_AT_ONCE = 16;

function mediaOf({ videos, images }: ConfigFile): Pick<FileConfig, 'videos' | 'images'> {
  return {
    videos: videosOf(videos),
    images: { holdNanoUsd: nanoFromUsd(images.hold_usd ?? DEFAULT_PICTURE_USD) },
  };
}

function videosOf(entry: ConfigFile['videos']): FileConfig['videos'] {
  return {
    jobMs: (entry.job_hours ?? DEFAULT_JOB_HOURS) * MS_PER_HOUR,
    assets: entry.assets ?? 'store',
    retentionMs: (entry.retention_days ?? DEFAULT_CLIP_DAYS) * MS_PER_DAY,
    pollAtOnce: entry.poll_at_once ?? DEFAULT_POLL_AT_ONCE,
    ...present({ webhookUrl: entry.webhook_url, webhookSecret: entry.webhook_secret }),
  };
}

function furtherTimeoutsOf(timeouts: ConfigFile['timeouts']): Partial<Timeouts> {
  return present({
    totalMs: timeouts.total_ms,
    videoSubmitMs: timeouts.video_submit_ms,
    videoPollMs: timeouts.video_poll_ms,
  });
}

function moderationOf(entry: ConfigFile['moderation']): FileConfig['moderation'] {
  const endpoint = { ...serviceOf(entry.endpoint), ...present({ model: entry.endpoint.model }) };
  return { endpoint, ...moderationSettingsOf(entry) };
}

function journalOf({ durability, bytes_max_mb: mb = DEFAULT_JOURNAL_MB }: ConfigFile['journal']): Config['journal'] {
  return { ...present({ durability }), bytesMax: mb * BYTES_PER_MB };
}

function bytesOf(mb: number | undefined): number | undefined {
  return mb === undefined ? undefined : Math.floor(mb * BYTES_PER_MB);
}

/** Whole MB, as `config check` shows it. */
function memoryLimitOf(mb: number | undefined): number {
  return (mb ?? Math.floor(findMemoryLimit() / BYTES_PER_MB)) * BYTES_PER_MB;
}

const REFRESH_HOURS = 24;
const MS_PER_HOUR = 3_600_000;

function refreshOf(entry: ConfigFile['catalog']['refresh']): CatalogRefreshConfig {
  return {
    enabled: entry.enabled ?? false,
    everyMs: (entry.every_hours ?? REFRESH_HOURS) * MS_PER_HOUR,
    overridePrices: entry.override_prices ?? false,
    ...present({ url: entry.url }),
  };
}

function webFetchOf({ private_addresses: privateAddresses = false, credentials }: ConfigFile['web_fetch']) {
  return { privateAddresses, credentials: webCredentialsOf(credentials) };
}

function searchOf({ engine, ...engines }: ConfigFile['search']): Config['search'] {
  const { exa, firecrawl, parallel, perplexity, tavily, brave, searxng } = engines;
  return {
    ...present({ engine }),
    engines: {
      exa: serviceOf(exa),
      firecrawl: serviceOf(firecrawl),
      parallel: serviceOf(parallel),
      perplexity: serviceOf(perplexity),
      tavily: serviceOf(tavily),
      brave: serviceOf(brave),
      searxng: serviceOf(searxng),
    },
  };
}

/** Paths are put behind addresses, with a slash of their own. */
function serviceOf({ api_key, base_url }: ConfigFile['search']['exa']): ServiceConfig {
  return present({ apiKey: api_key, baseUrl: base_url?.replace(/\/+$/, '') });
}

function rateLimitOf(entry: Partial<ConfigFile['rate_limits']['key']>): RateLimit {
  return present({
    requestsPerMinute: entry.requests_per_minute,
    requestsPerDay: entry.requests_per_day,
    tokensPerMinute: entry.tokens_per_minute,
    concurrent: entry.concurrent,
  });
}

function providerDefaultsOf(entry: ConfigFile['defaults']['provider']): ProviderDefaults {
  return present({
    order: entry.order,
    only: entry.only,
    ignore: entry.ignore,
    sort: entry.sort,
    dataCollection: entry.data_collection,
    zdr: entry.zdr,
  });
}

function attemptTimeoutsOf(entry: ProviderEntry['timeouts']): Partial<AttemptTimeouts> {
  return present({
    connectMs: entry.connect_ms,
    headersMs: entry.headers_ms,
    firstTokenMs: entry.first_token_ms,
    idleMs: entry.idle_ms,
    wholeMs: entry.whole_ms,
    embeddingsMs: entry.embeddings_ms,
    rerankMs: entry.rerank_ms,
    imageMs: entry.image_ms,
    transcriptionMs: entry.transcription_ms,
    speechFirstByteMs: entry.speech_first_byte_ms,
    speechIdleMs: entry.speech_idle_ms,
  });
}

function retryOf(entry: ConfigFile['retry']): Partial<RetryConfig> {
  return present({ sameEndpoint: entry.same_endpoint, waitMsMax: entry.wait_max_ms });
}

export function providerOf(slug: string, entry: ProviderEntry, options: CheckedOptions | undefined): ProviderConfig {
  return {
    slug,
    // A known provider's slug is the id of its adapter.
    adapter: entry.adapter ?? slug,
    ...present({
      name: entry.name,
      baseUrl: entry.base_url,
      apiKey: entry.api_key,
      reasoningHistory: entry.reasoning_history,
    }),
    options: options?.values ?? {},
    secretOptions: options?.secrets ?? [],
    dataPolicy: present({ training: entry.data_policy.training, retentionDays: entry.data_policy.retention_days }),
    headers: entry.headers,
    sendsTraceContext: entry.trace_context === true,
    timeouts: attemptTimeoutsOf(entry.timeouts),
    retry: retryOf(entry.retry),
  };
}

export function modelOf(slug: string, entry: ModelEntry): ModelConfig {
  return {
    slug,
    name: entry.name ?? slug,
    ...present({
      contextLength: entry.context_length,
      maxCompletionTokens: entry.max_completion_tokens,
      inputModalities: entry.input_modalities,
      outputModalities: entry.output_modalities,
      distillable: entry.distillable,
      reasoningHistory: entry.reasoning_history,
      fallbacks: entry.fallbacks,
    }),
    scores: entry.scores,
    endpoints: entry.endpoints.map(endpointOf),
  };
}

function endpointOf(entry: ModelEntry['endpoints'][number]): EndpointConfig {
  return {
    provider: entry.provider,
    model: entry.model,
    ...present({
      tag: entry.tag,
      serviceTier: entry.service_tier,
      dataPolicy:
        entry.data_policy &&
        present({ training: entry.data_policy.training, retentionDays: entry.data_policy.retention_days }),
      price: entry.price && readPrice(entry.price),
      quantization: entry.quantization,
      supportedParameters: entry.supported_parameters,
      assistantPrefill: entry.assistant_prefill,
      reasoningHistory: entry.reasoning_history,
      contextLength: entry.context_length,
      maxCompletionTokens: entry.max_completion_tokens,
      minCompletionTokens: entry.min_completion_tokens,
    }),
    ...mediaFactsOf(entry),
  };
}

export function passThroughOf(key: string, entry: PassThroughEntry): PassThroughConfig {
  return {
    prefix: key.slice(0, -1),
    provider: entry.provider,
    ...present({ reasoningHistory: entry.reasoning_history }),
  };
}
