import type { ProviderPreferences } from '../canonical/directives.ts';
import { isOperation } from '../canonical/operation.ts';
import { supportsParameter } from '../canonical/supports-parameter.ts';
import type { Model } from '../catalog/model.ts';
import { endpointName } from './endpoint-name.ts';
import type { Cooldown } from './health.ts';
import { firstOf, isNamed, missedBound, orderEntries, orderingOf, type OrderInput } from './order.ts';
import type { Entry, CredentialsOf, Candidate, PlanInput, RoutePlan, Considered } from './route-plan.ts';
import { isShared, orderByTier } from './byok-preference.ts';
import { refusedBy } from './permissions.ts';
import { endpointFits, matchesProvider } from './preferences.ts';
import { needsOfOperation } from './operation-needs.ts';
import { needsOf, type RequestNeeds } from './request-needs.ts';
import { isInPool, tierPoolOf } from './service-tiers.ts';
import { keepSupporting } from './supporting.ts';

const NO_METRICS = (): undefined => undefined;
const NO_CREDENTIALS: CredentialsOf = () => [];

/**
 * Ranks the endpoints for one request. Pure. All endpoints of a model come before the next model's, unless the caller
 * joins the models. Within a model: the caller's own credentials; then the conversation's pinned provider, the endpoint of
 * the session, then `order`, a sort, or chance by price among healthy ones. One whose upstream named a time is not tried
 * before it.
 * @spec route-14, route-18, route-34
 */
export function planCandidates(input: PlanInput): RoutePlan {
  const { preferences, metrics = NO_METRICS, credentials = NO_CREDENTIALS } = input;
  const { request } = input;
  const needs = isOperation(request) ? needsOfOperation(request) : needsOf(request, preferences.requireParameters);
  const considered: Considered[] = [];
  const ordering: OrderInput = {
    preferences,
    shortcut: undefined,
    serviceTier: needs.serviceTier,
    hasTools: needs.hasTools,
    metrics,
    random: input.random,
  };
  const parts: Part[] = [];
  for (const model of input.models) {
    const shortcut = input.shortcuts?.get(model);
    const requested = shortcut === undefined ? ordering : { ...ordering, shortcut };
    parts.push({ model, entries: considerModel(model, needs, input, considered), requested });
  }
  const groups = preferences.sort?.partition === 'none' ? joinParts(parts) : parts;
  let sticky: string | undefined;
  const ordered: Entry[] = [];
  for (const { model, entries, requested } of groups) {
    const order = (some: readonly Entry[]): readonly Entry[] => {
      const inOrder = some.length < 2 ? some : orderEntries(some, orderingOf(entries, requested), requested);
      const pinned = preferences.order === undefined && model !== undefined ? input.sticky?.(model) : undefined;
      const pinnedEntry = pinned === undefined ? undefined : inOrder.find((entry) => isPinnedTo(entry, pinned));
      if (pinnedEntry !== undefined && pinned !== undefined) sticky ??= pinned;
      const pinnedFirst =
        pinnedEntry === undefined || pinned === undefined ? inOrder : firstOf(withoutProbes(inOrder), isNamed(pinned));
      const { pinnedProvider } = input;
      return pinnedProvider === undefined
        ? pinnedFirst
        : firstOf(pinnedFirst, ({ provider }) => provider === pinnedProvider);
    };
    ordered.push(...orderByTier(entries, credentials, input.health, order));
  }
  const preferred = missedLast(ordered, preferences, metrics, considered);
  const allowed = preferences.allowFallbacks ? preferred : limitFallbacks(preferred, preferences, considered);
  return {
    considered,
    ...splitByHealth(allowed),
    ordering: orderingOf(groups[0]?.entries ?? [], groups[0]?.requested ?? ordering),
    allowFallbacks: preferences.allowFallbacks,
    ...(sticky !== undefined && { sticky }),
  };
}

/** What holds for every model of a plan. */
type PlanRules = Omit<PlanInput, 'models' | 'request'>;

