import type { ProviderPreferences } from '../canonical/directives.ts';
import type { FormatId } from '../canonical/extra.ts';
import type { GenerationRequest } from '../canonical/request.ts';
import { supportsParameter } from '../canonical/supports-parameter.ts';
import type { Endpoint, Model } from '../catalog/model.ts';
import type { Cooldown } from './health.ts';
import { endpointFits, matchesProvider } from './preferences.ts';
import { needsOf, type RequestNeeds } from './request-needs.ts';

/** One way to serve the request: an endpoint, and the format to speak to it. */
export interface Candidate {
  readonly endpoint: Endpoint;
  readonly format: FormatId;
}

/** Why an endpoint is not tried. The first part is the word of `availability.excluded_by`. @source generation.md 8.5 */
export type ExclusionReason =
  | 'allowed_providers'
  | 'allow_fallbacks'
  | 'credentials'
  | 'data_policy:training'
  | 'data_policy:zdr'
  | 'max_price'
  | 'require_parameters'
  | 'input_modalities'
  | 'output_modalities'
  | 'context_length'
  | 'vendor_tools';

export interface Considered {
  readonly endpoint: Endpoint;
  readonly exclusion?: ExclusionReason;
  /** The parameter or modality that the endpoint lacks. */
  readonly lacks?: string;
}

export interface RoutePlan {
  /** In the order to try them; empty when nothing fits. */
  readonly candidates: readonly Candidate[];
  /** Every endpoint of every model asked for, with the reason where it is left out. */
  readonly considered: readonly Considered[];
  /** Endpoints that fit but rest, soonest ready first. */
  readonly cooling: readonly { readonly candidate: Candidate; readonly cooldown: Cooldown }[];
}

export interface PlanQuestion {
  readonly request: GenerationRequest;
  /** Models to try, in order. */
  readonly models: readonly Model[];
  readonly preferences: ProviderPreferences;
  /** The provider that alone can read what the request brings from an earlier answer: it is tried first. pains.md 26 */
  readonly home?: string | undefined;
  readonly formats: Readonly<Partial<Record<FormatId, FormatFacts>>>;
  /** A prompt that cannot fit is not tried; counting its tokens is no reason to leave anybody out. Default true. */
  readonly mustFit?: boolean;
  readonly cooldown: (endpoint: Endpoint) => Cooldown | undefined;
}

/** What a format has words for. */
export interface FormatFacts {
  readonly parameters: ReadonlySet<string>;
  /** The media of a request and of an answer; absent: all. */
  readonly modalities?: { readonly inputs: ReadonlySet<string>; readonly outputs: ReadonlySet<string> };
}

/**
 * Ranks the endpoints for one request. Pure. All endpoints of a model come before the next model's; inside a model the
 * home of the conversation comes first, then `order`, then the catalog's order. An endpoint that rests after a default cooldown goes behind the ready
 * ones; one whose upstream named a time is not tried before it.
 * @source generation.md 3.1, 3.3, 3.7
 */
export function planRoute(question: PlanQuestion): RoutePlan {
  const { preferences, request } = question;
  const needs = needsOf(request, preferences.requireParameters);
  const considered: Considered[] = [];
  const fitting: Candidate[] = [];
  for (const model of question.models) {
    for (const endpoint of homeFirst(byOrder(model.endpoints, preferences.order), question.home)) {
      const format = chooseFormat(endpoint, request.format);
      const candidate = { endpoint, format };
      const verdict = findExclusion(candidate, needs, question);
      considered.push({ endpoint, ...verdict });
      if (verdict === undefined) fitting.push(candidate);
    }
  }
  const allowed = limitFallbacks(fitting, preferences, considered);
  return { considered, ...splitByCooldown(allowed, question.cooldown) };
}

/** What the request rules out comes first: the caller can change that, but not what the operator left out. */
function findExclusion(
  candidate: Candidate,
  needs: RequestNeeds,
  question: PlanQuestion,
): Omit<Considered, 'endpoint'> | undefined {
  const unfit = endpointFits(candidate.endpoint, question.preferences);
  if (unfit !== undefined) return { exclusion: unfit };
  const lack = findLack(candidate, needs, question);
  if (lack !== undefined) return lack;
  return candidate.endpoint.lacksCredentials === true ? { exclusion: 'credentials' } : undefined;
}

