import type { Hold, Ledger, Wish } from '../accounts/ledger.ts';
import type { Principal } from '../accounts/principal.ts';
import type { Passage, RatedRequest, RateLimiter } from '../accounts/rate-limits.ts';
import { estimateRequestTokens } from '../canonical/estimate-tokens.ts';
import { GatewayError } from '../canonical/gateway-error.ts';
import type { GenerationRequest } from '../canonical/request.ts';
import type { Clock } from '../lib/clock.ts';
import type { Candidate } from '../routing/plan.ts';
import { GenerationRecord } from '../telemetry/record.ts';
import type { ClientFormat, ErrorContext } from '../wire/format.ts';
import { longestGoOn } from './ask-to-go-on.ts';
import { openAttempts, type Attempts, type AttemptsParts } from './attempts.ts';
import type { Caller } from './caller.ts';
import { readCallerRules, type CallerRules, type RulesParts } from './caller-rules.ts';
import { chooseRoute, reportRoute, reportServed, type Route, type RouteParts } from './choose-route.ts';
import { hashEndUser } from './end-user-id.ts';
import { createFurtherHolds, type FurtherHolds } from './further-holds.ts';
import { limitAsSent } from './limit-as-sent.ts';
import { refuseUnbuilt } from './not-built-yet.ts';
import { rescuing, type RescueQuestion } from './rescue.ts';
import { relayStream, relayWhole, type RelayContext } from './relay.ts';
import { createOutcomeWatch, type OutcomeWatch } from './note-outcome.ts';
import { nothingFits } from './route-errors.ts';
import { closingOf, metadataOf, type Settle } from './settle.ts';
import { openStreamOutput, type StreamOutput } from './stream-output.ts';
import { worstCaseOf, type WorstCase } from './worst-case.ts';

export interface GenerateParts extends AttemptsParts, RulesParts, Omit<RouteParts, 'memory' | 'formats'> {
  readonly clock: Clock;
  readonly ledger: Ledger;
  readonly rateLimiter: RateLimiter;
  readonly settle: Settle;
  readonly totalMs: number;
  /** Whether another endpoint goes on with a stream that breaks off, where the caller does not say. */
  readonly rescue: boolean;
  readonly region: string;
  readonly baseUrl: () => string;
  readonly streams: { streamOpened(): void; streamClosed(): void };
  /** Keeps what answers say, where somebody wants that. Absent: nobody does. */
  readonly openCapture?: (record: GenerationRecord) => GenerationRecord['capture'];
  /** For the operator's eyes: a broken assumption of ours. */
  readonly onBug: (error: unknown, generationId: string) => void;
}

/** One request, decoded and admitted. */
export interface Asked {
  readonly id: string;
  readonly request: GenerationRequest;
  readonly asker: Principal;
  /** Monotonic ms. */
  readonly arrivedMs: number;
}

/** Answers the caller in every case, and returns when the answer has been handed over and accounted for. */
export type Generate = (asked: Asked, format: ClientFormat, caller: Caller) => Promise<void>;

/** What happens to a request, from top to bottom. */
export function createGenerate(parts: GenerateParts): Generate {
  return async (asked, format, caller) => {
    const record = openRecord(asked, parts);
    record.capture = parts.openCapture?.(record);
    const { request } = record;
    const limit = limitTime(caller, parts.totalMs);
    const output = request.delivery === 'stream' ? openOutput(record, format, caller, limit.signal, parts) : undefined;
    if (output !== undefined) parts.streams.streamOpened();
    let outcome: OutcomeWatch | undefined;
    let attempts: Attempts | undefined;
    let hold: Hold | undefined;
    const further = createFurtherHolds(parts.ledger, asked);
    let passage: Passage | undefined;
    const settle = async (): Promise<void> => {
      await parts.settle(record, hold);
      await further.release();
      await passage?.ended(record.usage);
    };
    const context: RelayContext = {
      format,
      caller,
      record,
      settle: async () => {
        await settle();
        return closingOf(record, parts.region);
      },
      errorContext: () => errorContext(record, parts),
    };
    try {
      refuseUnbuilt(request);
      const rules = await readCallerRules(parts, asked.asker);
      const route = await findRoute(record, parts, rules);
      hold = await parts.ledger.reserve(asked.asker, rules.limits, () => wishOf(record, route, parts));
      passage = await parts.rateLimiter.admit(asked.asker, ratedRequest(record, route));
      outcome = createOutcomeWatch(parts, route);
      const { signal } = limit;
      attempts = openAttempts(parts, {
        plan: route.plan,
        request: route.request,
        record,
        signal,
        onFailed: outcome.failed,
      });
      const chosen = await attempts.begin();
      reportServed(record.report, route, chosen.candidate.endpoint);
      const committed = outcome.committed(chosen);
      if (output === undefined) await relayWhole(committed, context);
      else {
        const fund = fundBy(further, record, route, rules, parts);
        const { providers } = parts;
        const rescue = { providers, request: route.request, attempts, record, outcome, signal, fund };
        await relayStream(mayRescue(route, parts) ? rescuing(committed, rescue) : committed, output, context);
      }
    } catch (error) {
      // Whatever failed, an upstream that still sends must not send to nobody.
      limit.abort();
      record.error = asGatewayError(error, record, parts);
      await settle();
      refuse(record.error, output, context);
    } finally {
      limit.stop();
      attempts?.close();
      output?.stop();
      if (output !== undefined) parts.streams.streamClosed();
      await settle();
      outcome?.ended(record);
    }
  };
}

