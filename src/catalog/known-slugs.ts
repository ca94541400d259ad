import { readCatalogData } from './read-data.ts';

/** A model of the project's own files, whether or not a provider serves it here. */
export interface KnownSlug {
  readonly slug: string;
  readonly canonicalSlug?: string;
  readonly endpoints: readonly { readonly provider: string; readonly upstreamModel: string }[];
}

let slugs: readonly KnownSlug[] | undefined;

/** Read when a request first names a model that is not here, and kept. */
export function knownSlugs(): readonly KnownSlug[] {
  return (slugs ??= readCatalogData().authors.flatMap(({ author, models }) =>
    models.map(({ slug, canonical_slug: canonicalSlug, endpoints }) => ({
      slug: `${author}/${slug}`,
      ...(canonicalSlug !== undefined && { canonicalSlug }),
      endpoints: endpoints.map(({ provider, model }) => ({ provider, upstreamModel: model })),
    })),
  ));
}
