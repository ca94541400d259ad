import { formatContainers } from './schema/containers.ts';
import { formatVault } from './schema/vault.ts';
import { stringify } from 'yaml';
import type {
  Config,
  EndpointConfig,
  MetricsPushConfig,
  ModelConfig,
  OidcConfig,
  PassThroughConfig,
  ProviderConfig,
  RateLimit,
  RetryConfig,
  ServiceConfig,
  Timeouts,
} from './config.ts';
import { formatMediaFacts } from './media-facts.ts';

import { usdFromNano } from '../lib/money.ts';
import { formatPrice } from './endpoint-price.ts';
import { formatMcpServers } from './mcp-servers.ts';

export const REDACTED = '(redacted)';
const BYTES_PER_MB = 1_048_576;
const MS_PER_S = 1_000;
const MS_PER_MINUTE = 60_000;
const MS_PER_HOUR = 3_600_000;
const MS_PER_DAY = 86_400_000;

/**
 * The configuration in effect as YAML, in the words of the file, with each secret replaced by `(redacted)`. Header
 * values count as secrets: they carry credentials as often as not. What no file may hold stands in comments.
 */
export function renderConfig(config: Config): string {
  return formatComments(config) + stringify(formatBody(config), { lineWidth: 0 });
}

/** The configuration in effect, in the words of the file, with each secret replaced. */
export function formatBody(config: Config): object {
  return {
    server: formatServer(config),
    files: { directory: config.files.directory, workspace_quota_mb: config.files.workspaceBytesMax / BYTES_PER_MB },
    defaults: formatDefaults(config),
    timeouts: formatTimeouts(config.timeouts),
    redis_prefix: config.redisPrefix,
    catalog: { refresh: formatRefresh(config.catalog.refresh) },
    rescue: { enabled: config.rescue.enabled },
    retry: formatRetry(config.retry),
    journal: { durability: config.journal.durability, bytes_max_mb: config.journal.bytesMax / BYTES_PER_MB },
    deadlines: { adaptive: config.deadlines.adaptive },
    routers: formatRouters(config.routers),
    credits: { enforce: config.credits.enforce },
    oauth: { normal_keys: config.oauth.normalKeys },
    console: formatConsole(config.console),
    decisions: {
      timeout_ms: config.decisions.timeoutMs,
      judge_timeout_ms: config.decisions.judgeTimeoutMs,
      calibrations: Object.fromEntries(config.decisions.calibrations.map(({ name, ...rest }) => [name, rest])),
    },
    vault: formatVault(config.vault, REDACTED),
    interns: formatInterns(config.interns),
    scores: { abilities: formatAbilities(config.scores.abilities) },
    organization: formatOrganization(config.organization),
    mcp_server: {
      enabled: config.mcpServer.enabled,
      tools: config.mcpServer.tools,
      allowed_origins: config.mcpServer.allowedOrigins,
      oauth: config.mcpServer.oauth,
      client_documents: config.mcpServer.clientDocuments,
      registration: config.mcpServer.registration,
      private_addresses: config.mcpServer.privateAddresses,
      clients: config.mcpServer.clients.map(({ id, name, redirectUris }) => ({
        client_id: id,
        name,
        redirect_uris: redirectUris,
      })),
    },
    scim: formatScim(config.scim),
    notifications: formatNotifications(config.notifications),
    containers: formatContainers(config.containers),
    mcp_servers: formatMcpServers(config.mcpServers, REDACTED),
    search: formatSearch(config.search),
    web_fetch: formatWebFetch(config.webFetch),
    file_parser: {
      mistral_ocr: { ...formatService(config.fileParser.mistralOcr), model: config.fileParser.mistralOcr.model },
    },
    guardrails: { allowed_phrases: config.guardrails.allowedPhrases },
    moderation: {
      endpoint: { ...formatService(config.moderation.endpoint), model: config.moderation.endpoint.model },
      judge: config.moderation.judge,
      threshold: config.moderation.threshold,
      on_error: config.moderation.onError,
    },
    observability: formatObservability(config),
    responses: formatResponses(config.responses),
    videos: formatVideos(config.videos),
    images: { hold_usd: usdFromNano(config.images.holdNanoUsd) },
    rate_limits: formatRateLimits(config.rateLimits),
    providers: Object.fromEntries(config.providers.map((provider) => [provider.slug, formatProvider(provider)])),
    beta_flags: config.betaFlags,
    aliases: config.aliases,
    resolve_bare_names: config.resolveBareNames,
    models: Object.fromEntries([
      ...config.models.map((model) => [model.slug, formatModel(model)] as const),
      ...config.passThrough.map((entry) => [`${entry.prefix}*`, formatPassThrough(entry)] as const),
    ]),
  };
}

