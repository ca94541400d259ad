import { z } from 'zod';
import { nearestName } from '../lib/nearest-name.ts';
import { DATABASE_URL_RULE, isDatabaseUrl } from './database-url.ts';
import { isRedisPrefix, isRedisUrl, REDIS_PREFIX_RULE, REDIS_URL_RULE } from './redis-url.ts';
import { priceShape } from './endpoint-price.ts';
import { checkTransport, mcpServersSection, mcpServerShape } from './mcp-servers.ts';

/*
 * The configuration file as the operator writes it: the names of README.md, closed objects, nothing converted. A key
 * without a value counts as absent where a section stands, so that a section may be commented out line by line.
 */

/** A timer takes 31 bits of milliseconds; a day is far below and longer than any request. */
const TIME_MS_MAX = 86_400_000;
const TOKENS_MAX = 100_000_000;
const BODY_MB_MAX = 1_024;
/** Room for one file of the largest size. */
const FILE_MEMORY_MB_MIN = 64;
const FILE_MEMORY_MB_MAX = 65_536;
const RESPONSE_CACHE_MB_MAX = 65_536;
const FILE_QUOTA_MB_MAX = 100_000_000;
/** Slugs that an operator lists for routers, the first that can be asked counts. */
const ROUTER_MODELS_MAX = 32;
/** @source seed 8 "fusion analysis_models" */
const PANEL_MODELS_MAX = 8;
/** Every request that goes to a judge waits for it. */
const JUDGE_TIMEOUT_MS_MAX = 60_000;
const RATE_MAX = 1_000_000_000;
const CONCURRENT_MAX = 1_000_000;
const DRAIN_SECONDS_MAX = 3_600;
const RETENTION_DAYS_MAX = 3_650;
/** @source areas.md 6 "An allowlist of exact phrases" */
const ALLOWED_PHRASES_MAX = 200;
const ALLOWED_PHRASE_BYTES_MAX = 1_000;
/** Of a list that is read more rarely nobody would say that it is kept fresh. */
const REFRESH_HOURS_MAX = 720;
/** In one list. The vendor has had some sixty in three years. */
const BETA_FLAGS_MAX = 500;

/** @source generation.md 3.1 `quantizations` */
const QUANTIZATIONS = 'int4 int8 fp4 mxfp4 nvfp4 fp6 fp8 mxfp8 fp16 bf16 fp32 unknown'.split(' ');
/** @source areas.md, models: "Enums" */
const INPUT_MODALITIES = ['text', 'image', 'file', 'audio', 'video'];
const OUTPUT_MODALITIES = ['text', 'image', 'embeddings', 'audio', 'video', 'rerank', 'speech', 'transcription'];
/** @source generation.md 3.1 `sort` */
const SORTS = ['price', 'throughput', 'latency', 'exacto'] as const;
/** @source areas.md, models: the 26 values of Parameter */
const PARAMETERS = (
  'temperature top_p top_k min_p top_a frequency_penalty presence_penalty repetition_penalty max_tokens ' +
  'max_completion_tokens logit_bias logprobs top_logprobs prediction seed response_format structured_outputs stop ' +
  'tools tool_choice parallel_tool_calls include_reasoning reasoning reasoning_effort web_search_options verbosity'
).split(' ');
/** Headers that belong to the connection or the body, not to the operator. */
const RESERVED_HEADERS: ReadonlySet<string> = new Set(
  'host connection content-length content-encoding transfer-encoding keep-alive upgrade te'.split(' '),
);

