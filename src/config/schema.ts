import { z } from 'zod';
import { DATABASE_URL_RULE, isDatabaseUrl } from './database-url.ts';
import { checkTransport, mcpServersSection, mcpServerShape } from './mcp-servers.ts';
import { isRedisPrefix, isRedisUrl, REDIS_PREFIX_RULE, REDIS_URL_RULE } from './redis-url.ts';
import { aliases } from './schema-aliases.ts';
import { key } from './schema-key.ts';
import { betaChanges, provider, retrySection } from './schema-models.ts';
import {
  attemptTimeouts,
  headers,
  httpUrl,
  modelName,
  optionalSection,
  providerSlug,
  section,
  text,
  timeMs,
} from './schema-parts.ts';

/*
 * The configuration file as the operator writes it: the names of README.md, closed objects, nothing converted. A key
 * without a value counts as absent where a section stands, so that a section may be commented out line by line.
 * What is said of each key goes to docs/configuration.md (`npm run generate`).
 */

const BODY_MB_MAX = 1_024;
/** A gateway without load takes half of it. */
export const MEMORY_LIMIT_MB_MIN = 256;
export const MEMORY_LIMIT_MB_MAX = 16_777_216;
/** Room for one file of the largest size. */
const FILE_MEMORY_MB_MIN = 64;
const FILE_MEMORY_MB_MAX = 65_536;
const RESPONSE_CACHE_MB_MAX = 65_536;
const FILE_QUOTA_MB_MAX = 100_000_000;
/** Slugs that an operator lists for routers, of which the first available one is used. */
const ROUTER_MODELS_MAX = 32;
/** @spec fusion-2 */
const PANEL_MODELS_MAX = 8;
/** Every request that goes to a judge waits for it. */
const JUDGE_TIMEOUT_MS_MAX = 60_000;
const RATE_MAX = 1_000_000_000;
const CONCURRENT_MAX = 1_000_000;
const DRAIN_SECONDS_MAX = 3_600;
const RETENTION_DAYS_MAX = 3_650;
/** @spec filter-17 */
const ALLOWED_PHRASES_MAX = 200;
const ALLOWED_PHRASE_BYTES_MAX = 1_000;
/** A list that is read more rarely could not be called fresh. */
const REFRESH_HOURS_MAX = 720;
/** @spec route-13 */
const SORTS = ['price', 'throughput', 'latency', 'exacto'] as const;

const slugs = z.array(text);
/** A rate limit; an absent one is unlimited. */
const rate = z.int().min(1).max(RATE_MAX);
const requestRate = {
  requests_per_minute: key(rate, 'Requests a minute.', { usual: 'no bound', example: 600 }),
  requests_per_day: key(rate, 'Requests a day.', { usual: 'no bound', example: 50_000 }),
};
const allRates = {
  ...requestRate,
  tokens_per_minute: key(rate, 'Tokens a minute, of prompts and responses together.', {
    usual: 'no bound',
    example: 2_000_000,
  }),
  concurrent: key(z.int().min(1).max(CONCURRENT_MAX), 'Concurrent requests.', {
    usual: 'no bound',
    example: 50,
  }),
};

/** Names of the engines that the gateway can search with. */
export const SEARCH_ENGINES = ['exa', 'firecrawl', 'parallel', 'perplexity', 'tavily', 'brave', 'searxng'] as const;

// Printable ASCII: whatever else stands in a key (a line break from a file) never reaches a header.
const serviceKey = z.string().regex(/^[\x21-\x7e]+$/, 'must be printable ASCII without spaces');
const service = {
  api_key: key(serviceKey, 'Its credential.', { usual: 'its variable in the environment', example: '${SERVICE_KEY}' }),
  base_url: key(httpUrl, 'Its address.', { usual: 'the usual one', example: 'https://service.example' }),
};
const searchEngine = optionalSection(service, 'docs/web.md');

