import type { EndpointEntry, ModelEntry, ProviderFile } from './data-schema.ts';
import { given, kindFactsOf } from './kind-facts.ts';
import { listPriceOf } from './list-price.ts';
import type { Endpoint, Model, Score } from './model.ts';
import type { PriceLibrary } from './price-library.ts';
import { priceTableOf } from './price.ts';
import type { CatalogData } from './read-data.ts';

/** What the project knows of one model at one provider, whether that provider is there or not. */
export interface KnownEndpoint {
  readonly provider: string;
  readonly upstreamModel: string;
  readonly facts: Partial<Endpoint>;
}

/** What the project knows of one model. */
export interface KnownModel {
  readonly facts: Omit<Model, 'endpoints'>;
  readonly endpoints: readonly KnownEndpoint[];
}

/** Every model of the project's own files, authors by name, in a family the newest first. Prices are looked up here, once. */
export function knownModels(data: CatalogData, library: PriceLibrary): readonly KnownModel[] {
  const providers = new Map(data.providers.map((provider) => [provider.slug, provider]));
  return data.authors.flatMap(({ author, models }) =>
    models.map((entry) => {
      const slug = `${author}/${entry.slug}`;
      const facts = factsOf(slug, entry, data.scores[slug] ?? []);
      return {
        facts,
        endpoints: entry.endpoints.map((endpoint) =>
          knownEndpoint(entry, endpoint, library, providers.get(endpoint.provider)),
        ),
      };
    }),
  );
}

function factsOf(slug: string, entry: ModelEntry, scores: readonly Score[]): Omit<Model, 'endpoints'> {
  const { mandatory, supported_efforts: efforts, supports_max_tokens: budget } = entry.reasoning ?? {};
  return {
    slug,
    name: entry.name,
    tokenizer: entry.tokenizer,
    inputModalities: entry.input_modalities,
    outputModalities: entry.output_modalities,
    scores,
    ...given('canonicalSlug', entry.canonical_slug),
    ...given('family', entry.family),
    ...given('released', entry.released),
    ...given('knowledgeCutoff', entry.knowledge_cutoff),
    ...given('expirationDate', entry.expiration_date),
    ...given('contextTokensMax', entry.context_length),
    ...given('outputTokensMax', entry.max_completion_tokens),
    ...given('supportedParameters', entry.supported_parameters),
    ...given('huggingFaceId', entry.hugging_face_id),
    ...(entry.reasoning !== undefined && {
      reasoning: {
        ...given('mandatory', mandatory),
        ...given('supportedEfforts', efforts),
        ...given('supportsMaxTokens', budget),
      },
    }),
  };
}

function knownEndpoint(
  model: ModelEntry,
  entry: EndpointEntry,
  library: PriceLibrary,
  provider: ProviderFile | undefined,
): KnownEndpoint {
  const { price_ref: reference, price } = entry;
  const listed = price === undefined ? reference && library(reference) : listPriceOf(price);
  const parameters = entry.supported_parameters ?? model.supported_parameters;
  const policy = entry.data_policy ?? provider?.data_policy;
  return {
    provider: entry.provider,
    upstreamModel: entry.model,
    facts: {
      inputModalities: inputsOf(model),
      outputModalities: model.output_modalities,
      ...given('price', listed && priceTableOf({ ...given('webSearch', provider?.web_search), ...listed })),
      ...given('contextTokensMax', entry.context_length ?? model.context_length),
      ...given('outputTokensMax', entry.max_completion_tokens ?? model.max_completion_tokens),
      ...given('outputTokensMin', entry.min_completion_tokens),
      ...given('supportedParameters', parameters && new Set(parameters)),
      ...kindFactsOf(entry),
      ...given('quantization', entry.quantization),
      ...given('tag', entry.tag),
      ...given('serviceTier', entry.service_tier),
      ...given('distillable', model.distillable),
      ...(policy !== undefined && {
        dataPolicy: { ...given('training', policy.training), ...given('retentionDays', policy.retention_days) },
      }),
    },
  };
}

/** An unknown modality is not excluded. */
function inputsOf({ input_modalities: listed, input_modalities_complete: complete }: ModelEntry): readonly string[] {
  return complete === false ? [...new Set([...listed, 'file', 'audio', 'video'])] : listed;
}
