import { GatewayError, invalid } from '../canonical/gateway-error.ts';
import type { Catalog, Model } from '../catalog/model.ts';
import { nearestName } from '../lib/nearest-name.ts';
import { notBuilt } from './not-built-yet.ts';
import { unknownModel } from './route-errors.ts';

/** `author/slug`, maybe with variant suffixes. Pass-through names hold more slashes, dots and colons of their own. */
const SLUG = /^[A-Za-z0-9._~@-]+\/[^\s/][^\s]*$/;
const SLUG_CHARS_MAX = 256;

/**
 * The models that the slugs name, in order. A fallback that does not exist is left out, as it could not have served; no
 * model at all is an error. @throws GatewayError 400 for a malformed slug or none, 404 for an unknown one
 * @source generation.md 3.7 and 3.8, decisions.md 1 and 11
 */
export function resolveModels(
  slugs: readonly string[],
  defaultModel: string | undefined,
  catalog: Catalog,
): readonly Model[] {
  const wanted = slugs.length > 0 ? slugs : defaultModel === undefined ? [] : [defaultModel];
  if (wanted.length === 0) throw invalid('model', 'is required, because this gateway has no default model');
  const found: Model[] = [];
  let firstError: GatewayError | undefined;
  for (const slug of wanted) {
    const model = lookUp(slug, wanted, catalog);
    if (model instanceof GatewayError) firstError ??= model;
    else if (!found.includes(model)) found.push(model);
  }
  if (found.length === 0 && firstError !== undefined) throw firstError;
  return found;
}

function lookUp(slug: string, wanted: readonly string[], catalog: Catalog): Model | GatewayError {
  const model = catalog.find(slug);
  if (model !== undefined) return model;
  if (slug.length > SLUG_CHARS_MAX || !SLUG.test(slug) || slug.startsWith('@'))
    return slug.startsWith('@preset/')
      ? notBuilt('model', 'a preset')
      : invalid('model', `${JSON.stringify(slug.slice(0, 80))} is not a model slug of the form author/slug`);
  const base = slug.slice(0, slug.indexOf(':', slug.indexOf('/')));
  if (slug.includes(':', slug.indexOf('/')) && catalog.find(base) !== undefined)
    return invalid('model', `${JSON.stringify(slug)} has a variant suffix that this gateway does not know`);
  return unknownModel(
    slug,
    wanted,
    nearestName(
      slug,
      catalog.list().map((known) => known.slug),
    ),
  );
}
