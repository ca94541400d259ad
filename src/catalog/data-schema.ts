import { z } from 'zod';
import { IMAGE_BACKGROUNDS, IMAGE_OUTPUT_FORMATS, IMAGE_QUALITIES, IMAGE_TIERS } from '../canonical/image.ts';
import { SPEECH_FORMATS } from '../canonical/speech.ts';
import { TRANSCRIPT_FORMATS } from '../canonical/transcription.ts';

/*
 * The files below `data/`: one an author, one a provider, the scores, and the sources that the others name. They
 * contain only facts with a source. An absent fact is unknown. `npm run catalog:check` validates the files; the gateway
 * does not validate them again.
 */

export const TOKENS_MAX = 100_000_000;
/** At this price nine million tokens still fit an exact integer of 1e-12 USD. */
export const PRICE_USD_MAX = 1_000;

const text = z.string().min(1);
const tokens = z.int().min(1).max(TOKENS_MAX);
const usd = z.number().min(0).max(PRICE_USD_MAX);
const slug = z.string().regex(/^[a-z0-9][a-z0-9._-]*$/, 'must be a-z, 0-9, ".", "_" and "-"');
const day = z.iso.date();
/** A day, or the month where only that is known. */
const date = z.string().regex(/^20\d\d-(?:0[1-9]|1[0-2])(?:-(?:0[1-9]|[12]\d|3[01]))?$/, 'must be a day or a month');
/** An entry of `sources.json`. */
const source = text;
/** The day on which a person read the vendor's own page. Null: not yet. */
const checked = day.nullable();
const country = z.string().regex(/^[A-Z]{2}$/, 'must be an ISO country code');

const rates = {
  prompt: usd.optional(),
  completion: usd.optional(),
  cache_read: usd.optional(),
  cache_write: usd.optional(),
  cache_write_1h: usd.optional(),
  reasoning: usd.optional(),
  audio: usd.optional(),
  audio_output: usd.optional(),
  image_output: usd.optional(),
  image: usd.optional(),
  web_search: usd.optional(),
  request: usd.optional(),
  image_token: usd.optional(),
  search_unit: usd.optional(),
  character: usd.optional(),
  second: usd.optional(),
  output_second: usd.optional(),
};

const variantPrices = z.record(z.string().regex(/^(?:\*|[a-z0-9_]+)$/), usd);

const timeOfDay = z.int().min(0).max(2_359);

/** USD per million tokens or characters; all else USD each. */
const priceEntry = z.strictObject({
  ...rates,
  prompt: usd,
  completion: usd,
  overrides: z
    .array(
      z.strictObject({
        ...rates,
        min_prompt_tokens: tokens.optional(),
        utc_start: timeOfDay.optional(),
        utc_end: timeOfDay.optional(),
      }),
    )
    .optional(),
  images: z
    .array(
      z.strictObject({
        billable: z.enum(['output_image', 'input_image', 'input_text']),
        unit: z.enum(['image', 'megapixel', 'token']),
        cost_usd: usd,
        variant: text.optional(),
      }),
    )
    .optional(),
  video: variantPrices.optional(),
  video_request: variantPrices.optional(),
  source,
});

/** A row of the price library, by its exact id there. */
const priceReference = z.strictObject({ provider: text, model: text });

/** @spec route-12 */
const QUANTIZATIONS = [
  'int4',
  'int8',
  'fp4',
  'mxfp4',
  'nvfp4',
  'fp6',
  'fp8',
  'mxfp8',
  'fp16',
  'bf16',
  'fp32',
  'unknown',
];
const quantization = z.enum(QUANTIZATIONS);
/** @spec catalog-2 */
const PARAMETERS = (
  'temperature top_p top_k min_p top_a frequency_penalty presence_penalty repetition_penalty max_tokens max_completion_tokens logit_bias logprobs top_logprobs prediction ' +
  'seed response_format structured_outputs stop tools tool_choice parallel_tool_calls include_reasoning reasoning reasoning_effort web_search_options verbosity'
).split(' ');
const parameters = z.array(z.enum(PARAMETERS));
const dataPolicy = z.strictObject({
  training: z.boolean().optional(),
  retention_days: z.number().min(0).optional(),
  source: source.optional(),
});