type Part = Readonly<{ model: Model | undefined; entries: readonly Entry[]; requested: OrderInput }>;

/** @spec route-14 */
function joinParts(parts: readonly Part[]): readonly Part[] {
  const [first] = parts;
  if (first === undefined || parts.length === 1) return parts;
  return [{ model: undefined, entries: parts.flatMap(({ entries }) => entries), requested: first.requested }];
}

/** A session does not stay with an endpoint that fails or is in cooldown. */
function isPinnedTo({ candidate, health }: Entry, name: string): boolean {
  return health.rank < 2 && endpointName(candidate.endpoint) === name;
}

/** The session's own endpoint serves, not the one to be probed. */
function withoutProbes(entries: readonly Entry[]): readonly Entry[] {
  const [first] = entries;
  return first?.candidate.probe === true ? [...entries.slice(1), first] : entries;
}

/** Those of a model's endpoints that may serve the request, in no order. @param considered gets a line for each endpoint */
export function considerModel(
  model: Model,
  needs: RequestNeeds,
  input: PlanRules,
  considered: Considered[],
): readonly Entry[] {
  const { preferences } = input;
  const { endpoints } = model;
  const pool = tierPoolOf(needs.serviceTier, input.shortcuts?.get(model), preferences, endpoints);
  const fitting: Entry[] = [];
  for (const endpoint of endpoints) {
    const candidate = { endpoint, format: needs.formatOf(endpoint) };
    const found = isInPool(endpoint, pool, preferences)
      ? findExclusion(model, candidate, needs, input)
      : ({ exclusion: 'service_tier' } as const);
    const brings = found?.exclusion === 'credentials' && (input.credentials?.(endpoint).length ?? 0) > 0;
    const verdict = brings ? undefined : found;
    if (verdict === undefined) {
      fitting.push({ candidate, health: input.health(endpoint) });
      considered.push({ endpoint });
    } else considered.push({ endpoint, ...verdict });
  }
  return fitting.length < 2 ? fitting : keepSupporting(fitting, needs, input.formats, considered);
}

/** Reports what the request rules out first: the caller can change that, but not what the operator left out. */
function findExclusion(
  model: Model,
  candidate: Candidate,
  needs: RequestNeeds,
  input: PlanRules,
): Omit<Considered, 'endpoint'> | undefined {
  const { endpoint } = candidate;
  const unfit = endpointFits(endpoint, input.preferences);
  if (unfit !== undefined) return { exclusion: unfit };
  const lack = findLack(candidate, needs, input);
  if (lack !== undefined) return lack;
  const refusal = input.permissions && refusedBy(model, endpoint, input.permissions);
  if (refusal !== undefined) return { exclusion: refusal };
  if (input.mustBePriced === true && endpoint.price === undefined) return { exclusion: 'price_unknown' };
  return endpoint.lacksCredentials === true ? { exclusion: 'credentials' } : undefined;
}

/** Soft bounds move over all models, so that a fallback model may come first. @spec route-16 */
function missedLast(
  entries: readonly Entry[],
  preferences: ProviderPreferences,
  metrics: OrderInput['metrics'],
  considered: Considered[],
): readonly Entry[] {
  const { preferredMinThroughput, preferredMaxLatency } = preferences;
  if (preferredMinThroughput === undefined && preferredMaxLatency === undefined) return entries;
  const met: Entry[] = [];
  const missed: Entry[] = [];
  for (const entry of entries) {
    const { endpoint } = entry.candidate;
    // The caller's own credentials stay first, and their speed is not measured separately.
    const demotion = isShared(entry) ? missedBound(endpoint, preferences, metrics) : undefined;
    (demotion === undefined ? met : missed).push(entry);
    if (demotion === undefined) continue;
    const at = considered.findIndex((one) => one.endpoint === endpoint);
    considered[at] = { endpoint, demotion };
  }
  return [...met, ...missed];
}

