import { addScores, NO_OWN_SCORES, type OwnScores } from '../../catalog/add-scores.ts';
import { createCatalog, type PassThrough } from '../../catalog/catalog.ts';
import type { FormatId } from '../../canonical/extra.ts';
import type { KnownEndpoint, KnownModel } from '../../catalog/built-in.ts';
import { FREE, priceTableOf } from '../../catalog/price.ts';
import { endpointKey } from '../../catalog/endpoint-key.ts';
import type { Catalog, Endpoint, Model } from '../../catalog/model.ts';
import type { Config, ModelConfig } from '../../config/config.ts';
import type { MediaFacts } from '../../config/media-facts.ts';
import { OPERATION_KINDS, type OperationKind } from '../../canonical/operation.ts';
import { offerOf, type KindOffer, type Provider } from '../../providers/contract.ts';
import { formatsOf, toolFormatsOf } from '../../providers/build-provider.ts';
import { missingKey } from '../../providers/index.ts';

/**
 * The catalog that configuration, built-in models and known providers add up to; the configuration comes first.
 * @param known what the project's own files know
 * @param found models of local servers, by the provider's slug
 * @param own scores of the operator's own
 */
export function catalogFromConfig(
  config: Pick<Config, 'models' | 'passThrough' | 'providers'>,
  providers: ReadonlyMap<string, Provider>,
  builtIn: readonly Model[],
  known: readonly KnownModel[] = [],
  found: ReadonlyMap<string, readonly string[]> = new Map(),
  own: OwnScores = NO_OWN_SCORES,
): Catalog {
  const index = indexOf(known);
  const place = createPlace(config, providers, index);
  const configured = config.models.map((model) => modelFrom(model, place, index.models.get(model.slug)));
  const named = new Set(configured.map(({ slug }) => slug));
  const served = known
    .filter(({ facts }) => !named.has(facts.slug))
    .map((model) => servedModel(model, place, providers))
    .filter(({ endpoints }) => endpoints.length > 0);
  const passThrough: PassThrough[] = config.passThrough.map(({ prefix, provider, reasoningHistory }) => ({
    prefix,
    endpoint: (name, slug) => ({
      ...place(slug, provider, name),
      ...(reasoningHistory !== undefined && { reasoningHistory }),
      price: FREE,
    }),
  }));
  const free = new Set(builtIn.flatMap(({ endpoints }) => endpoints.map(({ provider }) => provider)));
  // `openai/gpt-x` reaches the provider of that slug under the upstream's own name.
  for (const slug of providers.keys()) {
    passThrough.push({
      prefix: `${slug}/`,
      endpoint: (name, full) => {
        const endpoint = place(full, slug, name);
        return free.has(slug) ? { ...endpoint, price: FREE } : endpoint;
      },
    });
  }
  const models = [...configured, ...served, ...builtIn.filter(({ slug }) => !named.has(slug))];
  return createCatalog(addScores([...models, ...foundModels(found, place, models)], own), passThrough);
}

/** Models that order texts, and models that make vectors, as engines name them. */
const RERANKERS = /rerank/i;
const EMBEDDERS = /embed|\bbge-|minilm/i;

/**
 * Models of engines on this machine are free (README, "Configure"). They are listed under the provider's slug and their
 * own name, since it is unknown which public model they are.
 */
function foundModels(
  found: ReadonlyMap<string, readonly string[]>,
  place: Place,
  others: readonly Model[],
): readonly Model[] {
  const named = new Set(others.map(({ slug }) => slug));
  return [...found].flatMap(([provider, names]) =>
    names
      .map((name) => ({ slug: `${provider}/${name}`, name }))
      .filter(({ slug }) => !named.has(slug))
      .map(({ slug, name }) => ({
        slug,
        name,
        // A router must not choose what says nothing.
        ...modalitiesOf(name),
        endpoints: [{ ...place(slug, provider, name), price: FREE }],
      })),
  );
}

