import type { ProviderPreferences } from '../canonical/directives.ts';
import type { FormatId } from '../canonical/extra.ts';
import type { Block } from '../canonical/blocks.ts';
import type { GenerationRequest } from '../canonical/request.ts';
import type { Endpoint, Model } from '../catalog/model.ts';
import type { Cooldown } from './health.ts';
import { endpointFits, matchesProvider } from './preferences.ts';
import { supports, usedParameters } from './parameters.ts';

/** One way to serve the request: an endpoint, and the format to speak to it. */
export interface Candidate {
  readonly endpoint: Endpoint;
  readonly format: FormatId;
}

/** Why an endpoint is not tried. The first part is the word of `availability.excluded_by`. @source generation.md 8.5 */
export type ExclusionReason =
  | 'allowed_providers'
  | 'allow_fallbacks'
  | 'data_policy:training'
  | 'data_policy:zdr'
  | 'max_price'
  | 'require_parameters'
  | 'input_modalities'
  | 'vendor_tools';

export interface Considered {
  readonly endpoint: Endpoint;
  readonly exclusion?: ExclusionReason;
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
  readonly formatParameters: Readonly<Record<FormatId, ReadonlySet<string>>>;
  readonly cooldown: (endpoint: Endpoint) => Cooldown | undefined;
}

/**
 * Ranks the endpoints for one request. Pure. All endpoints of a model come before the next model's; inside a model
 * `order` comes first, then the catalog's order. An endpoint that rests after a default cooldown goes behind the ready
 * ones; one whose upstream named a time is not tried before it.
 * @source generation.md 3.1, 3.3, 3.7
 */
export function planRoute(question: PlanQuestion): RoutePlan {
  const { preferences, request } = question;
  const parameters = preferences.requireParameters ? usedParameters(request) : [];
  const modalities = neededModalities(request);
  const vendorTools = request.tools.some((tool) => tool.type === 'opaque' && tool.format !== 'chat');
  const considered: Considered[] = [];
  const fitting: Candidate[] = [];
  for (const model of question.models) {
    for (const endpoint of byOrder(model.endpoints, preferences.order)) {
      const format = chooseFormat(endpoint, request.format);
      const exclusion =
        endpointFits(endpoint, preferences) ??
        lacksParameter(endpoint, format, parameters, question.formatParameters) ??
        lacksModality(endpoint, modalities) ??
        (vendorTools && format === 'chat' ? 'vendor_tools' : undefined);
      considered.push(exclusion === undefined ? { endpoint } : { endpoint, exclusion });
      if (exclusion === undefined) fitting.push({ endpoint, format });
    }
  }
  const allowed = limitFallbacks(fitting, preferences, considered);
  return { considered, ...splitByCooldown(allowed, question.cooldown) };
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

function lacksParameter(
  endpoint: Endpoint,
  format: FormatId,
  parameters: readonly string[],
  formatParameters: PlanQuestion['formatParameters'],
): ExclusionReason | undefined {
  const list = endpoint.supportedParameters ?? formatParameters[format];
  return parameters.every((parameter) => supports(list, parameter)) ? undefined : 'require_parameters';
}

function lacksModality(endpoint: Endpoint, needed: ReadonlySet<string>): ExclusionReason | undefined {
  const list = endpoint.inputModalities;
  if (list === undefined || needed.size === 0) return undefined;
  for (const modality of needed) if (!list.includes(modality)) return 'input_modalities';
  return undefined;
}

/** Documents are left out: an endpoint without file input may still get their text (generation.md 4.4). */
function neededModalities(request: GenerationRequest): ReadonlySet<string> {
  const needed = new Set<string>();
  const look = (blocks: readonly Block[]): void => {
    for (const block of blocks) {
      if (block.type === 'media' && block.media !== 'document') needed.add(block.media);
      else if (block.type === 'tool-result') look(block.content);
    }
  };
  for (const turn of request.turns) if (turn.role !== 'assistant') look(turn.blocks);
  return needed;
}