const PROVIDER_SLUG = /^[a-z0-9][a-z0-9._-]*(?:\/[a-z0-9][a-z0-9._-]*)?$/;
const TAG = /^[a-z0-9][a-z0-9._-]*(?:\/[a-z0-9][a-z0-9._-]*){1,2}$/;
/** `:free`, `:extended` and `:thinking` are endpoints of their own; other suffixes are computed. @source generation.md 3.8 */
const MODEL_SLUG = /^[a-z0-9][\w.-]*\/[a-z0-9][\w.-]*(?::(?:free|extended|thinking))?$/i;
const PASS_THROUGH = /^[a-z0-9][\w.-]*\/\*$/i;
const BETA_FLAG = /^[a-z0-9][a-z0-9._-]{0,99}$/;
const BETA_FLAG_OR_ALL = /^(?:\*|[a-z0-9][a-z0-9._-]{0,99})$/;
const HEADER_NAME = /^[!#$%&'*+.^_`|~0-9A-Za-z-]+$/;
const HEADER_VALUE = /^[\t\x20-\x7e\x80-\xff]*$/;

/** A closed object. The message for an unknown key is the list of known ones: `problems.ts` turns it into a sentence. */
export function section<Shape extends z.core.$ZodLooseShape>(shape: Shape): z.ZodObject<Shape, z.core.$strict> {
  const known = Object.keys(shape).join(' ');
  return z.strictObject(shape, { error: (issue) => (issue.code === 'unrecognized_keys' ? known : undefined) });
}

/** A section that may be left out or left empty. */
function optionalSection<Shape extends z.core.$ZodLooseShape>(shape: Shape) {
  return z.preprocess((value) => value ?? {}, section(shape));
}

const text = z.string().min(1);
const timeMs = z.int().min(1).max(TIME_MS_MAX).optional();
const tokens = z.int().min(1).max(TOKENS_MAX);
const providerSlug = z.string().regex(PROVIDER_SLUG, 'must be a provider slug: a-z, 0-9, ".", "_" and "-"');
const slugs = z.array(text).optional();
/** A model that requests could name: a slug of the catalog, an alias, a router, or what a provider calls its own. */
const modelName = z.string().regex(/^[^\s/]+\/\S+$/, 'must be a model slug such as acme/one');

const attemptTimeouts = {
  connect_ms: timeMs,
  headers_ms: timeMs,
  first_token_ms: timeMs,
  idle_ms: timeMs,
  whole_ms: timeMs,
};

const httpUrl = z.string().refine(isHttpUrl, 'must be an http:// or https:// URL without user, query and fragment');

function isHttpUrl(value: string): boolean {
  const url = URL.parse(value);
  if (url === null || (url.protocol !== 'http:' && url.protocol !== 'https:')) return false;
  return url.username === '' && url.password === '' && !/[?#]/.test(value);
}

const headers = z.record(
  z
    .string()
    .regex(HEADER_NAME, 'is no header name')
    .refine((name) => !RESERVED_HEADERS.has(name.toLowerCase()), 'is a header that the gateway itself sets'),
  z.string().regex(HEADER_VALUE, 'must be one line of Latin-1 text'),
);

const provider = section({
  adapter: text.optional(),
  name: text.optional(),
  base_url: httpUrl.optional(),
  // Printable ASCII: whatever else stands in a key (a line break from a file) never reaches a header.
  api_key: z
    .string()
    .regex(/^[\x21-\x7e]+$/, 'must be printable ASCII without spaces')
    .optional(),
  // What stands here only its adapter knows: `read-file.ts` checks it against the adapter's own shape.
  options: z.preprocess((value) => value ?? {}, z.record(z.string(), z.unknown())),
  data_policy: optionalSection({ training: z.boolean().optional(), retention_days: z.number().min(0).optional() }),
  headers: z.preprocess((value) => value ?? {}, headers),
  timeouts: optionalSection(attemptTimeouts),
});

const BETA_FLAG_WORDS = 'must be a flag such as "files-api-2025-04-14", or the name of a feature';
/** How fast somebody may ask; what is left out has no bound. */
const requestRate = {
  requests_per_minute: z.int().min(1).max(RATE_MAX).optional(),
  requests_per_day: z.int().min(1).max(RATE_MAX).optional(),
};

const rateLimit = optionalSection({
  ...requestRate,
  tokens_per_minute: z.int().min(1).max(RATE_MAX).optional(),
  concurrent: z.int().min(1).max(CONCURRENT_MAX).optional(),
});

const betaFlag = z.string().regex(BETA_FLAG, BETA_FLAG_WORDS);

function listOf(flag: z.ZodString) {
  return z.preprocess((value) => value ?? [], z.array(flag).max(BETA_FLAGS_MAX));
}

/** One entry of `beta_flags`. */
const betaChanges = optionalSection({
  allow: listOf(z.string().regex(BETA_FLAG_OR_ALL, `${BETA_FLAG_WORDS}, or "*"`)),
  deny: listOf(betaFlag),
  rename: z.preprocess((value) => value ?? {}, z.record(betaFlag, betaFlag)),
});

/** Others may be sent too (decisions.md 8), but one that is almost a known one is a slip of the pen. */
const parameter = text.superRefine((value, context) => {
  const nearest = PARAMETERS.includes(value) ? undefined : nearestName(value, PARAMETERS);
  if (nearest !== undefined)
    context.addIssue({ code: 'custom', message: `unknown parameter "${value}"; did you mean "${nearest}"?` });
});

const dataPolicy = { training: z.boolean().optional(), retention_days: z.number().min(0).optional() };

const endpoint = section({
  provider: providerSlug,
  model: text,
  tag: z
    .string()
    .regex(TAG, 'must be a provider slug and a name of the endpoint\'s own, as in "alpha/turbo"')
    .optional(),
  service_tier: z.enum(['priority', 'flex']).optional(),
  data_policy: section(dataPolicy).optional(),
  price: section(priceShape).optional(),
  quantization: z.enum(QUANTIZATIONS).optional(),
  supported_parameters: z.array(parameter).optional(),
  assistant_prefill: z.boolean().optional(),
  context_length: tokens.optional(),
  max_completion_tokens: tokens.optional(),
  min_completion_tokens: tokens.optional(),
});

/** One entry of `models` that names a model. */
export const modelEntry = section({
  name: text.optional(),
  context_length: tokens.optional(),
  max_completion_tokens: tokens.optional(),
  input_modalities: z.array(z.enum(INPUT_MODALITIES)).min(1).optional(),
  output_modalities: z.array(z.enum(OUTPUT_MODALITIES)).min(1).optional(),
  distillable: z.boolean().optional(),
  scores: z.preprocess((value) => value ?? {}, z.record(z.string(), z.number().min(0).max(1))),
  endpoints: z.array(endpoint).min(1),
});

/** One entry of `models` that passes every name after its prefix through: `local/*`. */
export const passThroughEntry = section({ provider: providerSlug });

export function isModelSlug(key: string): boolean {
  return MODEL_SLUG.test(key);
}

export function isPassThroughKey(key: string): boolean {
  return PASS_THROUGH.test(key);
}

/** Names of the engines that the gateway can search with. */
export const SEARCH_ENGINES = ['exa', 'firecrawl', 'parallel', 'perplexity', 'tavily', 'brave', 'searxng'] as const;

// Printable ASCII: whatever else stands in a key (a line break from a file) never reaches a header.
const serviceKey = z.string().regex(/^[\x21-\x7e]+$/, 'must be printable ASCII without spaces');
const searchEngine = optionalSection({ api_key: serviceKey.optional(), base_url: httpUrl.optional() });

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

/** One place of a panel: a slug, or several of which the first that can be asked takes it. */
const fusionSlot = z.preprocess(
  (value) => (typeof value === 'string' ? [value] : value),
  z.array(modelName).min(1).max(ROUTER_MODELS_MAX),
);

/** What is left out of a preset is as usual. */
const fusionPreset = section({
  analysis_models: z.array(fusionSlot).min(1).max(PANEL_MODELS_MAX).optional(),
  model: fusionSlot.optional(),
});

export const configFile = section({
  server: optionalSection({
    host: text.optional(),
    port: z.int().min(0).max(65_535).optional(),
    max_body_mb: z.number().positive().max(BODY_MB_MAX).optional(),
    file_memory_mb: z.number().min(FILE_MEMORY_MB_MIN).max(FILE_MEMORY_MB_MAX).optional(),
    response_cache_mb: z.number().min(0).max(RESPONSE_CACHE_MB_MAX).optional(),
    drain_seconds: z.number().min(0).max(DRAIN_SECONDS_MAX).optional(),
    region: text.optional(),
  }),
  defaults: optionalSection({
    model: modelName.optional(),
    provider: optionalSection({
      order: slugs,
      only: slugs,
      ignore: slugs,
      sort: z.enum(SORTS).optional(),
      data_collection: z.enum(['allow', 'deny']).optional(),
      zdr: z.boolean().optional(),
    }),
  }),
  timeouts: optionalSection({ ...attemptTimeouts, total_ms: timeMs }),
  database_url: text.refine(isDatabaseUrl, DATABASE_URL_RULE).optional(),
  redis_url: text.refine(isRedisUrl, REDIS_URL_RULE).optional(),
  redis_prefix: text.refine(isRedisPrefix, REDIS_PREFIX_RULE).optional(),
  catalog: optionalSection({
    refresh: optionalSection({
      enabled: z.boolean().optional(),
      every_hours: z.number().min(1).max(REFRESH_HOURS_MAX).optional(),
      url: httpUrl.optional(),
      override_prices: z.boolean().optional(),
    }),
  }),
  rescue: optionalSection({ enabled: z.boolean().optional() }),
  search: optionalSection({
    engine: z.enum(SEARCH_ENGINES).optional(),
    exa: searchEngine,
    firecrawl: searchEngine,
    parallel: searchEngine,
    perplexity: searchEngine,
    tavily: searchEngine,
    brave: searchEngine,
    searxng: searchEngine,
  }),
  web_fetch: optionalSection({ private_addresses: z.boolean().optional() }),
  files: optionalSection({
    directory: text.optional(),
    workspace_quota_mb: z.number().min(0).max(FILE_QUOTA_MB_MAX).optional(),
  }),
  file_parser: optionalSection({
    mistral_ocr: optionalSection({
      api_key: serviceKey.optional(),
      base_url: httpUrl.optional(),
      model: text.optional(),
    }),
  }),
  guardrails: optionalSection({ allowed_phrases: allowedPhrases.optional() }),
  moderation: optionalSection({
    endpoint: optionalSection({ api_key: serviceKey.optional(), base_url: httpUrl.optional(), model: text.optional() }),
    judge: modelName.optional(),
  }),
  routers: optionalSection({
    classify_traffic: z.boolean().optional(),
    judge: optionalSection({
      models: z.array(modelName).min(1).max(ROUTER_MODELS_MAX).optional(),
      timeout_ms: z.int().min(1).max(JUDGE_TIMEOUT_MS_MAX).optional(),
    }),
    auto: optionalSection({
      judge: z.boolean().optional(),
      default_models: z.array(modelName).min(1).max(ROUTER_MODELS_MAX).optional(),
    }),
    switchyard: optionalSection({ efficient: modelName.optional(), capable: modelName.optional() }),
    fusion: optionalSection({
      presets: optionalSection({
        'general-high': fusionPreset.optional(),
        'general-budget': fusionPreset.optional(),
        'general-fast': fusionPreset.optional(),
      }),
    }),
  }),
  credits: optionalSection({ enforce: z.boolean().optional() }),
  mcp_servers: mcpServersSection(section(mcpServerShape(headers)).superRefine(checkTransport)),
  observability: optionalSection({
    content_retention_days: z.number().positive().max(RETENTION_DAYS_MAX).optional(),
    private_destinations: z.boolean().optional(),
  }),
  rate_limits: optionalSection({
    key: rateLimit,
    account: rateLimit,
    free: rateLimit,
    management: optionalSection(requestRate),
  }),
  providers: z.preprocess(
    (value) => value ?? {},
    z.record(
      providerSlug,
      z.preprocess((value) => value ?? {}, provider),
    ),
  ),
  beta_flags: z.preprocess((value) => value ?? {}, z.record(providerSlug, betaChanges)),
  // Entries are of two kinds, told apart by their key: `read-file.ts` checks each against its own shape.
  models: z.preprocess((value) => value ?? {}, z.record(z.string(), z.unknown())),
});

export type ConfigFile = z.output<typeof configFile>;
export type ProviderEntry = z.output<typeof provider>;
export type ModelEntry = z.output<typeof modelEntry>;
export type PassThroughEntry = z.output<typeof passThroughEntry>;
