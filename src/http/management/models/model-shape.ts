import { z } from 'zod';
import type { Endpoint, Model } from '../../../catalog/model.ts';
import { abilityOf, bestScores } from '../../../catalog/scores.ts';
import { serializePricing, pricingSchema } from './pricing.ts';

const count = z.int().nullable();
const text = z.string().nullable();
const factor = z.number().nullable().optional();

export const architectureSchema = z
  .strictObject({
    modality: text,
    input_modalities: z.array(z.string()),
    output_modalities: z.array(z.string()),
    tokenizer: z.string(),
    instruct_type: text,
  })
  .meta({ id: 'ModelArchitecture' });

/** @spec catalog-1; `@openrouter/sdk` 1.3.19, `Model` */
export const modelSchema = z
  .strictObject({
    id: z.string(),
    canonical_slug: z.string(),
    name: z.string(),
    created: z.int().describe('Unix seconds. 0: unknown.'),
    description: z.string(),
    context_length: count,
    architecture: architectureSchema,
    pricing: pricingSchema.describe('Of the first endpoint whose price is known.'),
    top_provider: z.strictObject({
      context_length: count,
      max_completion_tokens: count,
      is_moderated: z.boolean(),
    }),
    per_request_limits: z.null(),
    supported_parameters: z.array(z.string()),
    default_parameters: z
      .strictObject({
        temperature: factor,
        top_p: factor,
        top_k: factor,
        frequency_penalty: factor,
        presence_penalty: factor,
        repetition_penalty: factor,
      })
      .nullable(),
    reasoning: z
      .strictObject({
        mandatory: z.boolean(),
        supported_efforts: z.array(z.string()).nullable().optional(),
        supports_max_tokens: z.boolean().optional(),
      })
      .optional(),
    supported_voices: z.array(z.string()).nullable(),
    knowledge_cutoff: text,
    expiration_date: text,
    hugging_face_id: text,
    alias_target: z.strictObject({ slug: z.string(), name: z.string() }).optional(),
    benchmarks: z
      .strictObject({
        design_arena: z.array(z.never()).describe('Nothing is known of it here.'),
        indexes: z.strictObject({
          intelligence: z.number().nullable(),
          coding: z.number().nullable(),
          agentic: z.number().nullable(),
        }),
        scores: z.array(
          z.strictObject({
            metric: z.string(),
            score: z.number(),
            variant: z.string().optional(),
            source: z.string().optional(),
            date: z.string().optional(),
          }),
        ),
      })
      .optional()
      .describe('Scores from 0 to 1; they compare inside one metric only.'),
    links: z.strictObject({ details: z.string() }),
  })
  .meta({ id: 'Model' });

export type SerializedModel = z.output<typeof modelSchema>;

/** The serialized models. Everything but the alias is always the same, so each model is serialized once. */
const serialized = new WeakMap<Model, SerializedModel>();

export function serializeModel(model: Model): SerializedModel {
  const known = serialized.get(model);
  if (known !== undefined) return known;
  const made = makeModel(model);
  serialized.set(model, made);
  return made;
}

function makeModel(model: Model): SerializedModel {
  const { slug, reasoning, endpoints } = model;
  const [top] = endpoints;
  return {
    id: slug,
    canonical_slug: model.canonicalSlug ?? slug,
    name: model.name,
    created: createdOf(model),
    description: model.description ?? describe(model),
    context_length: contextOf(model) ?? null,
    architecture: serializeArchitecture(model),
    pricing: serializePricing(priceOf(model)),
    top_provider: {
      context_length: top?.contextTokensMax ?? null,
      max_completion_tokens: top?.outputTokensMax ?? null,
      is_moderated: false,
    },
    per_request_limits: null,
    supported_parameters: [...parametersOf(model)],
    default_parameters: null,
    ...(reasoning !== undefined && {
      reasoning: {
        mandatory: reasoning.mandatory ?? false,
        ...(reasoning.supportedEfforts !== undefined && { supported_efforts: [...reasoning.supportedEfforts] }),
        ...(reasoning.supportsMaxTokens !== undefined && { supports_max_tokens: reasoning.supportsMaxTokens }),
      },
    }),
    supported_voices: null,
    knowledge_cutoff: model.knowledgeCutoff ?? null,
    expiration_date: model.expirationDate ?? null,
    hugging_face_id: model.huggingFaceId ?? null,
    ...(model.scores !== undefined && model.scores.length > 0 && { benchmarks: serializeBenchmarks(model) }),
    links: { details: `/v1/models/${slug}/endpoints` },
  };
}

