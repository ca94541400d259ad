import assert from 'node:assert/strict';
import { resolve } from 'node:path';
import { suite, test } from 'node:test';
import fc from 'fast-check';
import { ConfigError } from './config-error.ts';
import type { Config, ServiceConfig } from './config.ts';
import { findMemoryLimit } from './memory-limit.ts';
import { loadConfig } from './load-config.ts';
import { budgetMemory } from './memory-budget.ts';
import type { LoadConfigOptions } from './load-config.ts';
import { renderConfig } from './render.ts';

const ENV = { ALPHA_API_KEY: 'sk-secret', PORT: '9000', YES: 'true', WORD: 'word' };

function load(text: string | undefined, options: Partial<LoadConfigOptions> = {}): Config {
  return loadConfig({
    argv: ['--config', 'gateway.yaml'],
    env: ENV,
    readFile: (path) => {
      if (text === undefined) throw Object.assign(new Error(`no ${path}`), { code: 'ENOENT' });
      return text;
    },
    adapterIds: ['openai', 'openai-compatible', 'anthropic', 'groq'],
    providerIds: ['openai', 'groq', 'sandbox'],
    ...options,
  });
}

function messageOf(run: () => unknown): string {
  try {
    run();
  } catch (error) {
    assert.ok(error instanceof ConfigError, String(error));
    return error.message;
  }
  return assert.fail('nothing was refused');
}

const EXAMPLE = `
server:     { host: 127.0.0.1, port: 8787, workers: 3, memory_limit_mb: 2048, max_body_mb: 16, file_memory_mb: 128, response_cache_mb: 32, drain_seconds: 5, region: eu, public_url: "https://gateway.test/" }
images:     { hold_usd: 0.5 }
defaults:   { model: acme/one, image_model: acme/two, embeddings_model: acme/vectors, rerank_model: acme/order, transcription_model: acme/ear, speech_model: acme/voice, video_model: acme/clip, provider: { order: [alpha], data_collection: deny, zdr: true } }
timeouts:   { connect_ms: 1, headers_ms: 2, first_token_ms: 3, idle_ms: 4, whole_ms: 5, embeddings_ms: 9, rerank_ms: 10, image_ms: 11, transcription_ms: 12, speech_first_byte_ms: 13, speech_idle_ms: 14, total_ms: 6, video_submit_ms: 7, video_poll_ms: 8 }
rescue:     { enabled: true }
retry:      { same_endpoint: 1, wait_max_ms: 5000 }
journal:    { durability: power, bytes_max_mb: 256 }
deadlines:  { adaptive: false }
routers:
  classify_traffic: false
  judge: { models: [acme/one], timeout_ms: 700 }
  auto: { judge: true, default_models: [acme/one, acme/two] }
  switchyard: { efficient: acme/one, capable: acme/two }
  fusion: { presets: { general-fast: { analysis_models: [acme/one, [acme/two, acme/one]], model: acme/two } } }
credits:    { enforce: true }
oauth:      { normal_keys: true }
scim:       { enabled: true, base_url: "https://gateway.example/scim/v2", default_role: "org:admin", admin_group: platform, email_domains: [Acme.Example], on_delete: erase, group_patch_body: true }
organization: { enabled: true, name: Acme, users_max: 50, password: false, oidc: { issuer: "https://login.acme.example", client_id: gateway, client_secret: "\${ALPHA_API_KEY}", name: Acme ID, scopes: [openid], groups_claim: roles, admin_groups: [platform], member_groups: [eng], email_domains: [Acme.Example], create_users: true, trust_email: true } }
mcp_server: { enabled: true, tools: [credits, send-message], allowed_origins: ["https://App.test"], oauth: false, client_documents: false, registration: true, private_addresses: true, clients: [{ client_id: ed, name: Ed, redirect_uris: ["http://[::1]/"] }] }
notifications: { credits_low_usd: 50, private_addresses: true, smtp: { host: smtp.test, secure: true, plain: true, user: me, password: hunter2-mail, from: a@b.test } }
console:    { enabled: false, allowed_hosts: [Gateway.Example, "[::2]"], plain_http: true }
mcp_servers: { wiki: { url: "http://127.0.0.1:9105/mcp" } }
search:     { engine: tavily, exa: { api_key: "\${ALPHA_API_KEY}", base_url: "http://127.0.0.1:9102/" }, tavily: }
web_fetch:  { private_addresses: true, credentials: { wiki.example: { x-token: "\${vault:wiki}" } } }
files:      { directory: /mnt/files, workspace_quota_mb: 512 }
file_parser: { mistral_ocr: { api_key: "\${ALPHA_API_KEY}", base_url: "http://127.0.0.1:9103/v1", model: ocr-1 } }
guardrails: { allowed_phrases: [Ignore The Above] }
moderation: { endpoint: { api_key: "\${ALPHA_API_KEY}", base_url: "http://127.0.0.1:9104/v1", model: mod-1 }, judge: acme/one, threshold: 0.7, on_error: block }
redis_prefix: prod
observability: { service_name: shop, environment: staging, content_retention_days: 7, private_destinations: true, follow_sampled_flag: true, catch_up_hours: 1, export_retention_hours: 2, export_bytes_max_mb: 3, suspend_after_hours: 4, route_log: { sample: 0.5, days: 2 }, metrics_otlp: { endpoint: "http://127.0.0.1:4318", headers: { x-team: blue }, interval_s: 5, temporality: delta } }
videos:     { job_hours: 2, assets: proxy, retention_days: 3, poll_at_once: 4, webhook_url: "https://example.test/videos", webhook_secret: "0123456789abcdef01234567" }
responses:  { store: database, memory_mb: 8, memory_minutes: 2, retention_days: 3, max_mb_per_key: 4, share: workspace, background: true, background_per_key: 5, background_minutes: 6, events_minutes: 7, echo: none, length_errors: incomplete, stream_errors: in-band, auto_cache: false, compaction: own, codex_models: list, codex_instructions_file: /etc/codex.md }
catalog:    { refresh: { enabled: true, every_hours: 12, url: "https://models.test/api.json", override_prices: true } }
rate_limits: { key: { requests_per_minute: 60, concurrent: 8 }, free: { requests_per_day: 50 }, management: { requests_per_minute: 99 } }
providers:
  alpha:
    adapter: openai-compatible
    name: Alpha
    base_url: http://127.0.0.1:9101/v1
    api_key: \${ALPHA_API_KEY}
    data_policy: { training: false, retention_days: 0 }
    headers: { x-team: blue }
    trace_context: true
    timeouts: { idle_ms: 7 }
    retry: { same_endpoint: 2 }
  groq:
aliases: { claude-haiku-4-5: acme/one }
resolve_bare_names: true
beta_flags:
  alpha: { allow: ["*"], deny: [files-api-2025-04-14], rename: { advanced-tool-use-2025-11-20: tool-search-tool-2025-10-19 } }
  groq:
models:
  acme/one:
    name: Acme One
    context_length: 128000
    max_completion_tokens: 16000
    input_modalities: [text, image]
    output_modalities: [text]
    distillable: true
    scores: { coding: 0.71 }
    fallbacks: [acme/two, openai/gpt-5.1]
    endpoints:
      - provider: alpha
        model: one-2026
        price: { prompt: 1.0, completion: 2.0, cache_read: 0.1, cache_write: 1.25, cache_write_1h: 2, reasoning: 3, request: 0 }
        quantization: fp8
        tag: alpha/turbo
        service_tier: flex
        data_policy: { retention_days: 30 }
        supported_parameters: [tools, reasoning, prompt_cache_key]
        embeddings: { dimensions: { default: 8, values: [4, 8] }, max_inputs: 2, max_input_tokens: 9, max_request_tokens: 20, encodings: [float], token_arrays: true }
        rerank: { max_documents: 3, pointwise: true, images: false }
        image: { n_max: 2, output_formats: [png], references_max: 0, tokens_per_image: 100 }
        stt: { formats: [json], min_seconds: 10 }
        tts: { voices: [alto], default_voice: alto, speed: { min: 0.5, max: 2 } }
        video: { durations: [4, 8], frames: [first_frame], default_duration_s: 4 }
        assistant_prefill: true
  "local/*": { provider: groq }
decisions:  { timeout_ms: 5000, judge_timeout_ms: 900, calibrations: { triage: { model: acme/one, method: schema, temperatures: { choice: 1.4 } } } }
containers: { runtime: auto, rootfs: /srv/rootfs, allow_rootful: true, cgroup: /sys/fs/cgroup/a, limits: { memory_mb: 64, cpus: 0.5, processes: 32, disk_mb: 10, command_seconds: 5, call_seconds: 6 }, expires_after_minutes: 7 }
vault:
  { writes: false, writers: any, allow_private_hosts: true, max_age_days: 90, backend: hashicorp, hashicorp: { address: "https://vault.test", mount: kv, prefix: team, namespace: a, writes: true, kubernetes_role: gateway, kubernetes_mount: k8s, kubernetes_token_file: /run/jwt } }
interns:    { enabled: true, self_drive: true, retention_days: 7 }
scores:     { abilities: { coding: [local/q@1a2b3c4d] } }
`;