function openRecord({ id, request, asker, arrivedMs }: Asked, { clock, defaults }: GenerateParts): GenerationRecord {
  return new GenerationRecord({
    id,
    request,
    asker,
    endUserId: hashEndUser(asker.accountId, request.directives.user),
    requested: request.directives.models[0] ?? defaults.model ?? '',
    arrivedMs,
    clock,
  });
}

function openOutput(
  { id }: GenerationRecord,
  { keepAlive }: ClientFormat,
  caller: Caller,
  signal: AbortSignal,
  { clock }: GenerateParts,
): StreamOutput {
  return openStreamOutput(caller, { generationId: id, keepAlive, signal, monotonicMs: () => clock.monotonicMs() });
}

/** @throws GatewayError 400 or 404 */
async function findRoute(record: GenerationRecord, parts: GenerateParts, rules: CallerRules): Promise<Route> {
  const { request, report } = record;
  const route = await chooseRoute(parts, request, rules);
  reportRoute(report, route);
  const { plan } = route;
  const slugs = request.directives.models;
  if (plan.candidates.length === 0 && plan.cooling.length === 0)
    throw nothingFits(plan.considered, slugs.length > 0 ? slugs : [report.requested]);
  return route;
}

/** The most that the route may come to cost. What rests now may be tried after all. */
function wishOf({ id, createdMs }: GenerationRecord, { plan, request }: Route, parts: GenerateParts): Wish {
  const candidates = [...plan.candidates, ...plan.cooling.map(({ candidate }) => candidate)];
  const worstOf = (some: readonly Candidate[]): WorstCase =>
    worstCaseOf(
      request,
      some.map((one) => ({ endpoint: one.endpoint, maxTokens: limitAsSent(parts, request, one) })),
      createdMs,
    );
  const { nanoUsd, isOpenEnded, affordableTokens } = worstOf(
    candidates.filter(({ credential }) => credential === undefined),
  );
  const byok = candidates.filter(({ credential }) => credential !== undefined);
  // One of them serves: where both count, the dearer one is enough.
  const byokNanoUsd = byok.length === 0 ? 0 : Math.max(0, worstOf(byok).nanoUsd - nanoUsd);
  return { generationId: id, worst: { ownNanoUsd: nanoUsd, byokNanoUsd }, isOpenEnded, affordableTokens };
}

/** Whoever goes on reads what the caller has, and may have to say it all again. */
function fundBy(
  further: FurtherHolds,
  record: GenerationRecord,
  route: Route,
  { limits }: CallerRules,
  parts: GenerateParts,
): RescueQuestion['fund'] {
  return (delivered) =>
    further.add(limits, () => wishOf(record, { ...route, request: longestGoOn(route.request, delivered) }, parts));
}

/** Free is what a slug comes to, however it is spelled and whoever chose it. */
function ratedRequest({ id, request }: GenerationRecord, { resolved }: Route): RatedRequest {
  return {
    generationId: id,
    promptTokens: () => estimateRequestTokens(request),
    isFree: resolved.models.some(({ slug }) => slug.endsWith(':free')),
  };
}

/** The caller's word counts before the operator's. */
function mayRescue({ plan, request }: Route, { rescue }: GenerateParts): boolean {
  return plan.allowFallbacks && (request.directives.rescue ?? rescue);
}

/** One signal for the whole request: the caller hung up, or the total time is over (its reason is then `total`). */
function limitTime(caller: Caller, totalMs: number): { readonly signal: AbortSignal; abort(): void; stop(): void } {
  const controller = new AbortController();
  const timer = setTimeout(() => controller.abort('total'), totalMs);
  caller.onGone(() => controller.abort('gone'));
  return { signal: controller.signal, abort: () => controller.abort('over'), stop: () => clearTimeout(timer) };
}

function errorContext(record: GenerationRecord, parts: GenerateParts): ErrorContext {
  return {
    generationId: record.id,
    serviceMetadata: metadataOf(record, parts.region),
    baseUrl: parts.baseUrl(),
  };
}

function asGatewayError(error: unknown, record: GenerationRecord, parts: GenerateParts): GatewayError {
  if (record.failure?.kind === 'aborted') record.cancelled = true;
  if (error instanceof GatewayError) return error;
  parts.onBug(error, record.id);
  return new GatewayError('server', 'The gateway failed unexpectedly.', { cause: error });
}

function refuse(error: GatewayError, output: StreamOutput | undefined, context: RelayContext): void {
  const { caller, record, format } = context;
  output?.stop();
  if (!caller.started) {
    caller.refuse(error, context.errorContext());
    return;
  }
  const encoder = format.createStreamEncoder({
    id: record.id,
    createdS: Math.floor(record.createdMs / 1_000),
    model: record.report.requested,
  });
  caller.end(encoder.fail(error, undefined, context.errorContext()));
}
