import { createLruCache } from '../lib/cache/lru-cache.ts';
import type { Catalog, DynamicVariant, Endpoint, Model, Resolution } from './model.ts';

/** Every name below a prefix is an upstream's own name of a model there. @source README.md, "Configure" */
export interface PassThrough {
  /** Ends in `/`. */
  readonly prefix: string;
  readonly endpoint: (name: string, slug: string) => Endpoint;
}

/** Bound on remembered pass-through models, so that the same slug gives the same object. */
const PASS_THROUGH_MODELS_MAX = 1_000;
const DYNAMIC_VARIANTS: readonly DynamicVariant[] = ['nitro', 'floor', 'exacto', 'online', 'thinking'];

export function createCatalog(models: readonly Model[], passThrough: readonly PassThrough[]): Catalog {
  const bySlug = indexOf(models);
  const newest = newestOfFamilies(models);
  const passed = createLruCache<string, Model>(PASS_THROUGH_MODELS_MAX);

  function passOn(slug: string): Model | undefined {
    const known = passed.get(slug);
    if (known !== undefined) return known;
    const rule = passThrough.find(({ prefix }) => slug.startsWith(prefix) && slug.length > prefix.length);
    if (rule === undefined) return undefined;
    const model: Model = { slug, name: slug, endpoints: [rule.endpoint(slug.slice(rule.prefix.length), slug)] };
    passed.set(slug, model);
    return model;
  }

  function named(slug: string): Omit<Resolution, 'variants'> | undefined {
    const model = bySlug.get(slug);
    if (model !== undefined) return { model };
    const alias = slug.startsWith('~') ? newest.get(slug) : undefined;
    return alias && { model: alias, alias: slug };
  }

  /** A name with suffixes of which every one is known; several may stack. */
  function varied(slug: string): Resolution | undefined {
    const variants: DynamicVariant[] = [];
    let rest = slug;
    for (;;) {
      const colon = rest.lastIndexOf(':');
      const variant = DYNAMIC_VARIANTS.find((name) => name === rest.slice(colon + 1));
      if (colon < 0 || variant === undefined) return undefined;
      variants.unshift(variant);
      rest = rest.slice(0, colon);
      const found = named(rest);
      if (found !== undefined) return { ...found, variants };
    }
  }

  /** A suffix on a name of the catalog is never part of an upstream's own name. @spec model-17 */
  function isSuffixed(slug: string): boolean {
    const colon = slug.indexOf(':', slug.indexOf('/'));
    return colon >= 0 && named(slug.slice(0, colon)) !== undefined;
  }

  return {
    find: (slug) => named(slug)?.model ?? (isSuffixed(slug) ? undefined : passOn(slug)),
    list: () => models,
    resolve(slug) {
      const found = named(slug);
      if (found !== undefined) return { ...found, variants: [] };
      const variant = varied(slug);
      if (variant !== undefined) return variant;
      const passedOn = isSuffixed(slug) ? undefined : passOn(slug);
      return passedOn && { model: passedOn, variants: [] };
    },
  };
}

/** Slugs win over the permanent names of others. */
function indexOf(models: readonly Model[]): ReadonlyMap<string, Model> {
  const index = new Map<string, Model>();
  for (const model of models) if (model.canonicalSlug !== undefined) index.set(model.canonicalSlug, model);
  for (const model of models) index.set(model.slug, model);
  return index;
}

/**
 * `~author/family-latest` to the model that it means: the first of its family that the gateway has a credential for, else
 * the first, for which a caller may have one of its own.
 */
function newestOfFamilies(models: readonly Model[]): ReadonlyMap<string, Model> {
  const newest = new Map<string, Model>();
  const isServed = ({ endpoints }: Model): boolean => !endpoints.every(({ lacksCredentials }) => lacksCredentials);
  for (const model of [...models.filter(isServed), ...models.filter((each) => !isServed(each))]) {
    if (model.family === undefined) continue;
    const alias = `~${model.slug.slice(0, model.slug.indexOf('/'))}/${model.family}-latest`;
    if (!newest.has(alias)) newest.set(alias, model);
  }
  return newest;
}