/** What is known of vectors. Absent: unknown, which excludes nothing. */
const embeddingsFacts = z.strictObject({
  dimensions: z
    .strictObject({
      default: tokens,
      min: tokens.optional(),
      max: tokens.optional(),
      values: z.array(tokens).min(1).optional(),
    })
    .optional(),
  max_inputs: tokens.optional(),
  max_input_tokens: tokens.optional(),
  max_request_tokens: tokens.optional(),
  encodings: z
    .array(z.enum(['float', 'base64']))
    .min(1)
    .optional(),
  token_arrays: z.boolean().optional(),
});

const seconds = z.number().positive();

/** What is known of models that hear, and of models that speak. Absent: unknown, which excludes nothing. */
const transcriptionFacts = z.strictObject({
  formats: z.array(z.enum(TRANSCRIPT_FORMATS)).min(1).optional(),
  granularities: z.array(z.enum(['word', 'segment'])).optional(),
  max_bytes: tokens.optional(),
  max_seconds: seconds.optional(),
  min_seconds: seconds.optional(),
  streaming: z.boolean().optional(),
  translates: z.boolean().optional(),
});
const speechFacts = z.strictObject({
  voices: z.array(text).min(1).optional(),
  default_voice: text.optional(),
  formats: z.array(z.enum(SPEECH_FORMATS)).min(1).optional(),
  sample_rate: tokens.optional(),
  max_characters: tokens.optional(),
  speed: z.strictObject({ min: seconds, max: seconds }).optional(),
  instructions: z.boolean().optional(),
});

const rerankFacts = z.strictObject({
  max_documents: tokens.optional(),
  pointwise: z.boolean().optional(),
  images: z.boolean().optional(),
});
const imageFacts = z.strictObject({
  n_max: tokens.optional(),
  sizes: z.array(z.string().regex(/^\d{2,5}x\d{2,5}$/)).optional(),
  resolutions: z.array(z.enum(IMAGE_TIERS)).optional(),
  aspect_ratios: z.array(text).optional(),
  qualities: z.array(z.enum(IMAGE_QUALITIES)).optional(),
  output_formats: z.array(z.enum(IMAGE_OUTPUT_FORMATS)).optional(),
  backgrounds: z.array(z.enum(IMAGE_BACKGROUNDS)).optional(),
  references_max: z.int().min(0).optional(),
  mask: z.boolean().optional(),
  seed: z.boolean().optional(),
  streaming: z.boolean().optional(),
  tokens_per_image: tokens.optional(),
});
const videoFacts = z.strictObject({
  durations: z.array(tokens).min(1).optional(),
  resolutions: z.array(text).min(1).optional(),
  aspect_ratios: z.array(text).min(1).optional(),
  sizes: z.array(text).min(1).optional(),
  frames: z.array(z.enum(['first_frame', 'last_frame'])).optional(),
  references: z.array(z.enum(['image', 'audio', 'video'])).optional(),
  generate_audio: z.boolean().optional(),
  seed: z.boolean().optional(),
  default_duration_s: tokens.optional(),
  default_resolution: text.optional(),
});

const endpointEntry = z
  .strictObject({
    provider: slug,
    /** The upstream's own name. */
    model: text,
    price_ref: priceReference.optional(),
    price: priceEntry.optional(),
    context_length: tokens.optional(),
    max_completion_tokens: tokens.optional(),
    min_completion_tokens: tokens.optional(),
    supported_parameters: parameters.optional(),
    embeddings: embeddingsFacts.optional(),
    transcription: transcriptionFacts.optional(),
    speech: speechFacts.optional(),
    rerank: rerankFacts.optional(),
    image: imageFacts.optional(),
    video: videoFacts.optional(),
    quantization: quantization.optional(),
    /** The provider's slug with the endpoint's own variant: `deepinfra/turbo`. */
    tag: text.optional(),
    service_tier: z.enum(['priority', 'flex']).optional(),
    data_policy: dataPolicy.optional(),
    source,
    /** Of single members, where they come from elsewhere. */
    sources: z.record(z.string(), source).optional(),
  })
  .refine(({ price, price_ref: reference }) => price === undefined || reference === undefined, {
    message: 'has both a price and a reference to one',
  });