function limitFallbacks(
  fitting: readonly Entry[],
  preferences: ProviderPreferences,
  considered: Considered[],
): readonly Entry[] {
  const order = preferences.order ?? [];
  const kept =
    order.length === 0
      ? fitting.filter((entry) => isSameChoice(entry, fitting[0]))
      : fitting.filter(({ candidate: { endpoint } }) => order.some((name) => matchesProvider(name, endpoint)));
  for (const [at, { endpoint, exclusion }] of considered.entries()) {
    if (exclusion === undefined && !kept.some(({ candidate }) => candidate.endpoint === endpoint))
      considered[at] = { endpoint, exclusion: 'allow_fallbacks' };
  }
  return kept;
}

/** Returns whether two entries are one choice: several of the caller's own credentials for one endpoint count as one. */
function isSameChoice(entry: Entry, first: Entry | undefined): boolean {
  if (entry === first || first === undefined) return true;
  return entry.candidate.endpoint === first.candidate.endpoint && !isShared(entry) && !isShared(first);
}

/** Endpoints in cooldown come after all others, and an open circuit after every other model, too. */
function splitByHealth(allowed: readonly Entry[]): Pick<RoutePlan, 'candidates' | 'cooling'> {
  const ready: Candidate[] = [];
  const unavailable: Candidate[] = [];
  const open: Candidate[] = [];
  const cooling: { candidate: Candidate; cooldown: Cooldown }[] = [];
  for (const { candidate, health } of allowed) {
    const { cooldown } = health;
    if (cooldown?.named === true) cooling.push({ candidate, cooldown });
    else if (health.open && !health.probeDue) open.push(candidate);
    else if (cooldown !== undefined) unavailable.push(candidate);
    else ready.push(candidate);
  }
  return {
    candidates: unavailable.length + open.length === 0 ? ready : [...ready, ...unavailable, ...open],
    cooling:
      cooling.length < 2 ? cooling : cooling.toSorted((left, right) => left.cooldown.untilMs - right.cooldown.untilMs),
  };
}

const NOTHING: ReadonlySet<string> = new Set();

/** Finds the first thing that the request needs and the candidate lacks. */
function findLack(
  { endpoint, format }: Candidate,
  needs: RequestNeeds,
  { formats, mustFit = true, fits }: PlanRules,
): Omit<Considered, 'endpoint'> | undefined {
  // It serves other requests than generations alone.
  if (endpoint.formats.length === 0 && needs.lackOf === undefined)
    return { exclusion: 'output_modalities', lacks: 'text' };
  const { parameters: isExpressible = NOTHING, modalities: media } = formats[format] ?? {};
  const list = endpoint.supportedParameters ?? isExpressible;
  for (const parameter of needs.parameters)
    if (!supportsParameter(list, parameter) || !supportsParameter(isExpressible, parameter))
      return { exclusion: 'require_parameters', lacks: parameter };
  const { inputModalities, outputModalities, contextTokensMax = Infinity } = endpoint;
  for (const modality of needs.inputs)
    if (inputModalities?.includes(modality) === false || media?.inputs.has(modality) === false)
      return { exclusion: 'input_modalities', lacks: modality };
  for (const modality of needs.outputs)
    if (outputModalities?.includes(modality) === false || media?.outputs.has(modality) === false)
      return { exclusion: 'output_modalities', lacks: modality };
  const lack = needs.lackOf?.(endpoint);
  if (lack !== undefined) return lack;
  if (needs.nativeTools && (format !== 'messages' || endpoint.nativeTools !== true))
    return { exclusion: 'vendor_tools' };
  if (needs.openTools && (format !== 'responses' || endpoint.openTools !== true)) return { exclusion: 'vendor_tools' };
  const isShortEnough = fits?.(endpoint) ?? (!mustFit || needs.promptTokensMin <= contextTokensMax);
  return isShortEnough ? undefined : { exclusion: 'context_length' };
}