function formatRateLimits({ key, account, free, management }: Config['rateLimits']) {
  return {
    key: formatRateLimit(key),
    account: formatRateLimit(account),
    free: formatRateLimit(free),
    management: formatRateLimit(management),
  };
}

function formatInterns({ enabled, selfDrive, retentionMs }: Config['interns']) {
  return { enabled, self_drive: selfDrive, retention_days: retentionMs / MS_PER_DAY };
}

/** An ability that names no metric goes by those of the catalog. */
function formatAbilities(abilities: Config['scores']['abilities']) {
  return Object.fromEntries(
    Object.entries(abilities).map(([ability, metrics]) => [ability, metrics.length === 0 ? undefined : metrics]),
  );
}

function formatObservability({ observability }: Config) {
  return {
    service_name: observability.serviceName,
    environment: observability.environment,
    content_retention_days: observability.contentRetentionMs / MS_PER_DAY,
    private_destinations: observability.privateDestinations,
    follow_sampled_flag: observability.followsSampledFlag,
    catch_up_hours: observability.catchUpMs / MS_PER_HOUR,
    export_retention_hours: observability.exportRetentionMs / MS_PER_HOUR,
    export_bytes_max_mb: observability.exportBytesMax / BYTES_PER_MB,
    suspend_after_hours: observability.suspendAfterMs / MS_PER_HOUR,
    route_log: { sample: observability.routeLog.sample, days: observability.routeLog.retentionMs / MS_PER_DAY },
    metrics_otlp: observability.metricsPush && formatMetricsPush(observability.metricsPush),
  };
}

function formatMetricsPush({ endpoint, headers, intervalMs, temporality }: MetricsPushConfig): object {
  return {
    endpoint,
    headers: Object.fromEntries(Object.keys(headers).map((name) => [name, REDACTED])),
    interval_s: intervalMs / MS_PER_S,
    temporality,
  };
}

function formatConsole({ enabled, allowedHosts, plainHttp }: Config['console']): object {
  return { enabled, allowed_hosts: allowedHosts, plain_http: plainHttp };
}

function formatRefresh({ enabled, everyMs, url, overridePrices }: Config['catalog']['refresh']): object {
  return { enabled, every_hours: everyMs / MS_PER_HOUR, url, override_prices: overridePrices };
}

function formatOrganization({ enabled, name, usersMax, password, oidc }: Config['organization']): object {
  return { enabled, name, users_max: usersMax, password, oidc: oidc && formatOidc(oidc) };
}

function formatScim(scim: Config['scim']): object {
  return {
    enabled: scim.enabled,
    base_url: scim.baseUrl,
    default_role: scim.defaultRole,
    admin_group: scim.adminGroup,
    email_domains: scim.emailDomains,
    on_delete: scim.onDelete,
    group_patch_body: scim.groupPatchBody,
  };
}

function formatOidc(oidc: OidcConfig): object {
  return {
    issuer: oidc.issuer,
    client_id: oidc.clientId,
    client_secret: oidc.clientSecret === undefined ? undefined : REDACTED,
    name: oidc.name,
    scopes: oidc.scopes,
    groups_claim: oidc.groupsClaim,
    admin_groups: oidc.adminGroups,
    member_groups: oidc.memberGroups,
    email_domains: oidc.emailDomains,
    create_users: oidc.createsUsers,
    trust_email: oidc.trustsEmail,
  };
}

function formatNotifications({ creditsLowNanoUsd, privateAddresses, smtp }: Config['notifications']): object {
  return {
    credits_low_usd: usdFromNano(creditsLowNanoUsd),
    private_addresses: privateAddresses,
    smtp: smtp && { ...smtp, ...(smtp.password !== undefined && { password: REDACTED }) },
  };
}