/** @spec catalog-2, `@openrouter/sdk` 1.3.19, `ModelGroup` */
const TOKENIZERS = [
  'GPT',
  'Claude',
  'Gemini',
  'Gemma',
  'Grok',
  'Cohere',
  'Nova',
  'Qwen',
  'Qwen3',
  'DeepSeek',
  'Mistral',
  'Llama3',
  'Llama4',
  'Other',
];

const modelEntry = z.strictObject({
  slug,
  canonical_slug: text.optional(),
  name: text,
  family: slug.optional(),
  released: date.optional(),
  knowledge_cutoff: date.optional(),
  expiration_date: date.optional(),
  tokenizer: z.enum(TOKENIZERS),
  input_modalities: z.array(z.enum(['text', 'image', 'file', 'audio', 'video'])).min(1),
  /** False: the source says no more than whether the model reads pictures. */
  input_modalities_complete: z.literal(false).optional(),
  output_modalities: z
    .array(z.enum(['text', 'image', 'audio', 'video', 'embeddings', 'rerank', 'speech', 'transcription', 'decisions']))
    .min(1),
  context_length: tokens.optional(),
  max_completion_tokens: tokens.optional(),
  supported_parameters: parameters.optional(),
  reasoning: z
    .strictObject({
      mandatory: z.boolean().optional(),
      supported_efforts: z.array(z.enum(['max', 'xhigh', 'high', 'medium', 'low', 'minimal', 'none'])).optional(),
      supports_max_tokens: z.boolean().optional(),
    })
    .optional(),
  open_weights: z.boolean().optional(),
  /** Its author permits training on what it wrote. */
  distillable: z.boolean().optional(),
  hugging_face_id: text.optional(),
  source,
  /** Of single members, where they come from elsewhere. */
  sources: z.record(z.string(), source).optional(),
  checked,
  endpoints: z.array(endpointEntry).min(1),
});

export const authorFile = z.strictObject({
  author: slug,
  name: text,
  /** In a family the newest first: it is what `~author/family-latest` means. */
  models: z.array(modelEntry).min(1),
});

export const providerFile = z.strictObject({
  slug,
  name: text,
  documentation_url: z.url().optional(),
  pricing_urls: z.array(z.url()).optional(),
  headquarters: country.nullable(),
  datacenters: z.array(country).nullable(),
  privacy_policy_url: z.url().nullable(),
  terms_of_service_url: z.url().nullable(),
  status_page_url: z.url().nullable(),
  /** What the public list calls it, where its rows may be read: aggregators list prices of others there. */
  models_dev: text.optional(),
  /** USD, for each search of the web that one of its models makes itself, where the model's own price says nothing of it. */
  web_search: usd.optional(),
  data_policy: dataPolicy,
  source,
  sources: z.record(z.string(), source).optional(),
  checked,
});

/** By the model's slug. */
export const scoresFile = z.record(
  z.string(),
  z.array(
    z.strictObject({
      metric: z.string().regex(/^[a-z0-9.-]+\/[a-z0-9_.-]+$/),
      score: z.number().min(0).max(1),
      variant: text.optional(),
      date: day,
      source,
    }),
  ),
);

export const sourcesFile = z.record(
  z.string(),
  z
    .strictObject({
      repository: text.optional(),
      package: text.optional(),
      /** A vendor's own page, from a copy that was stored. */
      page: z.url().optional(),
      version: text,
      date: day,
      files: text,
    })
    .refine(
      ({ repository, package: name, page }) => [repository, name, page].filter((one) => one !== undefined).length === 1,
      { message: 'is either a repository, a package or a page' },
    ),
);

export type AuthorFile = z.output<typeof authorFile>;
export type ModelEntry = AuthorFile['models'][number];
export type EndpointEntry = ModelEntry['endpoints'][number];
export type ProviderFile = z.output<typeof providerFile>;
export type ScoresFile = z.output<typeof scoresFile>;
export type SourcesFile = z.output<typeof sourcesFile>;
export type PriceEntry = z.output<typeof priceEntry>;