test('takes every key of the file into the configuration', () => {
  const { dataDir, origins, ...config } = load(EXAMPLE);
  assert.equal(origins['server.max_body_mb'], 'gateway.yaml:2');
  assert.equal(origins['search.exa.api_key'], 'gateway.yaml:24 ← ALPHA_API_KEY');
  assert.equal(dataDir, resolve('./data'));
  assert.deepEqual(config, {
    path: 'gateway.yaml',
    memory: budgetMemory(2_048 * 1_048_576),
    server: {
      host: '127.0.0.1',
      port: 8787,
      workers: 3,
      maxBodyBytes: 16 * 1_048_576,
      fileMemoryBytes: 128 * 1_048_576,
      responseCacheBytes: 32 * 1_048_576,
      drainMs: 5_000,
      region: 'eu',
      publicUrl: 'https://gateway.test',
    },
    defaults: {
      model: 'acme/one',
      imageModel: 'acme/two',
      embeddingsModel: 'acme/vectors',
      rerankModel: 'acme/order',
      transcriptionModel: 'acme/ear',
      speechModel: 'acme/voice',
      videoModel: 'acme/clip',
      provider: { order: ['alpha'], dataCollection: 'deny', zdr: true },
    },
    timeouts: {
      connectMs: 1,
      headersMs: 2,
      firstTokenMs: 3,
      idleMs: 4,
      wholeMs: 5,
      embeddingsMs: 9,
      rerankMs: 10,
      imageMs: 11,
      transcriptionMs: 12,
      speechFirstByteMs: 13,
      speechIdleMs: 14,
      totalMs: 6,
      videoSubmitMs: 7,
      videoPollMs: 8,
    },
    catalog: {
      refresh: { enabled: true, everyMs: 12 * 3_600_000, url: 'https://models.test/api.json', overridePrices: true },
    },
    rescue: { enabled: true },
    retry: { sameEndpoint: 1, waitMsMax: 5_000 },
    journal: { durability: 'power', bytesMax: 256 * 1_048_576 },
    deadlines: { adaptive: false },
    routers: {
      classifiesTraffic: false,
      judge: { models: ['acme/one'], timeoutMs: 700 },
      auto: { judge: true, judgeThreshold: 0.5, defaultModels: ['acme/one', 'acme/two'] },
      switchyard: { efficient: 'acme/one', capable: 'acme/two' },
      fusion: {
        presets: { 'general-fast': { panel: [['acme/one'], ['acme/two', 'acme/one']], analyst: ['acme/two'] } },
      },
    },
    credits: { enforce: true },
    oauth: { normalKeys: true },
    mcpServer: {
      enabled: true,
      tools: ['credits', 'send-message'],
      allowedOrigins: ['https://app.test'],
      oauth: false,
      clientDocuments: false,
      registration: true,
      privateAddresses: true,
      clients: [{ id: 'ed', name: 'Ed', redirectUris: ['http://[::1]/'] }],
    },
    notifications: {
      creditsLowNanoUsd: 50_000_000_000,
      privateAddresses: true,
      smtp: {
        host: 'smtp.test',
        port: 465,
        secure: true,
        plain: true,
        user: 'me',
        password: 'hunter2-mail',
        from: 'a@b.test',
      },
    },
    console: { enabled: false, allowedHosts: ['gateway.example', '[::2]'], plainHttp: true },
    decisions: {
      timeoutMs: 5_000,
      judgeTimeoutMs: 900,
      calibrations: [{ name: 'triage', model: 'acme/one', method: 'schema', temperatures: { choice: 1.4 } }],
    },
    containers: {
      runtime: 'auto',
      allowsRootful: true,
      rootfs: '/srv/rootfs',
      cgroup: '/sys/fs/cgroup/a',
      limits: { memoryBytes: 67_108_864, cpus: 0.5, processes: 32, diskBytes: 10_485_760, commandMs: 5_000 },
      callMs: 6_000,
      expiresMs: 420_000,
    },
    vault: {
      writes: false,
      writers: 'any',
      allowPrivateHosts: true,
      maxAgeMs: 7_776_000_000,
      backEnd: {
        kind: 'hashicorp',
        address: 'https://vault.test',
        mount: 'kv',
        prefix: 'team',
        namespace: 'a',
        writes: true,
        token: { kind: 'kubernetes', role: 'gateway', mount: 'k8s', jwtPath: '/run/jwt' },
      },
    },
    scim: {
      enabled: true,
      baseUrl: 'https://gateway.example/scim/v2',
      defaultRole: 'org:admin',
      adminGroup: 'platform',
      emailDomains: ['acme.example'],
      onDelete: 'erase',
      groupPatchBody: true,
    },
    interns: { enabled: true, selfDrive: true, retentionMs: 604_800_000 },
    scores: { abilities: { intelligence: [], coding: ['local/q@1a2b3c4d'], agentic: [] } },
    organization: {
      enabled: true,
      usersMax: 50,
      password: false,
      name: 'Acme',
      oidc: {
        issuer: 'https://login.acme.example',
        clientId: 'gateway',
        clientSecret: 'sk-secret',
        name: 'Acme ID',
        scopes: ['openid'],
        groupsClaim: 'roles',
        adminGroups: ['platform'],
        memberGroups: ['eng'],
        emailDomains: ['acme.example'],
        createsUsers: true,
        trustsEmail: true,
      },
    },
    mcpServers: [
      {
        name: 'wiki',
        enabled: true,
        callMsMax: 60_000,
        transport: 'http',
        url: 'http://127.0.0.1:9105/mcp',
        headers: {},
      },
    ],
    search: {
      engine: 'tavily',
      engines: {
        exa: { apiKey: 'sk-secret', baseUrl: 'http://127.0.0.1:9102' },
        firecrawl: {},
        parallel: {},
        perplexity: {},
        tavily: {},
        brave: {},
        searxng: {},
      },
    },
    webFetch: {
      privateAddresses: true,
      credentials: [{ host: 'wiki.example', header: 'x-token', value: '${vault:wiki}' }],
    },
    files: { directory: '/mnt/files', workspaceBytesMax: 512 * 1_048_576 },
    fileParser: { mistralOcr: { apiKey: 'sk-secret', baseUrl: 'http://127.0.0.1:9103/v1', model: 'ocr-1' } },
    guardrails: { allowedPhrases: ['ignore the above'] },
    moderation: {
      endpoint: { apiKey: 'sk-secret', baseUrl: 'http://127.0.0.1:9104/v1', model: 'mod-1' },
      judge: 'acme/one',
      threshold: 0.7,
      onError: 'block',
    },
    redisPrefix: 'prod',
    observability: {
      serviceName: 'shop',
      environment: 'staging',
      contentRetentionMs: 7 * 86_400_000,
      privateDestinations: true,
      followsSampledFlag: true,
      catchUpMs: 3_600_000,
      exportRetentionMs: 7_200_000,
      exportBytesMax: 3 * 1_048_576,
      suspendAfterMs: 14_400_000,
      routeLog: { sample: 0.5, retentionMs: 2 * 86_400_000 },
      metricsPush: {
        endpoint: 'http://127.0.0.1:4318',
        headers: { 'x-team': 'blue' },
        intervalMs: 5_000,
        temporality: 'delta',
      },
    },
    images: { holdNanoUsd: 500_000_000 },
    videos: {
      jobMs: 7_200_000,
      assets: 'proxy',
      retentionMs: 3 * 86_400_000,
      pollAtOnce: 4,
      webhookUrl: 'https://example.test/videos',
      webhookSecret: '0123456789abcdef01234567',
    },
    responses: {
      store: 'database',
      memoryBytes: 8 * 1_048_576,
      memoryMs: 120_000,
      retentionMs: 3 * 86_400_000,
      bytesMaxPerKey: 4 * 1_048_576,
      share: 'workspace',
      background: true,
      backgroundPerKey: 5,
      backgroundMs: 360_000,
      eventsMs: 420_000,
      echo: 'none',
      lengthErrors: 'incomplete',
      streamErrors: 'in-band',
      autoCache: false,
      compaction: 'own',
      codexModels: 'list',
      codexInstructionsFile: '/etc/codex.md',
    },
    rateLimits: {
      key: { requestsPerMinute: 60, concurrent: 8 },
      account: {},
      free: { requestsPerDay: 50 },
      management: { requestsPerMinute: 99 },
    },
    providers: [
      {
        slug: 'alpha',
        adapter: 'openai-compatible',
        name: 'Alpha',
        baseUrl: 'http://127.0.0.1:9101/v1',
        apiKey: 'sk-secret',
        options: {},
        secretOptions: [],
        dataPolicy: { training: false, retentionDays: 0 },
        headers: { 'x-team': 'blue' },
        sendsTraceContext: true,
        timeouts: { idleMs: 7 },
        retry: { sameEndpoint: 2 },
      },
      {
        slug: 'groq',
        adapter: 'groq',
        options: {},
        secretOptions: [],
        dataPolicy: {},
        headers: {},
        sendsTraceContext: false,
        timeouts: {},
        retry: {},
      },
    ],
    aliases: { 'claude-haiku-4-5': 'acme/one' },
    resolveBareNames: true,
    betaFlags: {
      alpha: {
        allow: ['*'],
        deny: ['files-api-2025-04-14'],
        rename: { 'advanced-tool-use-2025-11-20': 'tool-search-tool-2025-10-19' },
      },
      groq: { allow: [], deny: [], rename: {} },
    },
    models: [
      {
        slug: 'acme/one',
        name: 'Acme One',
        contextLength: 128_000,
        maxCompletionTokens: 16_000,
        inputModalities: ['text', 'image'],
        outputModalities: ['text'],
        distillable: true,
        scores: { coding: 0.71 },
        fallbacks: ['acme/two', 'openai/gpt-5.1'],
        endpoints: [
          {
            provider: 'alpha',
            model: 'one-2026',
            price: {
              prompt: 1,
              completion: 2,
              cacheRead: 0.1,
              cacheWrite: 1.25,
              cacheWrite1h: 2,
              reasoning: 3,
              request: 0,
            },
            quantization: 'fp8',
            tag: 'alpha/turbo',
            serviceTier: 'flex',
            dataPolicy: { retentionDays: 30 },
            supportedParameters: ['tools', 'reasoning', 'prompt_cache_key'],
            assistantPrefill: true,
            embeddings: {
              dimensions: { default: 8, values: [4, 8] },
              maxInputs: 2,
              maxInputTokens: 9,
              maxRequestTokens: 20,
              encodings: ['float'],
              tokenArrays: true,
            },
            rerank: { maxDocuments: 3, pointwise: true, images: false },
            image: { nMax: 2, outputFormats: ['png'], referencesMax: 0, tokensPerImage: 100 },
            transcription: { formats: ['json'], minSeconds: 10 },
            speech: { voices: ['alto'], defaultVoice: 'alto', speed: { min: 0.5, max: 2 } },
            video: { durations: [4, 8], frames: ['first_frame'], defaultDurationS: 4 },
          },
        ],
      },
    ],
    passThrough: [{ prefix: 'local/', provider: 'groq' }],
    logLevel: 'info',
    logFormat: 'json',
  });
});

