import { GatewayError, withMetadata } from '../canonical/gateway-error.ts';
import type { Clock } from '../lib/clock.ts';
import { GenerationRecord } from '../telemetry/record.ts';
import type { ClientFormat, ErrorContext } from '../wire/format.ts';
import type { Caller } from './caller.ts';
import { hashEndUser } from './end-user-id.ts';
import type { RouteParts } from './choose-route.ts';
import type { Asked } from './generate.ts';
import type { AnswerContext } from './open-answer.ts';
import { metadataOf } from './settle.ts';
import { openStreamOutput, type StreamOutput } from './stream-output.ts';

/** What is around every request: its record, its time, and the error that it may end with. */
export interface FrameParts {
  readonly clock: Clock;
  readonly defaults: RouteParts['defaults'];
  readonly region: string;
  readonly baseUrl: () => string;
  /** For the operator's eyes: a broken assumption of ours. */
  readonly onBug: (error: unknown, generationId: string) => void;
}

export function openRecord(
  { id, request, asker, arrivedMs, inside }: Asked,
  { clock, defaults }: FrameParts,
): GenerationRecord {
  return new GenerationRecord({
    id,
    requestId: inside?.requestId,
    request,
    asker,
    endUserId: hashEndUser(asker.accountId, request.directives.user),
    requested: request.directives.models[0] ?? defaults.model ?? '',
    arrivedMs,
    clock,
  });
}

export function openOutput(
  { id }: GenerationRecord,
  { keepAlive }: ClientFormat,
  caller: Caller,
  signal: AbortSignal,
  { clock }: FrameParts,
): StreamOutput {
  return openStreamOutput(caller, { generationId: id, keepAlive, signal, monotonicMs: () => clock.monotonicMs() });
}

/** One signal for the whole request: the caller hung up, or the total time is over (its reason is then `total`). */
export function limitTime(
  caller: Caller,
  totalMs: number,
): { readonly signal: AbortSignal; abort(): void; stop(): void } {
  const controller = new AbortController();
  const timer = setTimeout(() => controller.abort('total'), totalMs);
  caller.onGone(() => controller.abort('gone'));
  return { signal: controller.signal, abort: () => controller.abort('over'), stop: () => clearTimeout(timer) };
}

/** Whoever leaves before the answer's end owes what there is of it, whatever was under way just then. @source decisions.md 21 */
export function noteHangUp(record: GenerationRecord, { reason }: AbortSignal): void {
  const { failure, serving, end, report } = record;
  const brokeOffBefore = serving !== undefined && failure !== undefined && failure.kind !== 'aborted';
  const isOver = end !== undefined || report.endedMs !== undefined;
  if (reason === 'gone' && !isOver && !brokeOffBefore) record.cancelled = true;
}

export function errorContext(record: GenerationRecord, parts: FrameParts): ErrorContext {
  return {
    generationId: record.id,
    serviceMetadata: metadataOf(record, parts.region),
    baseUrl: parts.baseUrl(),
  };
}

export function asGatewayError(error: unknown, record: GenerationRecord, parts: FrameParts): GatewayError {
  if (error instanceof GatewayError) return withMetadata(error, record.forError);
  parts.onBug(error, record.id);
  return new GatewayError('server', 'The gateway failed unexpectedly.', { cause: error });
}

export function refuse(error: GatewayError, output: StreamOutput | undefined, context: AnswerContext): void {
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