const allowedPhrases = z
  .array(
    z
      .string()
      .trim()
      .min(1)
      .refine((phrase) => Buffer.byteLength(phrase) <= ALLOWED_PHRASE_BYTES_MAX, {
        error: `must be at most ${ALLOWED_PHRASE_BYTES_MAX} bytes long`,
      }),
  )
  .max(ALLOWED_PHRASES_MAX)
  .refine((phrases) => new Set(phrases.map((phrase) => phrase.toLowerCase())).size === phrases.length, {
    error: 'must not name a phrase twice; case does not matter',
  });

/** One place of a panel: a slug, or several of which the first available one takes it. */
const fusionSlot = z.preprocess(
  (value) => (typeof value === 'string' ? [value] : value),
  z.array(modelName).min(1).max(ROUTER_MODELS_MAX),
);

/** What is left out of a preset is as usual. */
const fusionPreset = key(
  section({
    analysis_models: key(
      z.array(fusionSlot).min(1).max(PANEL_MODELS_MAX),
      'The panel: a model, or a list of alternatives, for each place.',
      {
        usual: 'docs/fusion.md',
        example: ['acme/one', ['acme/two', 'acme/one']],
      },
    ),
    model: key(fusionSlot, 'The analyst: a model, or several, of which the first available one is used.', {
      usual: 'docs/fusion.md',
      example: 'acme/one',
    }),
  }),
  'docs/fusion.md',
);

const OFF = { default: false, example: true } as const;