function formatRouters({ classifiesTraffic, judge, auto, switchyard, fusion }: Config['routers']): object {
  return {
    classify_traffic: classifiesTraffic,
    judge: { models: judge.models, timeout_ms: judge.timeoutMs },
    auto: { judge: auto.judge, judge_threshold: auto.judgeThreshold, default_models: auto.defaultModels },
    switchyard: { efficient: switchyard.efficient, capable: switchyard.capable },
    fusion: {
      presets: Object.fromEntries(
        Object.entries(fusion.presets).map(([name, { panel, analyst }]) => [
          name,
          { analysis_models: panel, model: analyst },
        ]),
      ),
    },
  };
}

function formatDefaults({ defaults }: Config) {
  return {
    model: defaults.model,
    image_model: defaults.imageModel,
    embeddings_model: defaults.embeddingsModel,
    rerank_model: defaults.rerankModel,
    transcription_model: defaults.transcriptionModel,
    speech_model: defaults.speechModel,
    video_model: defaults.videoModel,
    provider: {
      order: defaults.provider.order,
      only: defaults.provider.only,
      ignore: defaults.provider.ignore,
      sort: defaults.provider.sort,
      data_collection: defaults.provider.dataCollection,
      zdr: defaults.provider.zdr,
    },
  };
}

function formatServer({ server, memory }: Pick<Config, 'server' | 'memory'>): object {
  return {
    host: server.host,
    port: server.port,
    workers: server.workers,
    memory_limit_mb: memory.limitBytes / BYTES_PER_MB,
    max_body_mb: server.maxBodyBytes / BYTES_PER_MB,
    file_memory_mb: server.fileMemoryBytes / BYTES_PER_MB,
    response_cache_mb: server.responseCacheBytes / BYTES_PER_MB,
    drain_seconds: server.drainMs / 1_000,
    region: server.region,
    public_url: server.publicUrl,
  };
}

function formatResponses(responses: Config['responses']): object {
  return {
    store: responses.store,
    memory_mb: responses.memoryBytes / BYTES_PER_MB,
    memory_minutes: responses.memoryMs / MS_PER_MINUTE,
    retention_days: responses.retentionMs / MS_PER_DAY,
    max_mb_per_key: responses.bytesMaxPerKey / BYTES_PER_MB,
    share: responses.share,
    background: responses.background,
    background_per_key: responses.backgroundPerKey,
    background_minutes: responses.backgroundMs / MS_PER_MINUTE,
    events_minutes: responses.eventsMs / MS_PER_MINUTE,
    echo: responses.echo,
    length_errors: responses.lengthErrors,
    stream_errors: responses.streamErrors,
    auto_cache: responses.autoCache,
    compaction: responses.compaction,
    codex_models: responses.codexModels,
    codex_instructions_file: responses.codexInstructionsFile,
  };
}

function formatSearch({ engine, engines }: Config['search']): object {
  return {
    engine,
    ...Object.fromEntries(Object.entries(engines).map(([name, entry]) => [name, formatService(entry)])),
  };
}

function formatVideos(videos: Config['videos']): object {
  return {
    job_hours: videos.jobMs / MS_PER_HOUR,
    assets: videos.assets,
    retention_days: videos.retentionMs / MS_PER_DAY,
    poll_at_once: videos.pollAtOnce,
    webhook_url: videos.webhookUrl,
    webhook_secret: videos.webhookSecret === undefined ? undefined : REDACTED,
  };
}

function formatComments(config: Config): string {
  const secrets = [
    ['GATEWAY_MANAGEMENT_KEY', config.managementKey],
    ['GATEWAY_API_KEY', config.apiKey],
    ['GATEWAY_SECRET', config.secret],
    ['GATEWAY_SECRET_PREVIOUS', config.previousSecret],
  ] as const;
  const lines = [
    `file: ${config.path ?? 'none'}`,
    `data directory: ${config.dataDir}`,
    `database_url: ${config.databaseUrl === undefined ? 'not set' : REDACTED}`,
    `redis_url: ${config.redisUrl === undefined ? 'not set' : REDACTED}`,
    `proxies: ${formatProxies(config.proxies)}`,
    `log level: ${config.logLevel}`,
    ...secrets.map(([name, value]) => `${name}: ${value === undefined ? 'not set' : REDACTED}`),
  ];
  return lines.map((line) => `# ${line}\n`).join('');
}

/** Without credentials. */
function formatProxies(proxies: Config['proxies']): string {
  if (proxies === undefined) return 'none';
  const { https, http, except } = proxies;
  const hosts = [https, http].flatMap((address) => (address === undefined ? [] : [new URL(address).host]));
  return [...new Set(hosts)].join(', ') + (except.length === 0 ? '' : `, not for ${except.join(', ')}`);
}