function modalitiesOf(name: string): Pick<Model, 'outputModalities'> {
  if (RERANKERS.test(name)) return { outputModalities: ['rerank'] };
  return EMBEDDERS.test(name) ? { outputModalities: ['embeddings'] } : {};
}

/** The slugs of providers that exist, have any credentials, and are the vendor that the project's files mean by that slug. */
export function usableVendors(providers: ReadonlyMap<string, Provider>): ReadonlySet<string> {
  return new Set([...providers].filter(([slug, provider]) => isVendor(slug, provider)).map(([slug]) => slug));
}

function isVendor(slug: string, provider: Provider): boolean {
  return provider.adapter.id === slug && (missingKey(provider).length === 0 || provider.hasByokCredentials === true);
}

interface KnownIndex {
  readonly models: ReadonlyMap<string, KnownModel>;
  /** By provider and the upstream's own name. */
  readonly endpoints: ReadonlyMap<string, KnownEndpoint>;
}

function indexOf(known: readonly KnownModel[]): KnownIndex {
  return {
    models: new Map(known.map((model) => [model.facts.slug, model])),
    endpoints: new Map(
      known.flatMap(({ endpoints }) =>
        endpoints.map((endpoint) => {
          const { provider, upstreamModel: model, facts } = endpoint;
          return [endpointKey({ provider, model, tier: facts.serviceTier }), endpoint] as const;
        }),
      ),
    ),
  };
}

/** What is known of an upstream model at a provider: by the provider itself, and by the project's files. */
function createPlace(
  config: Pick<Config, 'providers'>,
  providers: ReadonlyMap<string, Provider>,
  index: KnownIndex,
): Place {
  const entries = new Map(config.providers.map((entry) => [entry.slug, entry]));
  return (slug, provider, upstreamModel, tier) => {
    const there = providers.get(provider);
    const reasoningHistory = entries.get(provider)?.reasoningHistory;
    const takes = there && parametersOf(there, upstreamModel);
    const toolFormats = there && toolFormatsOf(there, upstreamModel);
    const searchFormat = there && searchFormatOf(there, upstreamModel);
    const keyVariables = there === undefined ? [] : missingKey(there);
    const isKnownVendor = there !== undefined && isVendor(provider, there);
    const facts = isKnownVendor ? factsOf(index, provider, upstreamModel, tier) : undefined;
    const listed = facts?.supportedParameters;
    const parameters = listed === undefined || takes === undefined ? (listed ?? takes) : listed.intersection(takes);
    return {
      price: undefined,
      ...facts,
      model: slug,
      provider,
      providerName: there?.settings.name ?? provider,
      upstreamModel,
      dataPolicy: { ...facts?.dataPolicy, ...entries.get(provider)?.dataPolicy },
      ...(reasoningHistory !== undefined && { reasoningHistory }),
      ...((there === undefined || keyVariables.length > 0) && { lacksCredentials: true }),
      ...(keyVariables.length > 0 && { keyVariables }),
      ...(there !== undefined && offersAt(there, upstreamModel, facts)),
      formats: there === undefined ? ['chat'] : formatsOf(there, upstreamModel),
      ...(toolFormats !== undefined && { toolFormats }),
      nativeTools: there !== undefined && runsNativeTools(there, upstreamModel),
      ...(there !== undefined && takesOpenTools(there, upstreamModel) && { openTools: true }),
      ...(searchFormat !== undefined && { searchFormat }),
      cancellable: there?.adapter.cancellable ?? false,
      ...(parameters !== undefined && { supportedParameters: parameters }),
    };
  };
}

