import type { ZeroRetention } from '../canonical/guardrail-rules.ts';
import type { Endpoint, Model } from '../catalog/model.ts';
import { matchesProvider } from './preferences.ts';
import type { Refusal, Permissions } from './route-plan.ts';

/** The first rule that leaves an endpoint out; `undefined` when it may be used. */
export function refusedBy(model: Model, endpoint: Endpoint, permissions: Permissions): Refusal | undefined {
  if (isRefusedModel(model, permissions)) return 'guardrail:models';
  if (isRefusedProvider(endpoint, permissions)) return 'guardrail:providers';
  // An unknown policy counts as retaining and training.
  const { training = true, retentionDays = Infinity } = endpoint.dataPolicy;
  if (retentionDays > 0 && mayNotRetain(model, permissions.zeroRetention)) return 'guardrail:zdr';
  if (training && !(isFree(endpoint) ? permissions.freeTraining : permissions.paidTraining))
    return 'guardrail:training';
  return undefined;
}

function isRefusedModel(model: Model, { allowedModels, ignoredModels }: Permissions): boolean {
  if (allowedModels === null && ignoredModels.length === 0) return false;
  const isModel = (name: string): boolean => name === model.slug || name === model.canonicalSlug;
  // Ignoring a model includes its variants (`:free`).
  const isIgnored = (name: string): boolean => isModel(name) || name === withoutSuffix(model.slug);
  return ignoredModels.some(isIgnored) || allowedModels?.some(isModel) === false;
}

function isRefusedProvider(endpoint: Endpoint, { allowedProviders, ignoredProviders }: Permissions): boolean {
  if (allowedProviders === null && ignoredProviders.length === 0) return false;
  const isProvider = (name: string): boolean => matchesProvider(name, endpoint);
  return ignoredProviders.some(isProvider) || allowedProviders?.some(isProvider) === false;
}

function withoutSuffix(slug: string): string {
  const colon = slug.indexOf(':');
  return colon < 0 ? slug : slug.slice(0, colon);
}

/** Rules on retention name authors, whatever the provider; a hyphen makes no difference (`x-ai`). */
function mayNotRetain({ slug }: Model, groups: ZeroRetention): boolean {
  const { anthropic, openai, google, xai, other } = groups;
  if (!(anthropic || openai || google || xai || other)) return false;
  const author = slug.slice(0, slug.indexOf('/')).replaceAll('-', '').toLowerCase();
  return isGroup(author, groups) ? groups[author] : groups.other;
}

function isGroup(name: string, groups: ZeroRetention): name is keyof ZeroRetention {
  return Object.hasOwn(groups, name);
}

function isFree({ price }: Endpoint): boolean {
  return price !== undefined && price.prompt === 0 && price.completion === 0;
}
