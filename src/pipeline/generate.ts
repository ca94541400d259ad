import type { Principal } from '../accounts/principal.ts';
import { GatewayError, withMetadata } from '../canonical/gateway-error.ts';
import type { GenerationRequest } from '../canonical/request.ts';
import { GenerationRecord } from '../telemetry/record.ts';
import type { ClientFormat, ErrorContext } from '../wire/format.ts';
import type { Caller } from './caller.ts';
import { hashEndUser } from './end-user-id.ts';
import { createInnerGenerate, type Inside } from './inner-generation.ts';
import { serve, type AnswerContext, type ServeParts, type Serving } from './serve.ts';
import { closingOf, metadataOf } from './settle.ts';
import { openStreamOutput, type StreamOutput } from './stream-output.ts';
import { Till } from './till.ts';

export interface GenerateParts extends ServeParts {
  readonly totalMs: number;
  readonly region: string;
  readonly baseUrl: () => string;
  readonly streams: { streamOpened(): void; streamClosed(): void };
  /** Keeps what answers say, where somebody wants that. Absent: nobody does. */
  readonly openCapture?: (record: GenerationRecord) => GenerationRecord['capture'];
}

/** One request, decoded and admitted. */
export interface Asked {
  readonly id: string;
  readonly request: GenerationRequest;
  readonly asker: Principal;
  /** Monotonic ms. */
  readonly arrivedMs: number;
  /** Set where it serves another request. */
  readonly inside?: Inside;
}

/** Answers the caller in every case, and returns when the answer has been handed over and accounted for. */
export type Generate = (asked: Asked, format: ClientFormat, caller: Caller) => Promise<void>;

/** What is around a request, whatever becomes of it: its record, its time, its charge, and the error it ends with. */
export function createGenerate(parts: GenerateParts): Generate {
  const { streams, clock } = parts;
  const generate: Generate = async (asked, format, caller) => {
    const record = openRecord(asked, parts);
    record.capture = parts.openCapture?.(record);
    const limit = limitTime(caller, parts.totalMs);
    const { signal } = limit;
    const output = record.request.delivery === 'stream' ? openOutput(record, format, caller, signal, parts) : undefined;
    if (output !== undefined) streams.streamOpened();
    const till = new Till(parts, asked.asker, record);
    const context: AnswerContext = {
      format,
      caller,
      record,
      settle: () => {
        const durable = till.settle();
        return { durable, closing: closingOf(record, parts.region) };
      },
      errorContext: () => errorContext(record, parts),
    };
    const { asker, inside } = asked;
    const inner = createInnerGenerate({ generate, clock }, asked, { record, format, signal });
    const serving: Serving = {};
    try {
      await serve(parts, { asker, context, output, till, signal, inner, inside }, serving);
    } catch (error) {
      // Whatever failed, an upstream that still sends must not send to nobody.
      limit.abort();
      record.error = asGatewayError(error, record, parts);
      await till.settle();
      refuse(record.error, output, context);
    } finally {
      limit.stop();
      serving.turns?.close();
      output?.stop();
      if (output !== undefined) streams.streamClosed();
      await till.settle();
      serving.outcome?.ended(record);
    }
  };
  return generate;
}

function openRecord(
  { id, request, asker, arrivedMs, inside }: Asked,
  { clock, defaults }: GenerateParts,
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

function openOutput(
  { id }: GenerationRecord,
  { keepAlive }: ClientFormat,
  caller: Caller,
  signal: AbortSignal,
  { clock }: GenerateParts,
): StreamOutput {
  return openStreamOutput(caller, { generationId: id, keepAlive, signal, monotonicMs: () => clock.monotonicMs() });
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
  if (error instanceof GatewayError) return withMetadata(error, record.forError);
  parts.onBug(error, record.id);
  return new GatewayError('server', 'The gateway failed unexpectedly.', { cause: error });
}

function refuse(error: GatewayError, output: StreamOutput | undefined, context: AnswerContext): void {
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
