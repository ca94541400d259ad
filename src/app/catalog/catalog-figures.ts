import type { KnownEndpoint } from '../../catalog/built-in.ts';
import type { EndpointEntry, ModelEntry } from '../../catalog/data-schema.ts';
import { endpointKey } from '../../catalog/endpoint-key.ts';
import { listPriceOf } from '../../catalog/list-price.ts';
import type { ListPrice } from '../../catalog/price.ts';
import { priceEntryOf, type RefreshedEndpoint } from '../../catalog/refreshed.ts';
import type { EndpointConfig, ModelConfig } from '../../config/config.ts';
import type { CatalogLayers } from './catalog-layers.ts';

export type Layer = 'library' | 'list' | 'project' | 'configuration';

/** One fact, and why it is believed. */
export interface Figure {
  readonly member: string;
  readonly value: unknown;
  readonly layer: Layer;
  readonly source: string;
  /** When the source said so; absent: it is the operator's word. */
  readonly date?: string;
}

export interface EndpointFigures {
  readonly provider: string;
  readonly model: string;
  /** The provider is set up and has credentials. */
  readonly usable: boolean;
  readonly figures: readonly Figure[];
}

export interface ModelFigures {
  readonly slug: string;
  /** No person of the project has reviewed its facts. */
  readonly unreviewed: boolean;
  readonly figures: readonly Figure[];
  readonly endpoints: readonly EndpointFigures[];
}

/** What is known of a model, fact by fact, each by the layer that has the last word on it. `undefined`: nothing is. */
export function figuresOf(slug: string, layers: CatalogLayers): ModelFigures | undefined {
  const config = layers.config.models.find((model) => model.slug === slug);
  const entry = findEntry(slug, layers);
  const known = layers.known.find(({ facts }) => facts.slug === slug);
  if (config === undefined && known === undefined) return undefined;
  const endpoints =
    config?.endpoints.map((endpoint) => ({ ...endpoint, tier: endpoint.serviceTier, endpoint })) ??
    known?.endpoints.map(({ provider, upstreamModel: model, facts }) => ({
      provider,
      model,
      tier: facts.serviceTier,
      endpoint: undefined,
    })) ??
    [];
  const rows = known?.endpoints.flatMap(
    ({ provider, upstreamModel: model }) => findRow({ provider, model }, layers) ?? [],
  );
  return {
    slug,
    unreviewed: known?.facts.unreviewed === true && config === undefined,
    figures: [...modelFigures(config, entry, rows?.[0], layers), ...scoreFigures(slug, config, layers)],
    endpoints: endpoints.map(({ provider, model, tier, endpoint }) => ({
      provider,
      model,
      usable: layers.usable.has(provider),
      figures: endpointFigures({ provider, model, tier }, endpoint, config, layers),
    })),
  };
}

/** A member with what each layer says of it. */
type MemberFacts = readonly [member: string, configuration: unknown, project: unknown, list: unknown];

function modelFigures(
  config: ModelConfig | undefined,
  entry: ModelEntry | undefined,
  row: RefreshedEndpoint | undefined,
  layers: CatalogLayers,
): readonly Figure[] {
  const named = config?.name === config?.slug ? undefined : config?.name;
  const facts: readonly MemberFacts[] = [
    ['name', named, entry?.name, row?.name],
    ['canonical_slug', undefined, entry?.canonical_slug, undefined],
    ['family', undefined, entry?.family, undefined],
    ['released', undefined, entry?.released, row?.released],
    ['knowledge_cutoff', undefined, entry?.knowledge_cutoff, row?.knowledge_cutoff],
    ['expiration_date', undefined, entry?.expiration_date, undefined],
    ['tokenizer', undefined, entry?.tokenizer, undefined],
    ['input_modalities', config?.inputModalities, entry?.input_modalities, row?.input_modalities],
    ['output_modalities', config?.outputModalities, entry?.output_modalities, row?.output_modalities],
    ['context_length', config?.contextLength, entry?.context_length, row?.context_length],
    ['max_completion_tokens', config?.maxCompletionTokens, entry?.max_completion_tokens, row?.max_completion_tokens],
    ['supported_parameters', undefined, entry?.supported_parameters, undefined],
    ['reasoning', undefined, entry?.reasoning, undefined],
    ['distillable', config?.distillable, entry?.distillable, undefined],
    ['hugging_face_id', undefined, entry?.hugging_face_id, undefined],
  ];
  return facts.flatMap((one) => pick(one, entry, layers));
}

