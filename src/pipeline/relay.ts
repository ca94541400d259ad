import { transportFailure } from '../canonical/classify-failure.ts';
import type { EventBatch } from '../canonical/events.ts';
import type { FormatId } from '../canonical/extra.ts';
import { createFold } from '../canonical/fold.ts';
import { GatewayError } from '../canonical/gateway-error.ts';
import type { EventReviser } from '../plugins/contract.ts';
import type { GenerationRecord } from '../telemetry/record.ts';
import type { AnswerIdentity, ClientFormat, Closing, ErrorContext } from '../wire/format.ts';
import type { Committed } from './attempts.ts';
import type { Caller } from './caller.ts';
import { isLast } from './commit-answer.ts';
import { createReasoningExclusion } from './exclude-reasoning.ts';
import type { AnswerKeeper } from './kept-answer.ts';
import { noteLeftOut } from './left-out.ts';
import { upstreamError } from './route-errors.ts';
import type { StreamOutput } from './stream-output.ts';

export interface RelayContext {
  readonly format: ClientFormat;
  readonly caller: Caller;
  readonly record: GenerationRecord;
  /** What the answer goes through on its way, in this order. */
  readonly revisers: readonly EventReviser[];
  /** Fixes the charge: what the answer's end tells is known at once, but it may leave only when the charge is durable. */
  readonly settle: () => { readonly closing: Closing; readonly durable: Promise<void> };
  readonly errorContext: () => ErrorContext;
  /** Sees the answer as the caller gets it, where it may be given again. */
  readonly keeper?: AnswerKeeper | undefined;
}

/** Frames go out as they come, with back-pressure; the terminal frame waits until the charge is durable. */
export async function relayStream(committed: Committed, output: StreamOutput, context: RelayContext): Promise<void> {
  const { record, format } = context;
  const encoder = format.createStreamEncoder(identify(record));
  let echoed = 0;
  // Each before what the attempt gave: whoever goes on with the answer is asked when it is under way.
  const echo = (): string => {
    const { echoes } = committed;
    if (echoed === echoes.length) return '';
    const untold = echoes.slice(echoed);
    echoed = echoes.length;
    return untold.map(({ provider, body }) => encoder.debug(provider, body)).join('');
  };
  const give: Give = (batch) => {
    const frames = echo() + encoder.encode(batch);
    return frames === '' ? undefined : output.write(frames);
  };
  const error = await readAnswer(committed, context, give).catch((reason: unknown) =>
    stopAnswer(reason, committed, record),
  );
  if (isCallersDoing(record, output)) record.cancelled = true;
  const { closing, durable } = context.settle();
  const frames = error === undefined ? encoder.close(closing) : encoder.fail(error, closing, context.errorContext());
  await durable;
  output.end(echo() + frames);
}

/** One folded answer. @throws GatewayError when the caller must not have it */
export async function relayWhole(committed: Committed, context: RelayContext): Promise<void> {
  const { record, format, caller } = context;
  const fold = createFold();
  const give: Give = (batch) => {
    fold.push(batch);
    return undefined;
  };
  await readAnswer(committed, context, give);
  const { closing, durable } = context.settle();
  const json = format.encodeWhole(fold.answer(), identify(record), closing);
  await durable;
  caller.answer(record.id, json);
}

/** Takes what the caller is to have. Resolves at once unless the caller reads too slowly. */
type Give = (batch: EventBatch) => Promise<void> | undefined;

/**
 * Meters the answer as it comes from upstream, and hands it on as the caller is to have it.
 * @returns why it broke off, if it did
 * @throws GatewayError when the caller must have no more of it
 */
async function readAnswer(
  committed: Committed,
  { record, format, revisers, keeper }: RelayContext,
  give: Give,
): Promise<GatewayError | undefined> {
  const { source } = committed;
  const exclude = record.request.settings.reasoning?.exclude === true ? createReasoningExclusion() : undefined;
  const pass: Give = (batch) => {
    let revised = batch;
    for (const revise of revisers) revised = revise(revised);
    record.capture?.push(revised);
    const given = exclude === undefined ? revised : exclude(revised);
    keeper?.push(given);
    return give(given);
  };
  for (let batch = await source.read(); batch !== undefined;) {
    meter(record, committed.candidate.format, format, batch);
    const slow = pass(batch);
    if (slow !== undefined) await slow;
    batch = isLast(batch.at(-1)) ? undefined : await source.read();
  }
  const isSilentEnd = record.end === undefined && record.failure === undefined;
  const error = brokenOff(record, committed);
  // Whoever holds something back hears of every end.
  if (isSilentEnd && record.failure !== undefined) await pass([{ type: 'failed', failure: record.failure }]);
  return error;
}

/** The answer that came so far stays with the caller, and ends with the error. @throws what is no GatewayError: a bug */
function stopAnswer(reason: unknown, { source }: Committed, record: GenerationRecord): GatewayError {
  source.cancel();
  if (!(reason instanceof GatewayError)) throw reason;
  record.error = reason;
  return reason;
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
        if (event.text !== undefined) record.answerBytes += Buffer.byteLength(event.text);
        break;
      case 'block-start':
        if ('text' in event.block) record.answerBytes += Buffer.byteLength(event.block.text);
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
