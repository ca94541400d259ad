import type { Wish } from '../accounts/ledger.ts';
import type { InnerGenerate } from '../canonical/inner-generation.ts';
import type { BytesTaken } from '../lib/byte-budget.ts';
import type { EndpointStats } from '../routing/stats.ts';
import { answerWithTools, type ToolParts } from './answer-with-tools.ts';
import { longestGoOn } from './ask-to-go-on.ts';
import type { AttemptsParts, Committed } from './attempts.ts';
import type { CallerRules } from './caller-rules.ts';
import type { Route, RouteParts } from './choose-route.ts';
import type { Inspection } from './inspect.ts';
import { createOutcomeWatch, type OutcomeWatch } from './note-outcome.ts';
import type { Prepared } from './prepare.ts';
import type { RelayContext } from './relay.ts';
import type { StreamOutput } from './stream-output.ts';
import type { Till } from './till.ts';
import { openTurns, type Turns, type TurnsQuestion } from './turns.ts';

export interface AnswerParts extends AttemptsParts, ToolParts, Pick<RouteParts, 'sticky'> {
  readonly stats: EndpointStats;
  /** Whether another endpoint goes on with a stream that breaks off, where the caller does not say. */
  readonly rescue: boolean;
}

/** How an answer goes to the caller, but for what plugins make of it. */
export type AnswerContext = Omit<RelayContext, 'revisers'>;

export interface AnswerQuestion {
  readonly prepared: Prepared;
  readonly context: AnswerContext;
  /** Absent: the caller gets the whole answer at once. */
  readonly output: StreamOutput | undefined;
  readonly rules: CallerRules;
  readonly till: Till;
  readonly signal: AbortSignal;
  readonly inner: InnerGenerate;
  /** Absent: the caller has no filters. */
  readonly inspection: Inspection | undefined;
}

/** What stays open while the answer goes out; whoever serves a request ends it. */
export interface Serving {
  turns?: Turns;
  outcome?: OutcomeWatch;
  /** The memory that stored files of the request take. */
  files?: BytesTaken;
}

/**
 * Begins with the first turn; server tools may ask for more.
 * @param serving is filled as the parts of the answer open
 * @throws GatewayError what the last failure means for the caller
 */
export async function openAnswer(parts: AnswerParts, question: AnswerQuestion, serving: Serving): Promise<Committed> {
  const { prepared, context, output, rules, till, signal, inner, inspection } = question;
  const { revision, choice, offered, adapt, route, wish } = prepared;
  const { record, format } = context;
  const outcome = (serving.outcome = createOutcomeWatch(parts, route));
  const turns = (serving.turns = openTurns(parts, {
    route,
    fitting: revision.fitting,
    adapt,
    record,
    outcome,
    signal,
    rescue: output !== undefined && mayRescue(route, parts) ? rescueBy(till, rules, route, wish) : undefined,
    keptUsWaiting: () => output?.keptUsWaiting() === true,
  }));
  const begun = await turns.begin();
  // Each turn before anybody acts on it: what a filter replaces in a call is not what the tool is given.
  const first = inspection === undefined ? begun : await inspection.answer(begun);
  if (offered === undefined || offered.entries.length === 0) return first;
  return answerWithTools(first, parts, {
    offered,
    record,
    route,
    turns,
    inner,
    choice,
    inspection,
    signal,
    words: format.serverCalls,
    wish,
    moveHold: (next) => till.move(rules.limits, next),
  });
}

/** The caller's word counts before the operator's. */
function mayRescue({ plan, request }: Route, { rescue }: AnswerParts): boolean {
  return plan.allowFallbacks && (request.directives.rescue ?? rescue);
}

/** Whoever goes on reads what the caller has, and may have to say it all again. */
function rescueBy(
  { further }: Till,
  { limits }: CallerRules,
  route: Route,
  wish: (route: Route) => Wish,
): TurnsQuestion['rescue'] {
  return (request, delivered) =>
    further.add(limits, () => wish({ ...route, request: longestGoOn(request, delivered) }));
}