/** What the provider serves besides generations. What is known of the model says more than what is known of its host. */
function offersAt(
  provider: Provider,
  model: string,
  facts: Partial<Endpoint> | undefined,
): Pick<Endpoint, 'offers' | 'embeddings' | 'rerank' | 'image' | 'transcription' | 'speech' | 'video'> {
  const found = OPERATION_KINDS.flatMap((kind) => offerOf(provider, kind, model) ?? []);
  if (found.length === 0) return {};
  const of = (kind: OperationKind): KindOffer | undefined => found.find((offer) => offer.kind === kind);
  const [vectors, ordering] = [of('embeddings'), of('rerank')];
  const [painting, hearing, speaking, filming] = [of('image'), of('stt'), of('tts'), of('video')];
  return {
    offers: Object.fromEntries(found.map(({ kind, format }) => [kind, format])),
    ...(vectors && { embeddings: { ...vectors.facts, ...facts?.embeddings } }),
    ...(ordering && { rerank: { ...ordering.rerank, ...facts?.rerank } }),
    ...(painting && { image: { ...painting.image, ...facts?.image } }),
    ...(hearing && { transcription: { ...hearing.transcription, ...facts?.transcription } }),
    ...(speaking && { speech: { ...speaking.speech, ...facts?.speech } }),
    ...(filming && { video: { ...filming.video, ...facts?.video } }),
  };
}

/** An undocumented tier is the same model at an unknown price. */
function factsOf(
  { endpoints }: KnownIndex,
  provider: string,
  model: string,
  tier: string | undefined,
): Partial<Endpoint> | undefined {
  const exact = endpoints.get(endpointKey({ provider, model, tier }));
  const standard = exact ?? endpoints.get(endpointKey({ provider, model }));
  return exact === undefined && standard !== undefined ? { ...standard.facts, price: undefined } : standard?.facts;
}

/** A known model at those of its providers that are available. */
function servedModel({ facts, endpoints }: KnownModel, place: Place, providers: ReadonlyMap<string, Provider>): Model {
  const usable = endpoints.filter(({ provider }) => {
    const there = providers.get(provider);
    return there !== undefined && isVendor(provider, there);
  });
  return {
    ...facts,
    endpoints: withTiersApart(
      usable.map(({ provider, upstreamModel, facts: { serviceTier } }) =>
        place(facts.slug, provider, upstreamModel, serviceTier),
      ),
    ),
  };
}

function runsNativeTools(provider: Provider, model: string): boolean {
  return formatsOf(provider, model).some(
    (format) => format === 'messages' && provider.adapter.dialect({ format, model }).vendor === true,
  );
}

function takesOpenTools(provider: Provider, model: string): boolean {
  return formatsOf(provider, model).some(
    (format) => format === 'responses' && provider.adapter.dialect({ format, model }).openTools === true,
  );
}

/** In the words of its dialects: a tool of the upstream's own that no caller of another format can name. */
function searchFormatOf(provider: Provider, model: string): FormatId | undefined {
  return formatsOf(provider, model).find((format) => {
    const { webSearchTool, gemini } = provider.adapter.dialect({ format, model });
    return (format === 'responses' && webSearchTool === true) || (format === 'gemini' && gemini?.searchTool === true);
  });
}

/** What the vendor itself takes: a list of the operator's own says more. */
function parametersOf(provider: Provider, model: string): ReadonlySet<string> | undefined {
  const [format] = formatsOf(provider, model);
  return format && provider.adapter.dialect({ format, model }).parameters;
}

/** @param tier of an endpoint whose capacity has a price of its own */
type Place = (slug: string, provider: string, upstreamModel: string, tier?: string) => Endpoint;

/** A tier is served by the endpoint of that tier, and no other of the same upstream model. */
function withTiersApart(endpoints: readonly Endpoint[]): readonly Endpoint[] {
  if (endpoints.every(({ serviceTier }) => serviceTier === undefined)) return endpoints;
  return endpoints.map((endpoint) => {
    const { provider, upstreamModel: model, serviceTier } = endpoint;
    const siblings = endpoints.filter((other) => other.provider === provider && other.upstreamModel === model);
    if (serviceTier !== undefined) {
      const standardPrice = siblings.find((other) => other.serviceTier === undefined)?.price;
      const tag = endpoint.tag ?? `${provider}/${serviceTier}`;
      return { ...endpoint, tag, ...(standardPrice !== undefined && { standardPrice }) };
    }
    const tiers = siblings.flatMap((sibling) => sibling.serviceTier ?? []);
    return tiers.length === 0 ? endpoint : { ...endpoint, tiersApart: new Set(tiers) };
  });
}

