import { knownSlugs } from '../../catalog/known-slugs.ts';
import type { MissingProvider } from '../../catalog/model.ts';
import type { Provider } from '../../providers/contract.ts';
import { missingKey, turnsOn } from '../../providers/index.ts';

/** Of many hosts of one model, the first are enough to turn it on. */
const SHOWN_MAX = 4;

/**
 * Providers that would serve a slug if the gateway had credentials for them: those that the project's files list for
 * the model, its author's own first, and the one that the slug begins with. Empty: none is known.
 */
export function missingProvidersOf(slug: string, providers: ReadonlyMap<string, Provider>): readonly MissingProvider[] {
  const author = slug.slice(0, slug.indexOf('/'));
  const model = knownSlugs().find((known) => known.slug === slug || known.canonicalSlug === slug);
  const hosts = new Set([author, ...(model?.endpoints ?? []).map(({ provider }) => provider)]);
  return [...hosts]
    .filter((id) => !hasCredentials(providers.get(id)))
    .flatMap((id) => turnsOn(id) ?? [])
    .slice(0, SHOWN_MAX);
}

function hasCredentials(provider: Provider | undefined): boolean {
  return provider !== undefined && missingKey(provider).length === 0;
}

/** Slugs of those with credentials, or that need none. */
export function providersThatAreOn(providers: ReadonlyMap<string, Provider>): readonly string[] {
  return [...providers].filter(([, provider]) => hasCredentials(provider)).map(([slug]) => slug);
}
