import { z } from 'zod';
import { nearestName } from '../../lib/text/nearest-name.ts';
import { priceShape } from '../endpoint-price.ts';
import { key, requiredKey, type KeyFacts } from './key.ts';
import { mediaFacts } from './media-facts.ts';
import {
  attemptTimeouts,
  credential,
  headers,
  httpUrl,
  modelName,
  optionalSection,
  providerSlug,
  section,
  text,
  tokens,
} from './parts.ts';

/* What stands under `providers`, `models` and `beta_flags`. */

/** In one list. The vendor has had some sixty in three years. */
const BETA_FLAGS_MAX = 500;

/** @spec route-12 */
const QUANTIZATIONS = 'int4 int8 fp4 mxfp4 nvfp4 fp6 fp8 mxfp8 fp16 bf16 fp32 unknown'.split(' ');
/** @spec catalog-2 */
const INPUT_MODALITIES = ['text', 'image', 'file', 'audio', 'video'];
const OUTPUT_MODALITIES = [
  'text',
  'image',
  'embeddings',
  'audio',
  'video',
  'rerank',
  'speech',
  'transcription',
  'decisions',
];
/** @spec catalog-2: the 26 values of Parameter */
const PARAMETERS = (
  'temperature top_p top_k min_p top_a frequency_penalty presence_penalty repetition_penalty max_tokens ' +
  'max_completion_tokens logit_bias logprobs top_logprobs prediction seed response_format structured_outputs stop ' +
  'tools tool_choice parallel_tool_calls include_reasoning reasoning reasoning_effort web_search_options verbosity'
).split(' ');
const TAG = /^[a-z0-9][a-z0-9._-]*(?:\/[a-z0-9][a-z0-9._-]*){1,2}$/;
/** `:free`, `:extended` and `:thinking` are endpoints of their own; other suffixes are computed. @spec model-12 */
const MODEL_SLUG = /^[a-z0-9][\w.-]*\/[a-z0-9][\w.-]*(?::(?:free|extended|thinking))?$/i;
const PASS_THROUGH = /^[a-z0-9][\w.-]*\/\*$/i;
const BETA_FLAG = /^[a-z0-9][a-z0-9._-]{0,99}$/;
const BETA_FLAG_OR_ALL = /^(?:\*|[a-z0-9][a-z0-9._-]{0,99})$/;

const dataPolicy = {
  training: key(z.boolean(), 'Whether it trains models on prompts.', {
    usual: 'what the catalog knows',
    example: false,
  }),
  retention_days: key(z.number().min(0), 'How long it stores prompts; 0: not at all.', {
    usual: 'what the catalog knows',
    example: 30,
  }),
};

/** Tries at one endpoint beside the first. */
export const SAME_ENDPOINT_MAX = 2;
const RETRY_WAIT_MS_MAX = 60_000;

export function retrySection(tries: KeyFacts, wait: KeyFacts) {
  return optionalSection(
    {
      same_endpoint: key(z.int().min(0).max(SAME_ENDPOINT_MAX), 'Further tries at the same endpoint.', tries),
      wait_max_ms: key(
        z.int().min(0).max(RETRY_WAIT_MS_MAX),
        'The longest `Retry-After` that a retry waits for.',
        wait,
      ),
    },
    'Retries at the same endpoint before the next candidate: docs/fallback.md.',
  );
}

const reasoningHistory = z.enum(['none', 'reasoning_content', 'reasoning', 'think_tags']);