test('takes the format of log lines from the flag before the environment, and names a wrong one', () => {
  const formatOf = (argv: readonly string[], format: string) =>
    load(undefined, { argv, env: { GATEWAY_LOG_FORMAT: format } }).logFormat;
  assert.deepEqual([formatOf([], ''), formatOf([], 'pretty')], ['json', 'pretty']);
  assert.equal(formatOf(['--log-format', 'json'], 'pretty'), 'json');
  assert.throws(() => formatOf([], 'plain'), /^ConfigError: GATEWAY_LOG_FORMAT: must be json or pretty, not "plain"$/);
  assert.throws(() => formatOf(['--log-format', 'plain'], ''), /--log-format: must be json or pretty, not "plain"/);
});

// @spec fallback-9
test('uses the documented defaults without any file, flag or variable', () => {
  // A machine with plenty of memory.
  const config = load(undefined, { argv: [], env: { GATEWAY_MEMORY_LIMIT_MB: '65536' } });
  assert.equal(config.path, undefined);
  assert.deepEqual(config.server, {
    host: '127.0.0.1',
    port: 8787,
    workers: 1,
    maxBodyBytes: 32 * 1_048_576,
    fileMemoryBytes: 256 * 1_048_576,
    responseCacheBytes: 64 * 1_048_576,
    drainMs: 30_000,
    region: 'local',
  });
  assert.deepEqual(config.timeouts, {
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
  });
  assert.deepEqual(config.videos, {
    jobMs: 86_400_000,
    assets: 'store',
    retentionMs: 7 * 86_400_000,
    pollAtOnce: 16,
  });
  assert.deepEqual(config.responses, {
    store: 'memory',
    memoryBytes: 64 * 1_048_576,
    memoryMs: 3_600_000,
    retentionMs: 30 * 86_400_000,
    bytesMaxPerKey: 512 * 1_048_576,
    share: 'key',
    background: false,
    backgroundPerKey: 4,
    backgroundMs: 3_600_000,
    eventsMs: 3_600_000,
    echo: 'terminal',
    lengthErrors: 'failed',
    streamErrors: 'status',
    autoCache: true,
    compaction: 'native',
    codexModels: 'off',
  });
  assert.deepEqual([config.providers, config.models, config.passThrough], [[], [], []]);
});