/** The caller's own format where the endpoint speaks it: nothing is lost between equals. */
function chooseFormat(endpoint: Endpoint, format: FormatId): FormatId {
  return endpoint.formats.includes(format) ? format : (endpoint.formats[0] ?? format);
}

function byOrder(endpoints: readonly Endpoint[], order: readonly string[] | undefined): readonly Endpoint[] {
  if (order === undefined || order.length === 0) return endpoints;
  const rank = (endpoint: Endpoint): number => {
    const at = order.findIndex((name) => matchesProvider(name, endpoint));
    return at < 0 ? order.length : at;
  };
  return endpoints.toSorted((left, right) => rank(left) - rank(right));
}

function homeFirst(endpoints: readonly Endpoint[], home: string | undefined): readonly Endpoint[] {
  if (home === undefined) return endpoints;
  const isAway = ({ provider }: Endpoint): number => Number(provider !== home);
  return endpoints.toSorted((left, right) => isAway(left) - isAway(right));
}

function limitFallbacks(
  fitting: readonly Candidate[],
  preferences: ProviderPreferences,
  considered: Considered[],
): readonly Candidate[] {
  if (preferences.allowFallbacks) return fitting;
  const order = preferences.order ?? [];
  const kept =
    order.length === 0
      ? fitting.slice(0, 1)
      : fitting.filter(({ endpoint }) => order.some((name) => matchesProvider(name, endpoint)));
  for (const [at, { endpoint, exclusion }] of considered.entries()) {
    if (exclusion === undefined && !kept.some((candidate) => candidate.endpoint === endpoint))
      considered[at] = { endpoint, exclusion: 'allow_fallbacks' };
  }
  return kept;
}

function splitByCooldown(
  allowed: readonly Candidate[],
  cooldownOf: (endpoint: Endpoint) => Cooldown | undefined,
): Pick<RoutePlan, 'candidates' | 'cooling'> {
  const ready: Candidate[] = [];
  const resting: Candidate[] = [];
  const cooling: { candidate: Candidate; cooldown: Cooldown }[] = [];
  for (const candidate of allowed) {
    const cooldown = cooldownOf(candidate.endpoint);
    if (cooldown === undefined) ready.push(candidate);
    else if (cooldown.named) cooling.push({ candidate, cooldown });
    else resting.push(candidate);
  }
  return {
    candidates: [...ready, ...resting],
    cooling: cooling.toSorted((left, right) => left.cooldown.untilMs - right.cooldown.untilMs),
  };
}

const NOTHING: ReadonlySet<string> = new Set();

/** The first thing that the request needs and the candidate has not. */
function findLack(
  { endpoint, format }: Candidate,
  needs: RequestNeeds,
  { formats, mustFit = true }: PlanQuestion,
): Omit<Considered, 'endpoint'> | undefined {
  const { parameters: sayable = NOTHING, modalities: media } = formats[format] ?? {};
  const list = endpoint.supportedParameters ?? sayable;
  for (const parameter of needs.parameters)
    if (!supportsParameter(list, parameter) || !supportsParameter(sayable, parameter))
      return { exclusion: 'require_parameters', lacks: parameter };
  const { inputModalities, outputModalities, contextTokensMax = Infinity } = endpoint;
  for (const modality of needs.inputs)
    if (inputModalities?.includes(modality) === false || media?.inputs.has(modality) === false)
      return { exclusion: 'input_modalities', lacks: modality };
  for (const modality of needs.outputs)
    if (outputModalities?.includes(modality) === false || media?.outputs.has(modality) === false)
      return { exclusion: 'output_modalities', lacks: modality };
  if (needs.vendorTools && (format !== 'messages' || endpoint.vendorTools !== true))
    return { exclusion: 'vendor_tools' };
  return mustFit && needs.promptTokensMin > contextTokensMax ? { exclusion: 'context_length' } : undefined;
}