function scoreFigures(slug: string, config: ModelConfig | undefined, layers: CatalogLayers): readonly Figure[] {
  const own = Object.entries(config?.scores ?? {}).map(([metric, score]) =>
    byOperator(`scores.${metric}`, score, layers),
  );
  const project = (layers.data.scores[slug] ?? []).map(({ metric, score, variant, source, date }): Figure => {
    const place = bySource(source, layers);
    const member = `scores.${metric}${variant === undefined ? '' : ` (${variant})`}`;
    return { member, value: score, layer: 'project', source: place.source, date };
  });
  return [...own, ...project];
}

interface EndpointName {
  readonly provider: string;
  readonly model: string;
  readonly tier: string | undefined;
}

function endpointFigures(
  name: EndpointName,
  own: EndpointConfig | undefined,
  config: ModelConfig | undefined,
  layers: CatalogLayers,
): readonly Figure[] {
  const entry = findEndpointEntry(name, layers);
  const row = name.tier === undefined ? findRow(name, layers) : undefined;
  const provider = layers.config.providers.find(({ slug }) => slug === name.provider)?.dataPolicy;
  const policy = { ...provider, ...own?.dataPolicy };
  const context = own?.contextLength ?? config?.contextLength;
  const output = own?.maxCompletionTokens ?? config?.maxCompletionTokens;
  const facts: readonly MemberFacts[] = [
    ['context_length', context, entry?.context_length, row?.context_length],
    ['max_completion_tokens', output, entry?.max_completion_tokens, row?.max_completion_tokens],
    ['min_completion_tokens', own?.minCompletionTokens, entry?.min_completion_tokens, undefined],
    ['supported_parameters', own?.supportedParameters, entry?.supported_parameters, undefined],
    ['quantization', own?.quantization, entry?.quantization, undefined],
    ['tag', own?.tag, entry?.tag, undefined],
    ['service_tier', own?.serviceTier, entry?.service_tier, undefined],
  ];
  return [
    ...priceFigures(name, own, entry, row, layers),
    ...facts.flatMap((one) => pick(one, entry, layers)),
    ...policyFigures(name.provider, policy, entry, layers),
  ];
}

function policyFigures(
  provider: string,
  configured: { readonly training?: boolean; readonly retentionDays?: number },
  entry: EndpointEntry | undefined,
  layers: CatalogLayers,
): readonly Figure[] {
  const project = entry?.data_policy ?? layers.data.providers.find(({ slug }) => slug === provider)?.data_policy ?? {};
  const source = project.source === undefined ? undefined : { source: project.source };
  const facts: readonly MemberFacts[] = [
    ['data_policy.training', configured.training, project.training, undefined],
    ['data_policy.retention_days', configured.retentionDays, project.retention_days, undefined],
  ];
  return facts.flatMap((one) => pick(one, source, layers));
}

/** The whole price comes from one layer. */
function priceFigures(
  name: EndpointName,
  own: EndpointConfig | undefined,
  entry: EndpointEntry | undefined,
  row: RefreshedEndpoint | undefined,
  layers: CatalogLayers,
): readonly Figure[] {
  if (own?.price !== undefined) return formatPrice(own.price, (member, value) => byOperator(member, value, layers));
  const isLists = priceIn(name, layers.known) !== priceIn(name, layers.own);
  if (isLists && row?.price !== undefined)
    return formatPrice(listPriceOf(priceEntryOf(row.price, '')), (member, value) => byList(member, value, layers));
  if (entry?.price !== undefined) {
    const place = bySource(entry.price.source, layers);
    return formatPrice(listPriceOf(entry.price), (member, value) => ({ member, value, layer: 'project', ...place }));
  }
  const { price_ref: reference } = entry ?? {};
  const listed = reference && layers.library(reference);
  if (reference === undefined || listed === undefined) return [];
  const { source, date } = bySource(LIBRARY, layers);
  const place = {
    source: `${source}, row ${reference.provider} ${reference.model}`,
    ...(date !== undefined && { date }),
  };
  return formatPrice(listed, (member, value) => ({ member, value, layer: 'library', ...place }));
}