test('takes the memory limit from the environment, then the file, then the machine', () => {
  const limitOf = (text: string | undefined, env: Readonly<Record<string, string>>): number =>
    load(text, { argv: [], env }).memory.limitBytes / 1_048_576;
  const text = 'server: { memory_limit_mb: 512 }\n';
  assert.equal(limitOf(text, { GATEWAY_MEMORY_LIMIT_MB: '1536' }), 1_536);
  assert.equal(limitOf(text, {}), 512);
  assert.equal(limitOf(undefined, {}), Math.floor(findMemoryLimit() / 1_048_576));
  const small = load(text, { argv: [], env: {} });
  assert.deepEqual(
    [small.server.fileMemoryBytes, small.server.responseCacheBytes],
    [small.memory.fileBytes, small.memory.responseCacheBytes],
  );
  assert.ok(small.server.fileMemoryBytes < 128 * 1_048_576);
  for (const wrong of ['255', '1.5', '1e3', '512M', '-1'])
    assert.match(
      messageOf(() => limitOf(undefined, { GATEWAY_MEMORY_LIMIT_MB: wrong })),
      /^GATEWAY_MEMORY_LIMIT_MB: must be a whole number from 256 to/,
    );
});

test('takes the address of the database from the environment or else the file, and shows it nowhere', () => {
  const [inFile, inEnvironment] = ['postgres://file:hunter2@db/x', 'postgresql://env:hunter2@db/x'];
  const text = `database_url: ${inFile}\n`;
  assert.equal(load(text, { env: {} }).databaseUrl, inFile);
  const config = load(text, { env: { DATABASE_URL: inEnvironment } });
  assert.equal(config.databaseUrl, inEnvironment);
  assert.doesNotMatch(renderConfig(config), /hunter2/);
});