export const provider = section({
  adapter: key(text, 'How the provider is called; docs/providers.md lists the adapters.', {
    usual: 'the slug, where it is a known provider',
    example: 'vllm',
  }),
  name: key(text, 'Its name in the field `provider` of responses.', { usual: "the adapter's", example: 'Alpha' }),
  base_url: key(httpUrl, 'Its address, with or without `/v1`.', {
    usual: "the adapter's",
    example: 'https://api.alpha.example/v1',
  }),
  api_key: key(credential, "Its credential. A key from the environment is sent only to the vendor's address.", {
    usual: "the provider's variable in the environment",
    example: '${ALPHA_API_KEY}',
  }),
  // What stands here only its adapter knows: `read-file.ts` checks it against the adapter's own shape.
  options: z
    .preprocess((value) => value ?? {}, z.record(z.string(), z.unknown()))
    .meta({ description: 'Options of its adapter: docs/providers.md lists them.', default: {} }),
  data_policy: optionalSection(
    dataPolicy,
    'What the provider does with the data that it receives. Requests may require a policy.',
  ),
  headers: z
    .preprocess((value) => value ?? {}, headers)
    .meta({ description: 'Headers of every request to it.', default: {}, example: { 'x-team': 'search' } }),
  trace_context: key(
    z.boolean(),
    'Sends `traceparent` and `tracestate`, so that a host of your own joins the traces that destinations receive. Not with credentials of callers.',
    { default: false, example: true },
  ),
  reasoning_history: key(
    reasoningHistory,
    'The field in which reasoning of earlier turns is sent to a host of the chat format.',
    {
      usual: 'what the adapter knows',
      example: 'reasoning_content',
    },
  ),
  timeouts: optionalSection(attemptTimeouts(), 'Time limits for this provider, in place of the general ones.'),
  retry: retrySection({ usual: 'that of `retry`', example: 1 }, { usual: 'that of `retry`', example: 5_000 }),
});

const BETA_FLAG_WORDS = 'must be a flag such as "files-api-2025-04-14", or the name of a feature';
const betaFlag = z.string().regex(BETA_FLAG, BETA_FLAG_WORDS);

function listOf(flag: z.ZodString) {
  return z.preprocess((value) => value ?? [], z.array(flag).max(BETA_FLAGS_MAX));
}

/** One entry of `beta_flags`. */
export const betaChanges = optionalSection(
  {
    allow: listOf(z.string().regex(BETA_FLAG_OR_ALL, `${BETA_FLAG_WORDS}, or "*"`)).meta({
      description: 'Further flags that it accepts: a feature with any date, a flag with its date, or `*` for all.',
      default: [],
      example: ['brand-new-feature'],
    }),
    deny: listOf(betaFlag).meta({ description: 'Flags that it does not accept.', default: [], example: ['effort'] }),
    rename: z
      .preprocess((value) => value ?? {}, z.record(betaFlag, betaFlag))
      .meta({
        description: 'Flags that it knows by another name.',
        default: {},
        example: { 'advanced-tool-use-2025-11-20': 'tool-search-tool-2025-10-19' },
      }),
  },
  'Changes for one provider.',
);

/** Others may be sent too (@spec route-20), but one that is almost a known one is a slip of the pen. */
const parameter = text.superRefine((value, context) => {
  const nearest = PARAMETERS.includes(value) ? undefined : nearestName(value, PARAMETERS);
  if (nearest !== undefined)
    context.addIssue({ code: 'custom', message: `unknown parameter "${value}"; did you mean "${nearest}"?` });
});