export const configFile = section({
  server: optionalSection(
    {
      host: key(text, 'The address to listen on; `0.0.0.0` means all addresses of the machine.', {
        default: '127.0.0.1',
      }),
      port: key(z.int().min(0).max(65_535), 'The port to listen on; 0 selects a free one.', { default: 8_787 }),
      max_body_mb: key(z.number().positive().max(BODY_MB_MAX), 'The largest body of a request; beyond it: 413.', {
        default: 32,
      }),
      memory_limit_mb: key(
        z.int().min(MEMORY_LIMIT_MB_MIN).max(MEMORY_LIMIT_MB_MAX),
        'Memory of the process; limits of bodies, files and caches are shares of it: docs/deploy.md.',
        { usual: "its cgroup's limit, else the machine's memory", example: 1_536 },
      ),
      file_memory_mb: key(
        z.number().min(FILE_MEMORY_MB_MIN).max(FILE_MEMORY_MB_MAX),
        'Memory for files that are fetched from addresses, for all requests together.',
        { usual: '256, or 4/32 of what the memory limit leaves', example: 256 },
      ),
      response_cache_mb: key(
        z.number().min(0).max(RESPONSE_CACHE_MB_MAX),
        'Memory of the response cache; 0 turns it off.',
        { usual: '64, or 1/32 of what the memory limit leaves', example: 64 },
      ),
      drain_seconds: key(z.number().min(0).max(DRAIN_SECONDS_MAX), 'Time for open requests after SIGTERM.', {
        default: 30,
      }),
      region: key(text, 'The name of this location in records and `service_metadata`.', {
        default: 'local',
        example: 'eu-1',
      }),
    },
    'The process and its listener.',
  ),
  defaults: optionalSection(
    {
      model: key(modelName, 'The model of requests that name none.', {
        usual: 'none: such a request is 400',
        example: 'acme/one',
      }),
      provider: optionalSection(
        {
          order: key(slugs, 'Providers to try first.', { usual: 'none', example: ['alpha'] }),
          only: key(slugs, 'Providers to use, and no other.', { usual: 'all', example: ['alpha'] }),
          ignore: key(slugs, 'Providers not to use.', { usual: 'none', example: ['beta'] }),
          sort: key(z.enum(SORTS), 'The order of endpoints.', { usual: 'balanced by price', example: 'price' }),
          data_collection: key(z.enum(['allow', 'deny']), 'Whether providers that train on prompts may be used.', {
            usual: 'allow',
            example: 'deny',
          }),
          zdr: key(z.boolean(), 'Whether only endpoints without retention may be used.', {
            usual: 'false',
            example: true,
          }),
        },
        'The field `provider` of requests that have none.',
      ),
    },
    'Defaults of requests.',
  ),
  timeouts: optionalSection(
    {
      ...attemptTimeouts({ connect: 5_000, headers: 120_000, firstToken: 120_000, idle: 120_000, whole: 300_000 }),
      total_ms: key(timeMs, 'A request with all its attempts.', { default: 900_000 }),
    },
    'Time limits of an attempt at a provider, and of a request.',
  ),
  database_url: key(text.refine(isDatabaseUrl, DATABASE_URL_RULE), 'The address of a PostgreSQL: docs/deploy.md.', {
    usual: 'an embedded database in the data directory',
    example: 'postgres://gateway@127.0.0.1/gateway',
  }),
  redis_url: key(
    text.refine(isRedisUrl, REDIS_URL_RULE),
    'The address of a Redis, for state that several processes share: docs/deploy.md.',
    {
      usual: 'in memory',
      example: 'redis://127.0.0.1:6379',
    },
  ),
  redis_prefix: key(text.refine(isRedisPrefix, REDIS_PREFIX_RULE), 'The prefix of every key in that Redis.', {
    default: 'gateway',
  }),
  catalog: optionalSection(
    {
      refresh: optionalSection(
        {
          enabled: key(z.boolean(), 'Reads a public list of models.', OFF),
          every_hours: key(z.number().min(1).max(REFRESH_HOURS_MAX), 'How often.', { default: 24 }),
          url: key(httpUrl, 'The address of the list.', {
            usual: 'models.dev',
            example: 'https://models.example/api.json',
          }),
          override_prices: key(z.boolean(), "Its prices win over the project's own.", OFF),
        },
        'A public list that fills in missing facts about models: docs/add-a-model.md.',
      ),
    },
    'Facts about models.',
  ),
  rescue: optionalSection(
    {
      enabled: key(
        z.boolean(),
        'Another endpoint continues a stream that breaks off, also when the request does not enable it.',
        OFF,
      ),
    },
    'Mid-stream failover: docs/mid-stream-failover.md.',
  ),
  retry: retrySection({ default: 0, example: 1 }, { default: 3_000 }),
  deadlines: optionalSection(
    {
      adaptive: key(
        z.boolean(),
        'While another candidate is left, the time limit of an attempt follows the history of its endpoint.',
        {
          default: true,
          example: false,
        },
      ),
    },
    'Adaptive deadlines: docs/fallback.md.',
  ),
  search: optionalSection(
    {
      engine: key(z.enum(SEARCH_ENGINES), 'The engine to use.', {
        usual: 'the first that is configured',
        example: 'exa',
      }),
      exa: searchEngine,
      firecrawl: searchEngine,
      parallel: searchEngine,
      perplexity: searchEngine,
      tavily: searchEngine,
      brave: searchEngine,
      searxng: searchEngine,
    },
    'Web search engines: docs/web.md.',
  ),
  web_fetch: optionalSection(
    { private_addresses: key(z.boolean(), "Pages of the operator's own network may be fetched.", OFF) },
    'Fetching web pages: docs/web.md.',
  ),
  files: optionalSection(
    {
      directory: key(text, 'The directory of stored files.', {
        usual: '`files` in the data directory',
        example: '/mnt/files',
      }),
      workspace_quota_mb: key(z.number().min(0).max(FILE_QUOTA_MB_MAX), 'Space for all files of a workspace.', {
        default: 10_240,
      }),
    },
    'Files that callers store: docs/files.md.',
  ),
  file_parser: optionalSection(
    {
      mistral_ocr: optionalSection(
        { ...service, model: key(text, 'Its model.', { usual: 'the newest', example: 'mistral-ocr-latest' }) },
        'OCR for scans: docs/plugins.md.',
      ),
    },
    'The plugin `file-parser`.',
  ),
  guardrails: optionalSection(
    {
      allowed_phrases: key(allowedPhrases, 'Phrases that the prompt injection detector ignores, in any case.', {
        default: [],
        example: ['ignore previous instructions'],
      }),
    },
    'docs/guardrails.md',
  ),
  moderation: optionalSection(
    {
      endpoint: optionalSection(
        { ...service, model: key(text, 'Its model.', { usual: 'the newest', example: 'omni-moderation-latest' }) },
        "An endpoint that speaks OpenAI's `POST /moderations`.",
      ),
      judge: key(modelName, 'A model that judges, used without an endpoint.', { usual: 'none', example: 'acme/one' }),
    },
    'The plugin `moderation`: docs/guardrails.md.',
  ),
  routers: optionalSection(
    {
      classify_traffic: key(z.boolean(), 'Classifies a sample of the requests without a router, on this machine.', {
        default: true,
      }),
      judge: optionalSection(
        {
          models: key(z.array(modelName).min(1).max(ROUTER_MODELS_MAX), 'The first available one is used.', {
            usual: 'docs/routers.md',
            example: ['acme/one'],
          }),
          timeout_ms: key(z.int().min(1).max(JUDGE_TIMEOUT_MS_MAX), 'Time limit of a verdict.', { default: 10_000 }),
        },
        'The model that gives routers a verdict.',
      ),
      auto: optionalSection(
        {
          judge: key(z.boolean(), 'Calls the judge when keywords are inconclusive.', OFF),
          default_models: key(
            z.array(modelName).min(1).max(ROUTER_MODELS_MAX),
            'Models to use when no model is ranked.',
            {
              usual: 'docs/routers.md',
              example: ['acme/one'],
            },
          ),
        },
        '`service/auto`',
      ),
      switchyard: optionalSection(
        {
          efficient: key(modelName, 'For easy turns.', { usual: 'chosen', example: 'acme/one' }),
          capable: key(modelName, 'For hard turns.', { usual: 'chosen', example: 'acme/two' }),
        },
        '`service/switchyard`',
      ),
      fusion: optionalSection(
        {
          presets: optionalSection(
            { 'general-high': fusionPreset, 'general-budget': fusionPreset, 'general-fast': fusionPreset },
            'Panels by name.',
          ),
        },
        '`service/fusion`: docs/fusion.md.',
      ),
    },
    'Routers: docs/routers.md.',
  ),
  credits: optionalSection(
    { enforce: key(z.boolean(), 'Requests of an account without credit get 402.', OFF) },
    "The account's credit: docs/administration.md.",
  ),
  oauth: optionalSection(
    { normal_keys: key(z.boolean(), 'Normal keys may issue keys for applications.', OFF) },
    'Keys for applications: docs/administration.md.',
  ),
  mcp_servers: mcpServersSection(section(mcpServerShape(headers)).superRefine(checkTransport)).meta({
    description: 'MCP servers, whose tools models can use: docs/mcp.md.',
  }),
  observability: optionalSection(
    {
      content_retention_days: key(
        z.number().positive().max(RETENTION_DAYS_MAX),
        'How long prompts and responses are stored for workspaces that log content.',
        { default: 30 },
      ),
      private_destinations: key(z.boolean(), "Destinations may be in the operator's own network.", OFF),
    },
    'docs/observability.md',
  ),
  rate_limits: optionalSection(
    {
      key: optionalSection(allRates, 'Each API key.'),
      account: optionalSection(allRates, 'All keys together.'),
      free: optionalSection(allRates, 'All requests for models that end in `:free`.'),
      management: optionalSection(requestRate, 'Each management key, all its calls.'),
    },
    'Rate limits; beyond them: 429.',
  ),
  providers: z
    .preprocess(
      (value) => value ?? {},
      z.record(
        providerSlug,
        z.preprocess((value) => value ?? {}, provider),
      ),
    )
    .meta({ description: 'Providers by slug; known ones need no entry: docs/providers.md.' }),
  aliases,
  resolve_bare_names: key(
    z.boolean(),
    'A name without its author finds the model, if it is unique. Reloaded without a restart.',
    OFF,
  ),
  beta_flags: z
    .preprocess((value) => value ?? {}, z.record(providerSlug, betaChanges))
    .meta({ description: 'Changes of the table of `anthropic-beta` flags, by provider. Reloaded without a restart.' }),
  // Entries are of two kinds, distinguished by their key: `read-file.ts` checks each against its own shape.
  models: z
    .preprocess((value) => value ?? {}, z.record(z.string(), z.unknown()))
    .meta({ description: 'Models by slug, and prefixes such as `local/*`. Reloaded without a restart.' }),
});

export type ConfigFile = z.output<typeof configFile>;