test('prefers a flag to the environment, and the environment to the file', () => {
  const file = 'server: { port: 1, host: file, region: file }';
  const env = { GATEWAY_PORT: '2', GATEWAY_HOST: 'env', GATEWAY_DATA_DIR: '/env', GATEWAY_CONFIG: 'other.yaml' };
  const both = load(file, { argv: ['--port=3', '--data-dir', '/flag'], env });
  assert.deepEqual([both.server.port, both.server.host, both.dataDir], [3, 'env', '/flag']);
  assert.deepEqual([both.path, both.server.region], ['other.yaml', 'file']);
});

test('reads gateway.yaml of the working directory by default', () => {
  assert.equal(load('server: { port: 5 }', { argv: [], env: {} }).server.port, 5);
});

test('treats an empty variable as not set', () => {
  const env = { GATEWAY_PORT: '', GATEWAY_API_KEY: '', DATABASE_URL: '' };
  const config = load('', { env });
  assert.equal(config.server.port, 8787);
  assert.equal(config.apiKey, undefined);
});

test('reads keys, secret and log level from the environment', () => {
  const env = {
    GATEWAY_MANAGEMENT_KEY: 'm',
    GATEWAY_API_KEY: 'k',
    GATEWAY_SECRET: '0123456789abcdef',
    GATEWAY_LOG_LEVEL: 'warn',
  };
  const { managementKey, apiKey, secret, logLevel } = load('', { env });
  assert.deepEqual([managementKey, apiKey, secret, logLevel], ['m', 'k', '0123456789abcdef', 'warn']);
});

test('freezes the configuration to its leaves', () => {
  const config = load(EXAMPLE);
  assert.ok(Object.isFrozen(config));
  assert.ok(Object.isFrozen(config.models[0]?.endpoints[0]?.price));
});

test('reads JSON like YAML, tabs included', () => {
  assert.equal(load('{\n\t"server": {\n\t\t"port": 80\n\t}\n}').server.port, 80);
});

test('requires JSON in a .json file, and gives line and column of its first fault', () => {
  const argv = ['--config', 'gateway.json'];
  assert.equal(load('{ "server": { "port": ${PORT} } }', { argv }).server.port, 9_000);
  for (const [text, message] of [
    ['{\n  "server": { "port": 80, }\n}', 'gateway.json:2:25: this is not JSON: expected no comma before "}"'],
    ['server: { port: 80 }', 'gateway.json:1:1: this is not JSON: expected a value'],
  ] as const)
    assert.equal(
      messageOf(() => load(text, { argv })),
      message,
    );
  assert.equal(load('{ "server": { "port": 80, } }').server.port, 80, 'YAML takes it');
});

test('ignores a byte order mark and Windows line ends', () => {
  assert.equal(load('\uFEFFserver:\r\n  port: 81\r\n').server.port, 81);
});

suite('variables', () => {
  test('work inside braces, quotes and longer text', () => {
    const config = load(
      'server: { region: ${WORD}, port: ${PORT} }\nproviders: { openai: { name: "a ${WORD} b", api_key: ${ALPHA_API_KEY} } }',
    );
    assert.equal(config.server.region, 'word');
    assert.deepEqual([config.providers[0]?.name, config.providers[0]?.apiKey], ['a word b', 'sk-secret']);
  });

  test('stand for a number or a truth value where one is wanted', () => {
    const config = load('server:\n  port: ${PORT}\ndefaults:\n  provider:\n    zdr: ${YES}\n');
    assert.equal(config.server.port, 9000);
    assert.equal(config.defaults.provider.zdr, true);
  });

  test('stay text where text is wanted', () => {
    assert.equal(load('providers: { openai: { api_key: ${PORT} } }').providers[0]?.apiKey, '9000');
  });

  test('stay as written when they are doubled at the dollar', () => {
    assert.equal(load('server: { region: a$${WORD} }').server.region, 'a${WORD}');
  });

  test('cannot bring YAML of their own', () => {
    const env = { EVIL: 'x, port: 1 }\nserver: {}' };
    assert.equal(load('server: { region: "${EVIL}" }', { env }).server.region, env.EVIL);
  });

  test('are not looked for in comments', () => {
    assert.equal(load('# api_key: ${NOWHERE}\nserver: { port: 1 }').server.port, 1);
  });
});

test('repeats settings by anchors, aliases and merge keys', () => {
  const config = load(
    'providers:\n  a: &a\n    adapter: openai\n    timeouts: { idle_ms: 5 }\n  b: *a\n  c:\n    <<: *a\n    name: C\n',
  );
  assert.deepEqual(
    config.providers.map(({ slug, timeouts }) => [slug, timeouts.idleMs]),
    [
      ['a', 5],
      ['b', 5],
      ['c', 5],
    ],
  );
});

