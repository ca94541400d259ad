import { knownModels } from './built-in.ts';
import { authorFile, type PriceEntry, providerFile, scoresFile, sourcesFile } from './data-schema.ts';
import { endpointKey } from './endpoint-key.ts';
import { loadPriceLibrary, type PriceLibrary } from './price-library.ts';
import { readCatalogData, readRawCatalog, type CatalogData } from './read-data.ts';

/** What the catalog promises to hold. */
const AUTHORS_MIN = 12;
const MODELS_MIN = 120;
const PROVIDERS_MIN = 20;

/**
 * Everything that is wrong with the files below `data/`, a sentence each; empty when nothing is.
 * @param adapters ids of the providers that are built
 */
export async function findCatalogFaults(nowMs: number, adapters: readonly string[]): Promise<readonly string[]> {
  const shape = shapeFaults(readRawCatalog());
  if (shape.length > 0) return shape;
  return contentFaults(readCatalogData(), await loadPriceLibrary(nowMs), adapters);
}

/** What no schema can say: names, sources, prices, order and size. */
export function contentFaults(
  data: CatalogData,
  library: PriceLibrary,
  adapters: readonly string[],
): readonly string[] {
  return [
    ...sizeFaults(data),
    ...nameFaults(data, adapters),
    ...sourceFaults(data),
    ...priceFaults(data, library),
    ...orderFaults(data),
    ...scoreFaults(data),
  ];
}

/** Files that are not what their schema says. */
export function shapeFaults(files: ReadonlyMap<string, unknown>): readonly string[] {
  return [...files].flatMap(([path, value]) => {
    const schema = path.startsWith('authors/')
      ? authorFile
      : path.startsWith('providers/')
        ? providerFile
        : path === 'scores.json'
          ? scoresFile
          : sourcesFile;
    const result = schema.safeParse(value);
    if (!result.success)
      return result.error.issues.map((issue) => `${path}: ${issue.path.join('.')}: ${issue.message}`);
    const name = /^(?:authors|providers)\/(.+)\.json$/.exec(path)?.[1];
    const { author, slug }: { author?: unknown; slug?: unknown } = result.data;
    return name !== undefined && (author ?? slug) !== name ? [`${path}: holds another name`] : [];
  });
}

function sizeFaults({ authors, providers }: CatalogData): readonly string[] {
  const models = authors.flatMap((author) => author.models).length;
  const least = [
    ['authors', authors.length, AUTHORS_MIN],
    ['models', models, MODELS_MIN],
    ['providers', providers.length, PROVIDERS_MIN],
  ] as const;
  return least.flatMap(([what, count, min]) => (count < min ? [`only ${count} ${what}; ${min} are promised`] : []));
}

function nameFaults({ authors, providers }: CatalogData, adapters: readonly string[]): readonly string[] {
  const faults: string[] = [];
  const known = new Set(providers.map(({ slug }) => slug));
  for (const slug of known) if (!adapters.includes(slug)) faults.push(`providers/${slug}: no such provider is built`);
  const seen = new Set<string>();
  const permanent = new Set<string>();
  for (const { author, models } of authors) {
    for (const { slug, canonical_slug: canonical, endpoints } of models) {
      const name = `${author}/${slug}`;
      if (seen.has(name)) faults.push(`${name}: stands twice`);
      seen.add(name);
      if (canonical !== undefined && (permanent.has(canonical) || !canonical.startsWith(`${author}/`)))
        faults.push(`${name}: the canonical slug ${canonical} is another model's, or another author's`);
      if (canonical !== undefined) permanent.add(canonical);
      const own = new Set<string>();
      for (const { provider, model, service_tier: tier } of endpoints) {
        const endpoint = endpointKey({ provider, model, tier });
        if (!known.has(provider)) faults.push(`${name}: ${provider} has no file`);
        if (own.has(endpoint)) faults.push(`${name}: ${endpoint} stands twice`);
        own.add(endpoint);
      }
    }
  }
  for (const slug of permanent) if (seen.has(slug)) faults.push(`${slug}: is a slug and a canonical slug`);
  return faults;
}

