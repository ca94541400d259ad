import { GatewayError, invalid } from '../../canonical/gateway-error.ts';
import type { GenerationRequest } from '../../canonical/request.ts';
import type { RouteReport } from '../../canonical/route-report.ts';
import type { Catalog, DynamicVariant, Model, Resolution } from '../../catalog/model.ts';
import { nearestName } from '../../lib/text/nearest-name.ts';
import type { Shortcut } from '../../routing/route-plan.ts';
import type { ResolvedModels } from '../request.ts';
import { bareName, unknownModel, unservedModel } from './route-errors.ts';

/** `author/slug`, maybe with variant suffixes. Pass-through names hold more slashes, dots and colons of their own. */
const SLUG = /^[A-Za-z0-9._~@-]+\/[^\s/][^\s]*$/;
const SLUG_CHARS_MAX = 256;

type Strategy = RouteReport['strategy'];

interface ResolvedFrom extends Pick<GenerationRequest, 'settings'> {
  readonly directives: Pick<GenerationRequest['directives'], 'models'>;
}

/**
 * The models that the slugs name, in order. A fallback that does not exist is left out, as it could not have served; no
 * model at all is an error. @throws GatewayError 400 for a malformed slug or none, 404 for an unknown one
 * @param usesFallbacks whether a model that is named alone brings its own: vectors of two models do not compare
 * @spec model-5, model-6
 */
export function resolveModels(
  { directives, settings }: ResolvedFrom,
  defaultModel: string | undefined,
  catalog: Catalog,
  usesFallbacks = true,
): ResolvedModels {
  const slugs = directives.models;
  const wanted = slugs.length > 0 ? slugs : defaultModel === undefined ? [] : [defaultModel];
  if (wanted.length === 0) throw invalid('model', 'is required, because this gateway has no default model');
  const models: Model[] = [];
  let shortcuts: Map<Model, Shortcut> | undefined;
  let strategies: Map<Model, Strategy> | undefined;
  let firstError: GatewayError | undefined;
  let isFirstMissing = false;
  let wantsReasoning = false;
  for (const [index, slug] of wanted.entries()) {
    const found = lookUp(slug, wanted, catalog);
    if (found instanceof GatewayError) {
      firstError ??= found;
      isFirstMissing ||= index === 0;
      continue;
    }
    const model = siblingOf(found.model, settings, catalog);
    if (models.includes(model)) continue;
    models.push(model);
    const shortcut = found.variants.findLast(isShortcut);
    if (shortcut !== undefined) shortcuts = (shortcuts ?? new Map<Model, Shortcut>()).set(model, shortcut);
    if (found.alias !== undefined) strategies = (strategies ?? new Map<Model, Strategy>()).set(model, 'latest');
    wantsReasoning ||= found.variants.includes('thinking');
  }
  if (models.length === 0 && firstError !== undefined) throw firstError;
  const fallbacks = wanted.length === 1 && usesFallbacks ? models[0]?.fallbacks : undefined;
  if (fallbacks !== undefined) addFallbacks(models, fallbacks, catalog);
  return {
    models,
    shortcuts: shortcuts ?? NONE,
    strategies: strategies ?? NONE,
    requestedCount: Math.max(wanted.length, models.length),
    isFirstMissing,
    wantsReasoning,
  };
}

/** What the operator has configured. One that does not exist could not serve. @spec fallback-31 */
function addFallbacks(models: Model[], slugs: readonly string[], catalog: Catalog): void {
  for (const slug of slugs) {
    const found = lookUp(slug, slugs, catalog);
    if (!(found instanceof GatewayError) && !models.includes(found.model)) models.push(found.model);
  }
}

/**
 * Whether a request that is kept for later names models that there are: each of them, since a fallback would go unnoticed
 * that never serves. Slugs of routers are theirs to know. @throws GatewayError 400 for a malformed slug, 404 for an unknown one
 */
export function checkModelSlugs(slugs: readonly string[], catalog: Catalog): void {
  for (const slug of slugs) {
    if (slug.startsWith(ROUTED)) continue;
    const found = lookUp(slug, slugs, catalog);
    if (found instanceof GatewayError) throw found;
  }
}

const NONE: ReadonlyMap<Model, never> = new Map<Model, never>();

/** The default model, named: it may be a slug that stands for a router's choice. */
export function withDefaultModel(request: GenerationRequest, defaultModel: string | undefined): GenerationRequest {
  const { directives } = request;
  if (directives.models.length > 0 || defaultModel === undefined) return request;
  return { ...request, directives: { ...directives, models: [defaultModel] } };
}