const endpoint = section({
  provider: requiredKey(providerSlug, 'The slug of a provider: an entry of `providers`, or a known one.', {
    example: 'alpha',
  }),
  model: requiredKey(text, "The provider's own name of the model.", { example: 'one-2026' }),
  tag: key(
    z.string().regex(TAG, 'must be a provider slug and a name of the endpoint\'s own, as in "alpha/turbo"'),
    'The name of this endpoint in routing preferences, in addition to its provider.',
    { usual: 'none', example: 'alpha/turbo' },
  ),
  service_tier: key(z.enum(['priority', 'flex']), 'Capacity with a price of its own, requested with every request.', {
    usual: 'the ordinary one',
    example: 'flex',
  }),
  data_policy: key(section(dataPolicy), "In place of the provider's, field by field."),
  price: key(section(priceShape), 'In USD per million tokens, unless a key says otherwise.', {
    usual: 'what the catalog knows',
  }),
  quantization: key(z.enum(QUANTIZATIONS), 'The precision of its weights.', { usual: 'unknown', example: 'fp8' }),
  supported_parameters: key(z.array(parameter), 'Parameters that it accepts; others are left out, with a warning.', {
    usual: 'what its format takes',
    example: ['temperature', 'tools'],
  }),
  assistant_prefill: key(z.boolean(), 'Whether the model continues a last message of the assistant.', {
    usual: 'what the adapter knows',
    example: true,
  }),
  reasoning_history: key(
    reasoningHistory,
    'The field in which reasoning of earlier turns is sent to a host of the chat format.',
    {
      usual: "the model's",
      example: 'reasoning_content',
    },
  ),
  context_length: key(tokens, 'Tokens of prompt and completion together.', { usual: "the model's", example: 128_000 }),
  max_completion_tokens: key(tokens, 'The longest completion.', { usual: "the model's", example: 16_384 }),
  min_completion_tokens: key(tokens, 'The smallest `max_tokens` that it accepts; smaller values are raised to it.', {
    usual: 'none',
    example: 16,
  }),
  ...mediaFacts,
});

/** As many as a request may name. */
export const FALLBACKS_MAX = 10;
const FROM_CATALOG = { usual: 'what the catalog knows' } as const;

/** One entry of `models` that names a model. */
export const modelEntry = section({
  name: key(text, 'Its name in lists.', { usual: "the catalog's, else the slug", example: 'Acme One' }),
  context_length: key(tokens, 'Tokens of prompt and completion together.', { ...FROM_CATALOG, example: 128_000 }),
  max_completion_tokens: key(tokens, 'The longest completion.', { ...FROM_CATALOG, example: 16_384 }),
  input_modalities: key(z.array(z.enum(INPUT_MODALITIES)).min(1), 'What it reads.', {
    ...FROM_CATALOG,
    example: ['text', 'image'],
  }),
  output_modalities: key(z.array(z.enum(OUTPUT_MODALITIES)).min(1), 'What it writes.', {
    ...FROM_CATALOG,
    example: ['text'],
  }),
  distillable: key(z.boolean(), 'Whether other models may be trained on its responses.', {
    ...FROM_CATALOG,
    example: true,
  }),
  reasoning_history: key(
    reasoningHistory,
    'The field in which reasoning of earlier turns is sent to a host of the chat format.',
    {
      usual: "the provider's",
      example: 'reasoning_content',
    },
  ),
  scores: z
    .preprocess((value) => value ?? {}, z.record(z.string(), z.number().min(0).max(1)))
    .meta({
      description: 'Results of tests, 0 to 1: routers rank by them.',
      ...FROM_CATALOG,
      example: { coding: 0.7 },
    }),
  fallbacks: key(
    z.array(modelName).min(1).max(FALLBACKS_MAX),
    'Models to try, in this order, once its endpoints have failed, for requests that name this model alone. Not for embeddings, media and rerank.',
    { usual: 'none', example: ['acme/two'] },
  ),
  endpoints: requiredKey(z.array(endpoint).min(1), 'Its endpoints, in the order in which they are tried by default.'),
});

/** One entry of `models` that passes every name after its prefix through: `local/*`. */
export const passThroughEntry = section({
  provider: requiredKey(providerSlug, 'Everything after the slash is the name of the model at this provider.', {
    example: 'ollama',
  }),
  reasoning_history: key(
    reasoningHistory,
    'The field in which reasoning of earlier turns is sent to a host of the chat format.',
    {
      usual: "the provider's",
      example: 'reasoning_content',
    },
  ),
});

export function isModelSlug(name: string): boolean {
  return MODEL_SLUG.test(name);
}

export function isPassThroughKey(name: string): boolean {
  return PASS_THROUGH.test(name);
}

export type ProviderEntry = z.output<typeof provider>;
export type ModelEntry = z.output<typeof modelEntry>;
export type PassThroughEntry = z.output<typeof passThroughEntry>;
