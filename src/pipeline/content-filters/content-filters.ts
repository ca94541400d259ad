import type { Policy } from '../../accounts/policy/policy.ts';
import type { GenerationRequest, Turn } from '../../canonical/request.ts';
import { isOwnTurn } from '../../canonical/own-turn.ts';
import { changeRequestTexts, type TextPlace } from './request-texts.ts';
import type { InspectedText, Inspection as Findings, TextInspector } from '../../content-filters/contract.ts';
import { filtersOf, type PolicyFilters } from './filter-rules.ts';
import { blockOf, noteFindings } from './filter-stages.ts';
import { filterResponse } from './filter-response.ts';
import type { RequestFacts, UpstreamResponse } from '../request.ts';
import type { SignalSource } from '../../lib/async/cancellation.ts';

export interface ContentFilterDeps {
  readonly inspector: TextInspector;
  /** Phrases, in lower case, that the injection detector lets pass. */
  readonly allowedPhrases: readonly string[];
}

export interface ContentFilterInput {
  readonly facts: RequestFacts;
  readonly policy: Pick<Policy, 'contentFilters' | 'builtinFilters'>;
  /** Aborts when the request is over. */
  readonly cancellation: SignalSource;
  /** Before a request is refused. */
  readonly onBlocked: () => Promise<void>;
}

/** The content filters of a caller's guardrails, for one generation. */
export interface ContentFilters {
  /**
   * The request as it may go on: what filters replace is replaced, for the model as for every record of it. Turns that
   * went through here before stay as they are, and so do instructions of the gateway's own.
   * @throws GatewayError 403 when a filter blocks it, or one that blocks or replaces could not be searched for in time;
   * 408; 503 while too many wait; what `onBlocked` throws
   */
  filterRequest(request: GenerationRequest): Promise<GenerationRequest>;
  /** The response as it may go on: itself where nothing is to be looked for. */
  filterResponse(response: UpstreamResponse): Promise<UpstreamResponse>;
}

/** `undefined` for a caller without filters, for which they cost nothing. @spec filter-3 */
export function openContentFilters(deps: ContentFilterDeps, input: ContentFilterInput): ContentFilters | undefined {
  const filters = filtersOf(input.policy, deps.allowedPhrases);
  if (filters === undefined) return undefined;
  const seen = new WeakSet<Turn>();
  const { facts, cancellation } = input;
  return {
    filterRequest: (request) => filterRequest(deps, request, { ...input, filters, seen }),
    filterResponse: (response) =>
      filterResponse(deps, response, { facts, filters: filters.answer, signal: cancellation.signal }),
  };
}

interface RequestInput extends ContentFilterInput {
  readonly filters: PolicyFilters;
  readonly seen: WeakSet<Turn>;
}

async function filterRequest(
  { inspector }: ContentFilterDeps,
  request: GenerationRequest,
  { facts, filters, cancellation, seen, onBlocked }: RequestInput,
): Promise<GenerationRequest> {
  const originalRequest = filters.answer.rules.length === 0 ? request : withoutLogprobs(request, facts);
  const found = await inspector.inspect(textsOf(originalRequest, seen), filters.request.rules, cancellation.signal);
  const inspected = redact(originalRequest, found, seen);
  noteFindings(facts, 'request', filters.request, found);
  const blocked = blockOf('request', filters.request, found);
  if (blocked === undefined) {
    for (const turn of inspected.turns) seen.add(turn);
    return inspected;
  }
  // What is blocked is not kept, and neither is what no filter has looked through.
  facts.log.request = found.unfinished.length === 0 ? inspected : { ...request, turns: [] };
  await onBlocked();
  throw blocked;
}

/** They say every word of the answer again, beside it. */
function withoutLogprobs(request: GenerationRequest, { log }: RequestFacts): GenerationRequest {
  const { logprobs, topLogprobs, ...settings } = request.settings;
  if (logprobs !== true && topLogprobs === undefined) return request;
  log.warn([{ code: 'field-dropped', path: 'logprobs', message: 'is left out: filters look through the response' }]);
  return { ...request, settings };
}

function textsOf(request: GenerationRequest, seen: WeakSet<Turn>): readonly InspectedText[] {
  const texts: InspectedText[] = [];
  const keep = (text: string, place: TextPlace): string => {
    texts.push({ text, ...place });
    return text;
  };
  changeRequestTexts(request, keep, (turn) => seen.has(turn) || isOwnTurn(turn));
  return texts;
}

function redact(
  request: GenerationRequest,
  { redacted }: Pick<Findings, 'redacted'>,
  seen: WeakSet<Turn>,
): GenerationRequest {
  if (redacted.size === 0) return request;
  let index = 0;
  const replace = (text: string): string => redacted.get(index++)?.text ?? text;
  return changeRequestTexts(request, replace, (turn) => seen.has(turn) || isOwnTurn(turn));
}