function isShortcut(variant: DynamicVariant): variant is Shortcut {
  return variant === 'nitro' || variant === 'floor' || variant === 'exacto';
}

/** Speed, and the thorough way of reasoning, that are models of their own. @spec model-19 */
function siblingOf(model: Model, { serviceTier, reasoning }: GenerationRequest['settings'], catalog: Catalog): Model {
  const find = (suffix: string): Model | undefined => catalog.list().find(({ slug }) => slug === model.slug + suffix);
  const fast = serviceTier === 'priority' ? find('-fast') : undefined;
  return fast ?? (reasoning?.mode === 'pro' ? find('-pro') : undefined) ?? model;
}

function lookUp(slug: string, wanted: readonly string[], catalog: Catalog): Resolution | GatewayError {
  const resolution = catalog.resolve?.(slug) ?? resolvePlain(slug, catalog);
  if (resolution !== undefined) return resolution;
  if (isBare(slug)) return bareName(slug, catalog.suggest?.(slug) ?? []);
  if (slug.length > SLUG_CHARS_MAX || !SLUG.test(slug) || slug.startsWith('@') || slug.includes('@preset/'))
    return slug.includes('@preset/')
      ? invalid('models', 'cannot name a preset: that is for model or preset to do')
      : invalid('model', `${JSON.stringify(slug.slice(0, 80))} is not a model slug of the form author/slug`);
  const [base = '', ...suffixes] = slug.split(':');
  const isMissing = suffixes.some((suffix) => STATIC_VARIANTS.has(suffix));
  if (suffixes.includes('batch'))
    return invalid('model', 'the suffix ":batch" belongs to batches, which are not served here');
  if (suffixes.length > 0 && !isMissing && catalog.find(base) !== undefined)
    return invalid('model', `${JSON.stringify(slug)} has a variant suffix that this gateway does not know`);
  if (isMissing && catalog.find(base) !== undefined) return unknownModel(slug, wanted, base);
  const missing = catalog.missing?.(base) ?? [];
  if (missing.length > 0) return unservedModel(slug, wanted, missing);
  const names = catalog.list().map((known) => known.slug);
  return unknownModel(slug, wanted, nearestName(slug, names));
}

/** `gpt-4o`: a name without its author. */
function isBare(slug: string): boolean {
  return slug.length <= SLUG_CHARS_MAX && /^[A-Za-z0-9][A-Za-z0-9._:-]*$/.test(slug);
}

/** Models of their own beside the plain one: where there is none, that one does not exist. @spec model-12 */
const STATIC_VARIANTS: ReadonlySet<string> = new Set(['free', 'extended']);

/** Suffixes behind slugs, where they are no part of a name. */
export function variantsOf(
  slugs: readonly string[],
  defaultModel: string | undefined,
  catalog: Catalog,
): ReadonlySet<DynamicVariant> {
  const wanted = slugs.length > 0 ? slugs : [defaultModel ?? ''];
  if (!wanted.some((slug) => slug.includes(':'))) return NO_VARIANTS;
  return new Set(
    wanted
      .filter((slug) => slug.includes(':'))
      .flatMap((slug) => (catalog.resolve?.(slug) ?? resolvePlain(slug, catalog))?.variants ?? suffixesOf(slug)),
  );
}

const NO_VARIANTS: ReadonlySet<DynamicVariant> = new Set();

/** Whose slugs stand for a choice. @spec model-20 */
const ROUTED = 'service/';

/** Of a slug that stands for a router's choice, the suffixes are those of the models that it chooses. */
function suffixesOf(slug: string): readonly DynamicVariant[] {
  return slug.startsWith(ROUTED) ? slug.split(':').slice(1).filter(isSuffix) : [];
}

const SUFFIXES: ReadonlySet<string> = new Set<DynamicVariant>(['nitro', 'floor', 'exacto', 'online', 'thinking']);

/** The suffixes that may stand behind any model. @spec model-14 */
function resolvePlain(slug: string, catalog: Catalog): Resolution | undefined {
  const whole = catalog.find(slug);
  if (whole !== undefined) return { model: whole, variants: [] };
  const at = slug.lastIndexOf(':');
  const suffix = slug.slice(at + 1);
  if (at < 0 || !isSuffix(suffix)) return undefined;
  const rest = resolvePlain(slug.slice(0, at), catalog);
  return rest && { model: rest.model, variants: [...rest.variants, suffix] };
}

function isSuffix(suffix: string): suffix is DynamicVariant {
  return SUFFIXES.has(suffix);
}