/** What the operator knows of an endpoint that makes no text, over what its provider and the project's files say. */
function factsOver(placed: Endpoint, own: MediaFacts): MediaFacts {
  return {
    ...(own.embeddings !== undefined && { embeddings: { ...placed.embeddings, ...own.embeddings } }),
    ...(own.rerank !== undefined && { rerank: { ...placed.rerank, ...own.rerank } }),
    ...(own.image !== undefined && { image: { ...placed.image, ...own.image } }),
    ...(own.transcription !== undefined && { transcription: { ...placed.transcription, ...own.transcription } }),
    ...(own.speech !== undefined && { speech: { ...placed.speech, ...own.speech } }),
    ...(own.video !== undefined && { video: { ...placed.video, ...own.video } }),
  };
}

/** The operator's word over the project's, member by member; the list of endpoints is the operator's alone. */
function modelFrom(model: ModelConfig, place: Place, known: KnownModel | undefined): Model {
  const { contextLength, maxCompletionTokens, inputModalities, outputModalities, distillable, scores } = model;
  const own = Object.entries(scores).map(([metric, score]) => ({ metric, score }));
  return {
    ...known?.facts,
    slug: model.slug,
    name: model.name === model.slug ? (known?.facts.name ?? model.name) : model.name,
    ...(contextLength !== undefined && { contextTokensMax: contextLength }),
    ...(maxCompletionTokens !== undefined && { outputTokensMax: maxCompletionTokens }),
    ...(inputModalities !== undefined && { inputModalities }),
    ...(outputModalities !== undefined && { outputModalities }),
    scores: [...own, ...(known?.facts.scores ?? [])],
    ...(model.fallbacks !== undefined && { fallbacks: model.fallbacks }),
    endpoints: withTiersApart(
      model.endpoints.map((endpoint) => {
        const placed = place(model.slug, endpoint.provider, endpoint.model, endpoint.serviceTier);
        const context = endpoint.contextLength ?? contextLength;
        const output = endpoint.maxCompletionTokens ?? maxCompletionTokens;
        const reasoningHistory = endpoint.reasoningHistory ?? model.reasoningHistory;
        return {
          ...placed,
          ...(endpoint.price !== undefined && { price: priceTableOf(endpoint.price) }),
          ...(context !== undefined && { contextTokensMax: context }),
          ...(output !== undefined && { outputTokensMax: output }),
          ...(endpoint.minCompletionTokens !== undefined && { outputTokensMin: endpoint.minCompletionTokens }),
          ...(inputModalities !== undefined && { inputModalities }),
          ...(outputModalities !== undefined && { outputModalities }),
          ...(endpoint.assistantPrefill !== undefined && { continuesResponses: endpoint.assistantPrefill }),
          ...(reasoningHistory !== undefined && { reasoningHistory }),
          ...(endpoint.tag !== undefined && { tag: endpoint.tag }),
          ...(endpoint.serviceTier !== undefined && { serviceTier: endpoint.serviceTier }),
          ...(endpoint.dataPolicy !== undefined && { dataPolicy: { ...placed.dataPolicy, ...endpoint.dataPolicy } }),
          ...(distillable !== undefined && { distillable }),
          ...(endpoint.quantization !== undefined && { quantization: endpoint.quantization }),
          ...(endpoint.supportedParameters !== undefined && {
            supportedParameters: new Set(endpoint.supportedParameters),
          }),
          ...factsOver(placed, endpoint),
        };
      }),
    ),
  };
}