function serializeBenchmarks(model: Model): NonNullable<SerializedModel['benchmarks']> {
  return {
    design_arena: [],
    indexes: {
      intelligence: abilityOf(model, 'intelligence') ?? null,
      coding: abilityOf(model, 'coding') ?? null,
      agentic: abilityOf(model, 'agentic') ?? null,
    },
    scores: bestScores(model).map(({ variant, own: _own, ...score }) => ({
      ...score,
      ...(variant !== undefined && { variant }),
    })),
  };
}

export function serializeArchitecture(model: Model): z.output<typeof architectureSchema> {
  const [inputs, outputs] = [inputsOf(model), outputsOf(model)];
  return {
    modality: `${inputs.join('+')}->${outputs.join('+')}`,
    input_modalities: [...inputs],
    output_modalities: [...outputs],
    tokenizer: model.tokenizer ?? 'Other',
    instruct_type: null,
  };
}

/** Unix seconds; 0 where the date is unknown. */
export function createdOf({ released }: Model): number {
  return released === undefined ? 0 : Date.parse(released) / 1_000;
}

export function inputsOf(model: Model): readonly string[] {
  return model.inputModalities ?? model.endpoints[0]?.inputModalities ?? ['text'];
}

export function outputsOf(model: Model): readonly string[] {
  return model.outputModalities ?? model.endpoints[0]?.outputModalities ?? ['text'];
}

export function contextOf(model: Model): number | undefined {
  return model.contextTokensMax ?? model.endpoints[0]?.contextTokensMax;
}

/** Finds the price of the first endpoint that has one. */
export function priceOf(model: Model): Endpoint['price'] {
  return model.endpoints.find(({ price }) => price !== undefined)?.price;
}

/** The parameters of every endpoint without a list of its own. @spec route-20 */
const EVERY_FORMAT: readonly string[] = (
  'max_tokens max_completion_tokens temperature top_p stop seed frequency_penalty presence_penalty tools tool_choice ' +
  'parallel_tool_calls response_format structured_outputs'
).split(' ');
const REASONING: readonly string[] = ['reasoning', 'reasoning_effort', 'include_reasoning'];

/** The model's own list, else what its endpoints support together. */
export function parametersOf(model: Model): ReadonlySet<string> {
  if (model.supportedParameters !== undefined) return new Set(model.supportedParameters);
  const all = new Set<string>();
  for (const endpoint of model.endpoints) for (const name of endpointParameters(endpoint, model)) all.add(name);
  return all;
}

export function endpointParameters({ supportedParameters }: Endpoint, model: Model): ReadonlySet<string> {
  return supportedParameters ?? new Set(model.reasoning === undefined ? EVERY_FORMAT : [...EVERY_FORMAT, ...REASONING]);
}

/** Writes a sentence from facts, rather than repeating an advertisement. */
function describe(model: Model): string {
  const context = contextOf(model);
  const names = [...new Set(model.endpoints.map(({ providerName }) => providerName))].join(', ');
  const reads = context === undefined ? '' : `, up to ${context.toLocaleString('en-US')} tokens`;
  const review = model.unreviewed === true ? ' Facts from a public list, not reviewed.' : '';
  return `${model.name}: reads ${inputsOf(model).join(', ')}${reads}; served by ${names}.${review}`;
}