/** What stands in the file, and the exact message. */
const REFUSED: readonly (readonly [promise: string, file: string, message: string])[] = [
  [
    'a misspelt key is named with the nearest one, and not also reported missing',
    'server:\n  port: 1\nproviders:\n  alpha:\n    adaptor: openai\n',
    'gateway.yaml:5: providers.alpha.adaptor: unknown key; did you mean "adapter"?',
  ],
  [
    'responses in the background without the database that they need are named',
    'responses:\n  store: memory\n  background: true\n',
    'gateway.yaml:3: responses.background: needs "store: database"',
  ],
  [
    'a list for Codex without the instructions that it needs is named',
    'responses:\n  codex_models: list\n',
    'gateway.yaml:2: responses.codex_models: needs codex_instructions_file',
  ],
  [
    'a key that is like no other lists what is known',
    'credits:\n  xyz: 1\n',
    'gateway.yaml:2: credits.xyz: unknown key; known here: enforce',
  ],
  [
    'the first mistake by line is shown, and the others are counted',
    'server:\n  port: 70000\n  hots: x\n  drain_seconds: -1\n',
    'gateway.yaml:2: server.port: must be at most 65535, not 70000\n(and 2 more problems; "config check" lists them)',
  ],
  [
    'a variable that is not set is named with its key',
    'providers:\n  alpha:\n    adapter: openai\n    api_key: ${NOWHERE}\n',
    'gateway.yaml:4: providers.alpha.api_key: the environment variable NOWHERE is not set',
  ],
  [
    'a variable in a list is named with its place',
    'defaults:\n  provider:\n    order:\n      - a\n      - ${NOWHERE}\n',
    'gateway.yaml:5: defaults.provider.order[1]: the environment variable NOWHERE is not set',
  ],
  [
    'a default inside a variable is not understood',
    'server: { region: "${WORD:-x}" }',
    'gateway.yaml:1: server.region: ${WORD:-x} names no variable; write $${WORD:-x} for the text itself',
  ],
  [
    'a variable that is no number does not show its value',
    'server:\n  port: ${ALPHA_API_KEY}\n',
    'gateway.yaml:2: server.port: must be a number, not the value of its variable',
  ],
  [
    'a key that stands twice is refused',
    'providers:\n  alpha:\n    adapter: openai\n  alpha:\n    adapter: openai\n',
    'gateway.yaml:4: providers.alpha: stands here twice; keys must be unique',
  ],
  [
    'an unknown adapter is named with the nearest one',
    'providers:\n  alpha:\n    adapter: openia\n',
    'gateway.yaml:3: providers.alpha.adapter: unknown adapter "openia"; did you mean "openai"?',
  ],
  [
    'a provider that nobody knows needs an adapter',
    'providers:\n  alpha:\n    name: Alpha\n',
    'gateway.yaml:2: providers.alpha: adapter is required: "alpha" is no known provider',
  ],
  [
    'an endpoint that names an unknown provider is refused, whatever else is wrong below it',
    'providers:\n  alpha:\n    adapter: openai\nmodels:\n  a/b:\n    endpoints:\n      - provider: alhpa\n        model: m\n        price: { prompt: -1, completion: 1 }\n',
    'gateway.yaml:7: models.a/b.endpoints[0].provider: unknown provider "alhpa"; did you mean "alpha"?\n(and 1 more problem; "config check" lists it)',
  ],
  [
    'a pass-through that names an unknown provider is refused',
    'models:\n  "local/*": { provider: gorq }\n',
    'gateway.yaml:2: models.local/*.provider: unknown provider "gorq"; did you mean "groq"?',
  ],
  [
    'an alias of an alias',
    'aliases:\n  one: acme/two\n  two: one/x\n  one/x: acme/one\n',
    'gateway.yaml:3: aliases.two: must name a model: "one/x" is an alias itself',
  ],
  [
    'an alias of no slug',
    'aliases:\n  one: two\n',
    'gateway.yaml:2: aliases.one: must be a model slug such as acme/one',
  ],
  [
    'beta flags of an unknown provider are refused',
    'beta_flags:\n  opnai: { allow: [effort] }\n',
    'gateway.yaml:2: beta_flags.opnai: unknown provider "opnai"; did you mean "openai"?',
  ],
  [
    'a word that can be no beta flag is refused',
    'beta_flags:\n  openai:\n    allow:\n      - effort\n      - "a, b"\n',
    'gateway.yaml:5: beta_flags.openai.allow[1]: must be a flag such as "files-api-2025-04-14", or the name of a feature, or "*"',
  ],
  [
    'everything can be allowed, but not denied: that is what an empty list does',
    'beta_flags: { openai: { deny: ["*"] } }\n',
    'gateway.yaml:1: beta_flags.openai.deny[0]: must be a flag such as "files-api-2025-04-14", or the name of a feature',
  ],
  [
    'a negative price is refused',
    'models:\n  a/b:\n    endpoints:\n      - provider: openai\n        model: m\n        price: { prompt: 1, completion: -2 }\n',
    'gateway.yaml:6: models.a/b.endpoints[0].price.completion: must be at least 0, not -2',
  ],
  [
    'half a price is refused: unknown is not zero',
    'models:\n  a/b:\n    endpoints:\n      - provider: openai\n        model: m\n        price: { prompt: 1 }\n',
    'gateway.yaml:6: models.a/b.endpoints[0].price.completion: is required',
  ],
  [
    'a price beyond exact arithmetic is refused',
    'models:\n  a/b:\n    endpoints:\n      - { provider: openai, model: m, price: { prompt: 1, completion: 2e6 } }\n',
    'gateway.yaml:4: models.a/b.endpoints[0].price.completion: must be at most 1000, not 2000000',
  ],
  [
    'a model needs an endpoint',
    'models:\n  a/b:\n    endpoints: []\n',
    'gateway.yaml:3: models.a/b.endpoints: must not be empty',
  ],
  [
    'a model slug has an author',
    'models:\n  one:\n    endpoints: []\n',
    'gateway.yaml:2: models.one: must be a model slug such as acme/one, or acme/*',
  ],
  [
    'a model that requests fall back on has an author, too',
    'defaults:\n  model: one\n',
    'gateway.yaml:2: defaults.model: must be a model slug such as acme/one',
  ],
  [
    'a provider slug has no spaces and capitals',
    'providers:\n  Al Pha: { adapter: openai }\n',
    'gateway.yaml:2: providers.Al Pha: must be a provider slug: a-z, 0-9, ".", "_" and "-"',
  ],
  [
    'a word of a closed list is named with the nearest one',
    'defaults:\n  provider:\n    data_collection: alow\n',
    'gateway.yaml:3: defaults.provider.data_collection: must be one of allow, deny, not "alow"; did you mean "allow"?',
  ],
  [
    'a parameter that is almost a known one is a slip',
    'models:\n  a/b:\n    endpoints:\n      - { provider: openai, model: m, supported_parameters: [tool] }\n',
    'gateway.yaml:4: models.a/b.endpoints[0].supported_parameters[0]: unknown parameter "tool"; did you mean "tools"?',
  ],
  [
    'text is not a number',
    'timeouts: { idle_ms: soon }',
    'gateway.yaml:1: timeouts.idle_ms: must be a number, not "soon"',
  ],
  [
    'a fraction is not a whole number',
    'timeouts: { idle_ms: 1.5 }',
    'gateway.yaml:1: timeouts.idle_ms: must be a whole number, not 1.5',
  ],
  [
    'a time of zero would fail every request',
    'timeouts: { idle_ms: 0 }',
    'gateway.yaml:1: timeouts.idle_ms: must be at least 1, not 0',
  ],
  [
    'yes is not a truth value',
    'credits: { enforce: yes }',
    'gateway.yaml:1: credits.enforce: must be true or false, not "yes"',
  ],
  [
    'a secret of the wrong type is not shown',
    'providers:\n  openai:\n    api_key: 123456\n',
    'gateway.yaml:3: providers.openai.api_key: must be text, not a number',
  ],
  [
    'headers written as one line are not shown',
    'providers:\n  openai:\n    headers: "authorization: Bearer hunter2"\n',
    'gateway.yaml:3: providers.openai.headers: must be a mapping of keys to values, not text',
  ],
  [
    'a header cannot break the request apart',
    'providers:\n  openai:\n    headers: { x-a: "b\\r\\nx-c: d" }\n',
    'gateway.yaml:3: providers.openai.headers.x-a: must be one line of Latin-1 text',
  ],
  [
    "a header of the connection is the gateway's",
    'providers:\n  openai:\n    headers: { Content-Length: "3" }\n',
    'gateway.yaml:3: providers.openai.headers.Content-Length: is a header that the gateway itself sets',
  ],
  [
    'a key with a line break never becomes a header',
    'providers:\n  openai:\n    api_key: "sk-1\\n"\n',
    'gateway.yaml:3: providers.openai.api_key: must be printable ASCII without spaces',
  ],
  [
    'a base URL speaks http and holds no password',
    'providers:\n  openai:\n    base_url: https://me:hunter2@example.com/v1\n',
    'gateway.yaml:3: providers.openai.base_url: must be an http:// or https:// URL without user, query and fragment',
  ],
  [
    'the address of a database names one of PostgreSQL, and is not repeated',
    'server: { port: 1 }\ndatabase_url: mysql://me:hunter2@db/x\n',
    'gateway.yaml:2: database_url: must be an address such as postgres://user:password@host:5432/name (in a password, @ is written %40, / is %2F, # is %23, ? is %3F and % is %25)',
  ],
  [
    'the address of a Redis names one, and is not repeated',
    'redis_url: http://me:hunter2@redis\n',
    'gateway.yaml:1: redis_url: must be an address such as redis://user:password@host:6379/0, or rediss:// for TLS (in a password, @ is written %40, / is %2F, # is %23, ? is %3F and % is %25)',
  ],
  [
    'a rate below one is refused',
    'rate_limits:\n  key: { requests_per_minute: 0 }\n',
    'gateway.yaml:2: rate_limits.key.requests_per_minute: must be at least 1, not 0',
  ],
  [
    'a rate of nobody is refused',
    'rate_limits:\n  keys: {}\n',
    'gateway.yaml:2: rate_limits.keys: unknown key; did you mean "key"?',
  ],
  [
    'a default sort must be one that there is',
    'defaults: { provider: { sort: prize } }\n',
    'gateway.yaml:1: defaults.provider.sort: must be one of price, throughput, latency, exacto, not "prize"; did you mean "price"?',
  ],
  [
    'a mapping is no key',
    'providers:\n  { adapter: openai, api_key: hunter2 }: x\n',
    'gateway.yaml:2: providers: a key must be plain text',
  ],
  ['a file that is no mapping is refused', 'hello', 'gateway.yaml:1: must be a mapping of keys to values, not text'],
  [
    'broken YAML names its line',
    'server:\n  port: 1\n host: x\n',
    'gateway.yaml:3: this is not YAML: all mapping items must start at the same column',
  ],
  [
    'broken JSON is called that, with its line',
    '{\n  "server": { "port": 1 }\n  "region": "x"\n}\n',
    'gateway.yaml:3:3: this is not JSON: expected "," or "}"',
  ],
  [
    'JSON that ends too early is called that',
    '{ "server": {\n "port": 1 }',
    'gateway.yaml:2:13: this is not JSON: ends too early',
  ],
  [
    'broken JSON shows nothing of a secret',
    '{\n"providers": { "alpha": { "api_key": "hunter2 } } }',
    'gateway.yaml:2:38: this is not JSON: expected a text that ends on its line, without control characters',
  ],
  [
    'an alias that names itself is refused once, as no slug',
    'aliases: { foo: foo }\n',
    'gateway.yaml:1: aliases.foo: must be a model slug such as acme/one',
  ],
  [
    'a second document is refused',
    'server:\n  port: 1\n---\nserver: {}\n',
    'gateway.yaml:3: a second document (---) begins here; one is read',
  ],
  [
    'a tag is refused instead of ignored',
    'server: !include other.yaml\n',
    'gateway.yaml:1: this is not YAML: unresolved tag: !include',
  ],
  [
    'aliases that would grow to gigabytes are refused',
    'a: &a [1,1,1,1,1,1,1,1]\nb: &b [*a,*a,*a,*a,*a,*a,*a,*a]\nc: &c [*b,*b,*b,*b,*b,*b,*b,*b]\nd: [*c,*c,*c,*c]\n',
    'gateway.yaml:1: excessive alias count indicates a resource exhaustion attack',
  ],
  [
    'a model without a body is refused',
    'models:\n  a/b:\n',
    'gateway.yaml:2: models.a/b: must be a mapping of keys to values, not empty',
  ],
];

