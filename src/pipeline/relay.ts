import { transportFailure } from '../canonical/classify-failure.ts';
import type { EventBatch } from '../canonical/events.ts';
import type { FormatId } from '../canonical/extra.ts';
import { createFold } from '../canonical/fold.ts';
import type { GatewayError } from '../canonical/gateway-error.ts';
import type { GenerationRecord } from '../telemetry/record.ts';
import type { AnswerIdentity, ClientFormat, Closing, ErrorContext } from '../wire/format.ts';
import type { Committed } from './attempts.ts';
import type { Caller } from './caller.ts';
import { createReasoningExclusion } from './exclude-reasoning.ts';
import { noteLeftOut } from './left-out.ts';
import { upstreamError } from './route-errors.ts';
import type { StreamOutput } from './stream-output.ts';

export interface RelayContext {
  readonly format: ClientFormat;
  readonly caller: Caller;
  readonly record: GenerationRecord;
  /** Makes the charge durable, and gives what the answer's end tells. */
  readonly settle: () => Promise<Closing>;
  readonly errorContext: () => ErrorContext;
}

/** Frames go out as they come, with back-pressure; the terminal frame waits until the charge is durable. */
export async function relayStream(committed: Committed, output: StreamOutput, context: RelayContext): Promise<void> {
  const { record, format } = context;
  const { source } = committed;
  const encoder = format.createStreamEncoder(identify(record));
  const revise = record.request.settings.reasoning?.exclude === true ? createReasoningExclusion() : undefined;
  for (const { provider, body } of committed.echoes) await output.write(encoder.debug(provider, body));
  for (let batch = await source.read(); batch !== undefined; batch = await source.read()) {
    meter(record, committed.candidate.format, format, batch);
    record.capture?.push(batch);
    const frames = encoder.encode(revise === undefined ? batch : revise(batch));
    if (frames !== '') {
      const slow = output.write(frames);
      if (slow !== undefined) await slow;
    }
  }
  const error = brokenOff(record, committed);
  if (isCallersDoing(record, output)) record.cancelled = true;
  const closing = await context.settle();
  output.end(error === undefined ? encoder.close(closing) : encoder.fail(error, closing, context.errorContext()));
}

/** One folded answer. */
export async function relayWhole(committed: Committed, context: RelayContext): Promise<void> {
  const { record, format, caller } = context;
  const { source } = committed;
  const fold = createFold();
  const revise = record.request.settings.reasoning?.exclude === true ? createReasoningExclusion() : undefined;
  for (let batch = await source.read(); batch !== undefined; batch = await source.read()) {
    meter(record, committed.candidate.format, format, batch);
    record.capture?.push(batch);
    fold.push(revise === undefined ? batch : revise(batch));
  }
  brokenOff(record, committed);
  const closing = await context.settle();
  caller.answer(record.id, format.encodeWhole(fold.answer(), identify(record), closing));
}

function identify(record: GenerationRecord): AnswerIdentity {
  const { endpoint } = record;
  return {
    id: record.id,
    createdS: Math.floor(record.createdMs / 1_000),
    model: endpoint?.model ?? record.report.requested,
    ...(endpoint !== undefined && { provider: endpoint.providerName }),
  };
}

/** The hot loop of every stream: one pass over the events of one network read. */
function meter(record: GenerationRecord, spoken: FormatId, format: ClientFormat, batch: EventBatch): void {
  for (const event of batch) {
    switch (event.type) {
      case 'block-delta':
        if (event.text !== undefined) record.answerChars += event.text.length;
        break;
      case 'block-start':
        if ('text' in event.block) record.answerChars += event.block.text.length;
        else if (event.block.type === 'media') record.answerMedia++;
        noteLeftOut(event, spoken, format, record);
        break;
      case 'usage':
        record.usage = event.usage;
        noteLeftOut(event, spoken, format, record);
        break;
      case 'start':
        record.upstreamId ??= event.id;
        noteLeftOut(event, spoken, format, record);
        break;
      case 'end':
        record.end = event;
        noteLeftOut(event, spoken, format, record);
        break;
      case 'failed':
        record.failure = event.failure;
        break;
      case 'warning':
        record.warn([event.warning]);
        break;
      case 'citation':
      case 'extra':
        noteLeftOut(event, spoken, format, record);
        break;
      case 'block-end':
        break;
    }
  }
}

/**
 * A caller who reads too slowly for the time of the request, or for the patience of the upstream, has what was sent so
 * far, and owes it like one who hangs up. @source decisions.md 21
 */
function isCallersDoing({ failure }: GenerationRecord, output: StreamOutput): boolean {
  return (failure?.clock === 'total' || failure?.kind === 'reset') && output.keptUsWaiting();
}

/** What went wrong after the answer had begun; never an invented end (pains.md 1). */
function brokenOff(record: GenerationRecord, committed: Committed): GatewayError | undefined {
  if (record.end === undefined) record.failure ??= transportFailure('early-end');
  const { failure } = record;
  if (failure === undefined) return undefined;
  if (failure.kind === 'aborted') record.cancelled = true;
  record.error = upstreamError(failure, committed.candidate);
  return record.error;
}
