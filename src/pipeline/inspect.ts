import type { Policy } from '../accounts/policy.ts';
import type { GenerationRequest, Turn } from '../canonical/request.ts';
import { isOwnTurn } from '../canonical/own-turn.ts';
import { changeRequestTexts, type TextPlace } from '../canonical/request-texts.ts';
import type { InspectedText, Inspection as Findings, TextInspector } from '../guardrails/contract.ts';
import type { GenerationRecord } from '../telemetry/record.ts';
import { filtersOf, type PolicyFilters } from './filter-rules.ts';
import { blockOf, noteFindings } from './filter-stages.ts';
import { inspectingAnswer } from './inspect-answer.ts';
import type { Committed } from './attempts.ts';

export interface InspectParts {
  readonly inspector: TextInspector;
  /** Phrases, in lower case, that the injection detector lets pass. */
  readonly allowedPhrases: readonly string[];
}

export interface InspectQuestion {
  readonly record: Pick<GenerationRecord, 'report' | 'warn' | 'request' | 'usage' | 'end' | 'answerBytes'>;
  readonly policy: Pick<Policy, 'contentFilters' | 'builtinFilters'>;
  /** Aborts when nobody waits for the answer any more. */
  readonly signal: AbortSignal;
  /** Before a request is refused. */
  readonly onBlocked: () => Promise<void>;
}

/** What the filters of its caller do to one generation. */
export interface Inspection {
  /**
   * The request as it may go on: what filters replace is replaced, for the model as for every record of it. Turns that
   * went through here before stay as they are, and so do instructions of the gateway's own.
   * @throws GatewayError 403 when a filter blocks it, or one that blocks or replaces could not be searched for in time;
   * 408; 503 while too many wait; what `onBlocked` throws
   */
  request(request: GenerationRequest): Promise<GenerationRequest>;
  /** The answer as it may go on: itself where nothing is to be looked for. */
  answer(answer: Committed): Promise<Committed>;
}

/** `undefined` for a caller without filters, who pays nothing for them. @source areas.md 6 */
export function createInspection(parts: InspectParts, question: InspectQuestion): Inspection | undefined {
  const filters = filtersOf(question.policy, parts.allowedPhrases);
  if (filters === undefined) return undefined;
  const seen = new WeakSet<Turn>();
  return {
    request: (request) => inspectRequest(parts, request, { ...question, filters, seen }),
    answer: (answer) => inspectingAnswer(parts, answer, { ...question, filters: filters.answer }),
  };
}

interface RequestQuestion extends InspectQuestion {
  readonly filters: PolicyFilters;
  readonly seen: WeakSet<Turn>;
}

async function inspectRequest(
  { inspector }: InspectParts,
  request: GenerationRequest,
  { record, filters, signal, seen, onBlocked }: RequestQuestion,
): Promise<GenerationRequest> {
  const asked = filters.answer.rules.length === 0 ? request : withoutLogprobs(request, record);
  const found = await inspector.inspect(textsOf(asked, seen), filters.request.rules, signal);
  const inspected = redact(asked, found, seen);
  noteFindings(record, 'request', filters.request, found);
  const blocked = blockOf('request', filters.request, found);
  if (blocked === undefined) {
    for (const turn of inspected.turns) seen.add(turn);
    return inspected;
  }
  // Whoever keeps what was said keeps nothing of what must not be said, and nothing that nobody has looked through.
  record.request = found.unfinished.length === 0 ? inspected : { ...request, turns: [] };
  await onBlocked();
  throw blocked;
}

/** They say every word of the answer again, beside it. */
function withoutLogprobs(request: GenerationRequest, record: InspectQuestion['record']): GenerationRequest {
  const { logprobs, topLogprobs, ...settings } = request.settings;
  if (logprobs !== true && topLogprobs === undefined) return request;
  record.warn([{ code: 'field-dropped', path: 'logprobs', message: 'is left out: filters look through the answer' }]);
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