suite('a wrong file', () => {
  for (const [promise, file, message] of REFUSED)
    test(promise, () =>
      assert.equal(
        messageOf(() => load(file)),
        message,
      ),
    );
});

/** Command line and environment, and the exact message. */
const REFUSED_OUTSIDE: readonly (readonly [
  promise: string,
  argv: readonly string[],
  env: Record<string, string>,
  message: string,
])[] = [
  [
    'an unknown flag is named with the nearest one',
    ['--prot', '1'],
    {},
    '--prot: unknown flag; did you mean "--port"?',
  ],
  ['a flag needs its value', ['--port'], {}, '--port needs a value'],
  ['a flag does not swallow the next one', ['--config', '--port', '1'], {}, '--config needs a value'],
  ['a stray word is refused', ['gateway.yaml'], {}, 'gateway.yaml: unexpected argument'],
  ['a port is a number', ['--port', 'http'], {}, '--port: must be a whole number from 0 to 65535, not "http"'],
  ['a port ends at 65535', ['--port=65536'], {}, '--port: must be a whole number from 0 to 65535, not "65536"'],
  [
    "Kubernetes' own variable is recognised",
    [],
    { GATEWAY_PORT: 'tcp://10.0.0.1:80' },
    'GATEWAY_PORT: must be a whole number from 0 to 65535, not "tcp://10.0.0.1:80" (set by Kubernetes? turn enableServiceLinks off)',
  ],
  [
    'workers are a number or auto',
    ['--workers', 'many'],
    {},
    '--workers: must be auto or a whole number from 1 to 256, not "many"',
  ],
  [
    'there is at least one worker',
    [],
    { GATEWAY_WORKERS: '0' },
    'GATEWAY_WORKERS: must be auto or a whole number from 1 to 256, not "0"',
  ],
  [
    'a password that was pasted as it is is not repeated',
    [],
    { DATABASE_URL: 'postgres://me:hunter2%@db/x' },
    'DATABASE_URL: must be an address such as postgres://user:password@host:5432/name (in a password, @ is written %40, / is %2F, # is %23, ? is %3F and % is %25)',
  ],
  [
    'of the address of a Redis options are no part',
    [],
    { REDIS_URL: 'redis://me:hunter2@x/0?keyPrefix=other' },
    'REDIS_URL: must be an address such as redis://user:password@host:6379/0, or rediss:// for TLS (in a password, @ is written %40, / is %2F, # is %23, ? is %3F and % is %25)',
  ],
  [
    'one key cannot be of two kinds',
    [],
    { GATEWAY_API_KEY: 'same', GATEWAY_MANAGEMENT_KEY: 'same' },
    'GATEWAY_API_KEY: must differ from GATEWAY_MANAGEMENT_KEY',
  ],
  [
    'a key that no header can carry is refused',
    [],
    { GATEWAY_API_KEY: 'a b' },
    'GATEWAY_API_KEY: must be at most 512 characters of printable ASCII without spaces',
  ],
  [
    'an unknown log level is named with the nearest one',
    [],
    { GATEWAY_LOG_LEVEL: 'wran' },
    'GATEWAY_LOG_LEVEL: unknown level "wran"; did you mean "warn"?',
  ],
];