/** Its entry in `sources.json`. */
const LIBRARY = 'genai-prices';

function formatPrice(
  { overrides = [], ...rates }: ListPrice,
  figure: (member: string, value: unknown) => Figure,
): readonly Figure[] {
  const format = (place: string, of: object): readonly Figure[] =>
    Object.entries(of).map(([rate, value]) => figure(`${place}.${wordOf(rate)}`, value));
  return [
    ...format('price', rates),
    ...overrides.flatMap(({ rates: changed, minPromptTokens, utcStart, utcEnd }) => {
      const size = minPromptTokens === undefined ? [] : [`over ${minPromptTokens} tokens`];
      const hours = utcStart === undefined || utcEnd === undefined ? [] : [`from ${utcStart} to ${utcEnd} UTC`];
      return format(`price (${[...size, ...hours].join(', ')})`, changed);
    }),
  ];
}

/** As the files and the configuration spell it. */
function wordOf(rate: string): string {
  return rate.replaceAll(/[A-Z]|1h/g, (part) => `_${part.toLowerCase()}`);
}

function pick(
  [member, configuration, project, list]: MemberFacts,
  entry: { readonly source: string; readonly sources?: Readonly<Record<string, string>> | undefined } | undefined,
  layers: CatalogLayers,
): readonly Figure[] {
  if (configuration !== undefined) return [byOperator(member, configuration, layers)];
  if (project !== undefined && entry !== undefined)
    return [{ member, value: project, layer: 'project', ...bySource(entry.sources?.[member] ?? entry.source, layers) }];
  return list === undefined ? [] : [byList(member, list, layers)];
}

function byOperator(member: string, value: unknown, { config }: CatalogLayers): Figure {
  return { member, value, layer: 'configuration', source: config.path ?? 'the environment' };
}

function byList(member: string, value: unknown, { list }: CatalogLayers): Figure {
  const date = list?.fetched.slice(0, 10);
  return { member, value, layer: 'list', source: list?.source ?? '', ...(date !== undefined && { date }) };
}

const COMMIT_CHARS = 7;

function bySource(name: string, { data }: CatalogLayers): Pick<Figure, 'source' | 'date'> {
  const entry = data.sources[name];
  if (entry === undefined) return { source: name };
  const { repository, package: packageName, page, version, date } = entry;
  const short = /^[0-9a-f]{40}$/.test(version) ? version.slice(0, COMMIT_CHARS) : version;
  return { source: `${repository ?? packageName ?? page ?? name} ${short}`, date };
}

function findEntry(slug: string, { data }: CatalogLayers): ModelEntry | undefined {
  for (const { author, models } of data.authors)
    for (const model of models) if (`${author}/${model.slug}` === slug) return model;
  return undefined;
}

function findEndpointEntry(
  { provider, model, tier }: EndpointName,
  { data }: CatalogLayers,
): EndpointEntry | undefined {
  for (const author of data.authors)
    for (const { endpoints } of author.models)
      for (const entry of endpoints)
        if (entry.provider === provider && entry.model === model && entry.service_tier === tier) return entry;
  return undefined;
}

function findRow(
  name: { readonly provider: string; readonly model: string },
  { list }: CatalogLayers,
): RefreshedEndpoint | undefined {
  const key = endpointKey(name);
  return list?.endpoints.find((row) => endpointKey(row) === key);
}

function priceIn(
  { provider, model, tier }: EndpointName,
  known: CatalogLayers['known'],
): KnownEndpoint['facts']['price'] {
  for (const { endpoints } of known)
    for (const { provider: other, upstreamModel, facts } of endpoints)
      if (other === provider && upstreamModel === model && facts.serviceTier === tier) return facts.price;
  return undefined;
}
