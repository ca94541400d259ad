import { setBounded } from '../lib/bounded-map.ts';
import type { Catalog, Endpoint, Model } from './model.ts';

/** Every name below a prefix is an upstream's own name of a model there. @source README.md, "Configure" */
export interface PassThrough {
  /** Ends in `/`. */
  readonly prefix: string;
  readonly endpoint: (name: string, slug: string) => Endpoint;
}

/** Bound on remembered pass-through models, so that the same slug gives the same object. */
const PASS_THROUGH_MODELS_MAX = 1_000;

export function createCatalog(models: readonly Model[], passThrough: readonly PassThrough[]): Catalog {
  const bySlug = new Map(models.map((model) => [model.slug, model]));
  const passed = new Map<string, Model>();

  function passOn(slug: string): Model | undefined {
    const known = passed.get(slug);
    if (known !== undefined) return known;
    const rule = passThrough.find(({ prefix }) => slug.startsWith(prefix) && slug.length > prefix.length);
    if (rule === undefined) return undefined;
    const model: Model = { slug, name: slug, endpoints: [rule.endpoint(slug.slice(rule.prefix.length), slug)] };
    setBounded(passed, slug, model, PASS_THROUGH_MODELS_MAX);
    return model;
  }

  return {
    find: (slug) => bySlug.get(slug) ?? passOn(slug),
    list: () => models,
  };
}