suite('a wrong command line or environment', () => {
  for (const [promise, argv, env, message] of REFUSED_OUTSIDE)
    test(promise, () =>
      assert.equal(
        messageOf(() => load('', { argv, env })),
        message,
      ),
    );
});

test('reports a named file that does not exist', () => {
  assert.equal(
    messageOf(() => load(undefined, { argv: ['--config', 'x.yaml'] })),
    'x.yaml: there is no such file',
  );
});

function refuseToRead(): string {
  throw Object.assign(new Error('no'), { code: 'EACCES' });
}

test('says why a file cannot be read', () => {
  assert.equal(
    messageOf(() => load('', { readFile: refuseToRead })),
    'gateway.yaml: cannot be read (EACCES)',
  );
});

function withoutSecrets(config: Config): unknown {
  const providers = config.providers.map(({ apiKey, headers, ...provider }) => ({
    ...provider,
    hasKey: apiKey !== undefined,
    headers: Object.keys(headers),
  }));
  const hasKeys = ({ apiKey, ...service }: ServiceConfig) => ({ ...service, hasKey: apiKey !== undefined });
  const engines = Object.entries(config.search.engines).map(([name, engine]) => [name, hasKeys(engine)]);
  const search = { ...config.search, engines };
  const moderation = { ...config.moderation, endpoint: hasKeys(config.moderation.endpoint) };
  const { metricsPush } = config.observability;
  const pushed = metricsPush && { ...metricsPush, headers: Object.keys(metricsPush.headers) };
  return {
    ...config,
    // Another file has its values on other lines.
    origins: {},
    observability: { ...config.observability, metricsPush: pushed },
    providers,
    search,
    moderation,
    notifications: { ...config.notifications, smtp: { ...config.notifications.smtp, password: '' } },
    fileParser: { mistralOcr: hasKeys(config.fileParser.mistralOcr) },
    videos: { ...config.videos, webhookSecret: config.videos.webhookSecret !== undefined },
    organization: { ...config.organization, oidc: { ...config.organization.oidc, clientSecret: true } },
  };
}

test('writes the effective configuration without a single secret, and reads it back as itself', () => {
  const env = {
    ALPHA_API_KEY: 'hunter2-provider',
    GATEWAY_API_KEY: 'hunter2-key',
    GATEWAY_MANAGEMENT_KEY: 'hunter2-management',
    GATEWAY_SECRET: 'hunter2-0123456789',
  };
  const config = load(EXAMPLE.replaceAll('x-team: blue', 'authorization: hunter2-header'), { env });
  const formatted = renderConfig(config);
  assert.ok(!formatted.includes('hunter2'), formatted);
  const again = load(formatted.replaceAll('(redacted)', 'redacted-and-long-enough'), { env });
  assert.deepEqual(withoutSecrets(again), withoutSecrets(config));
});

test('reads or refuses any damaged file, with one sentence', () => {
  const slips = [
    '',
    '{',
    '}',
    '[',
    ']',
    ':',
    '\n',
    '  ',
    '- ',
    '&a ',
    '*a',
    '!!x ',
    '"',
    "'",
    '|',
    '? ',
    '#',
    '${',
    '\0',
    '\t',
  ];
  const edit = fc.tuple(fc.nat(EXAMPLE.length), fc.nat(6), fc.constantFrom(...slips));
  fc.assert(
    fc.property(fc.array(edit, { minLength: 1, maxLength: 5 }), (edits) => {
      const text = edits.reduce(
        (file, [at, removed, put]) => file.slice(0, at) + put + file.slice(at + removed),
        EXAMPLE,
      );
      try {
        load(text);
      } catch (error) {
        assert.ok(error instanceof ConfigError, String(error));
        assert.match(error.message, /^gateway\.yaml:\d+(?::\d+)?: /);
        assert.doesNotMatch(error.message, /sk-secret|undefined|\[object|[\u{E0F0}-\u{E0F2}]/u);
      }
    }),
    { numRuns: 150 },
  );
});