function formatTimeouts(timeouts: Partial<Timeouts>): Record<string, number | undefined> {
  return {
    connect_ms: timeouts.connectMs,
    headers_ms: timeouts.headersMs,
    first_token_ms: timeouts.firstTokenMs,
    idle_ms: timeouts.idleMs,
    whole_ms: timeouts.wholeMs,
    embeddings_ms: timeouts.embeddingsMs,
    rerank_ms: timeouts.rerankMs,
    image_ms: timeouts.imageMs,
    transcription_ms: timeouts.transcriptionMs,
    speech_first_byte_ms: timeouts.speechFirstByteMs,
    speech_idle_ms: timeouts.speechIdleMs,
    total_ms: timeouts.totalMs,
    video_submit_ms: timeouts.videoSubmitMs,
    video_poll_ms: timeouts.videoPollMs,
  };
}

function formatRetry({ sameEndpoint, waitMsMax }: Partial<RetryConfig>): object {
  return { same_endpoint: sameEndpoint, wait_max_ms: waitMsMax };
}

function formatService({ apiKey, baseUrl }: ServiceConfig): object {
  return { api_key: apiKey === undefined ? undefined : REDACTED, base_url: baseUrl };
}

function formatRateLimit(limit: RateLimit): object {
  return {
    requests_per_minute: limit.requestsPerMinute,
    requests_per_day: limit.requestsPerDay,
    tokens_per_minute: limit.tokensPerMinute,
    concurrent: limit.concurrent,
  };
}

function formatProvider(provider: ProviderConfig): object {
  return {
    adapter: provider.adapter,
    name: provider.name,
    base_url: provider.baseUrl,
    api_key: provider.apiKey === undefined ? undefined : REDACTED,
    options: formatOptions(provider),
    data_policy: { training: provider.dataPolicy.training, retention_days: provider.dataPolicy.retentionDays },
    headers: Object.fromEntries(Object.keys(provider.headers).map((name) => [name, REDACTED])),
    trace_context: provider.sendsTraceContext,
    reasoning_history: provider.reasoningHistory,
    timeouts: formatTimeouts(provider.timeouts),
    retry: formatRetry(provider.retry),
  };
}

function formatOptions({ options, secretOptions }: ProviderConfig): object | undefined {
  const names = Object.keys(options);
  if (names.length === 0) return undefined;
  return Object.fromEntries(names.map((name) => [name, secretOptions.includes(name) ? REDACTED : options[name]]));
}

function formatPassThrough({ provider, reasoningHistory }: PassThroughConfig): object {
  return { provider, reasoning_history: reasoningHistory };
}

function formatModel(model: ModelConfig): object {
  return {
    name: model.name,
    context_length: model.contextLength,
    max_completion_tokens: model.maxCompletionTokens,
    input_modalities: model.inputModalities,
    output_modalities: model.outputModalities,
    distillable: model.distillable,
    reasoning_history: model.reasoningHistory,
    scores: model.scores,
    fallbacks: model.fallbacks,
    endpoints: model.endpoints.map(formatEndpoint),
  };
}

function formatEndpoint(endpoint: EndpointConfig): object {
  return {
    provider: endpoint.provider,
    model: endpoint.model,
    tag: endpoint.tag,
    service_tier: endpoint.serviceTier,
    data_policy: endpoint.dataPolicy && {
      training: endpoint.dataPolicy.training,
      retention_days: endpoint.dataPolicy.retentionDays,
    },
    price: endpoint.price && formatPrice(endpoint.price),
    quantization: endpoint.quantization,
    supported_parameters: endpoint.supportedParameters,
    assistant_prefill: endpoint.assistantPrefill,
    reasoning_history: endpoint.reasoningHistory,
    context_length: endpoint.contextLength,
    max_completion_tokens: endpoint.maxCompletionTokens,
    min_completion_tokens: endpoint.minCompletionTokens,
    ...formatMediaFacts(endpoint),
  };
}

/** References to the vault are no secrets. */
function formatWebFetch({ privateAddresses, credentials }: Config['webFetch']): object {
  const hosts = new Map<string, Record<string, string>>();
  for (const { host, header, value } of credentials) hosts.set(host, { ...hosts.get(host), [header]: value });
  return { private_addresses: privateAddresses, credentials: Object.fromEntries(hosts) };
}