function sourceFaults(data: CatalogData): readonly string[] {
  const faults: string[] = [];
  const must = (place: string, source: string | undefined): void => {
    if (source === undefined || !Object.hasOwn(data.sources, source))
      faults.push(`${place}: names no source of sources.json`);
  };
  for (const { author, models } of data.authors) {
    for (const model of models) {
      const place = `${author}/${model.slug}`;
      must(place, model.source);
      for (const [member, source] of Object.entries(model.sources ?? {})) {
        must(`${place}.${member}`, source);
        if (!Object.hasOwn(model, member)) faults.push(`${place}: sources.${member} is of nothing`);
      }
      for (const endpoint of model.endpoints) {
        must(`${place} at ${endpoint.provider}`, endpoint.source);
        if (endpoint.price !== undefined) must(`${place} at ${endpoint.provider}: price`, endpoint.price.source);
        for (const [member, source] of Object.entries(endpoint.sources ?? {})) {
          must(`${place} at ${endpoint.provider}.${member}`, source);
          if (!Object.hasOwn(endpoint, member))
            faults.push(`${place} at ${endpoint.provider}: sources.${member} is of nothing`);
        }
        if (endpoint.data_policy !== undefined)
          must(`${place} at ${endpoint.provider}: data_policy`, endpoint.data_policy.source);
      }
    }
  }
  for (const provider of data.providers) {
    must(`providers/${provider.slug}`, provider.source);
    for (const [member, source] of Object.entries(provider.sources ?? {}))
      must(`providers/${provider.slug}.${member}`, source);
    if (Object.keys(provider.data_policy).length > 0)
      must(`providers/${provider.slug}.data_policy`, provider.data_policy.source);
  }
  for (const [slug, rows] of Object.entries(data.scores)) for (const row of rows) must(`scores of ${slug}`, row.source);
  return faults;
}

function isPlausible({ prompt, completion }: { readonly prompt: number; readonly completion: number }): boolean {
  return completion > 0 && prompt <= completion * 4;
}

/** What makes no text is paid by other units, one of them at least. */
function costsSomething({ images, video, video_request: clips, ...price }: PriceEntry): boolean {
  const rates: readonly unknown[] = [
    ...Object.values(price),
    ...Object.values(video ?? {}),
    ...Object.values(clips ?? {}),
  ];
  return (images ?? []).length > 0 || rates.some((rate) => typeof rate === 'number' && rate > 0);
}

/**
 * An unchecked price must at least be plausible: aggregators and subscription plans list zeros and swapped columns. An
 * output below a quarter of the input's price is one of those.
 */
function priceFaults(data: CatalogData, library: PriceLibrary): readonly string[] {
  const faults: string[] = [];
  for (const { author, models } of data.authors) {
    for (const { slug, endpoints, output_modalities: outputs } of models) {
      const writes = outputs.includes('text');
      for (const { provider, price_ref: reference, price } of endpoints) {
        const place = `${author}/${slug} at ${provider}`;
        if (reference !== undefined && library(reference) === undefined)
          faults.push(`${place}: the price library has no price ${reference.provider} ${reference.model}`);
        if (price !== undefined && (writes ? price.prompt <= 0 || !isPlausible(price) : !costsSomething(price)))
          faults.push(`${place}: a price of ${price.prompt} and ${price.completion} is not a list price`);
      }
    }
  }
  for (const { facts, endpoints } of knownModels(data, library))
    for (const { provider, facts: endpoint } of endpoints)
      for (const rate of Object.values(endpoint.price ?? {}))
        if (typeof rate === 'number' && !Number.isSafeInteger(rate))
          faults.push(`${facts.slug} at ${provider}: a rate is no exact integer of 1e-12 USD`);
  return faults;
}

/** The newest of a family is the first: it is what `~author/family-latest` means. */
function orderFaults({ authors }: CatalogData): readonly string[] {
  const faults: string[] = [];
  for (const { author, models } of authors) {
    const lastOf = new Map<string, { readonly slug: string; readonly released: string }>();
    for (const { slug, family, released } of models) {
      if (family === undefined || released === undefined) continue;
      const last = lastOf.get(family);
      // A month is as early and as late as its days.
      if (last !== undefined && released.slice(0, 7) > last.released.slice(0, 7))
        faults.push(`${author}/${slug}: is newer than ${last.slug}, which stands before it in its family`);
      lastOf.set(family, { slug, released });
    }
  }
  return faults;
}

function scoreFaults({ authors, scores }: CatalogData): readonly string[] {
  const slugs = new Set(authors.flatMap(({ author, models }) => models.map(({ slug }) => `${author}/${slug}`)));
  return Object.keys(scores).flatMap((slug) => (slugs.has(slug) ? [] : [`scores of ${slug}: there is no such model`]));
}
