import { transportFailure } from '../../canonical/failure/classify-failure.ts';
import type { EventBatch } from '../../canonical/events.ts';
import { createFold, type Fold } from '../../canonical/fold.ts';
import { GatewayError } from '../../canonical/gateway-error.ts';
import type { StreamTransform } from '../../plugins/contract.ts';
import type { JsonObject } from '../../lib/json.ts';
import type { ResponseIdentity, ClientFormat, ErrorContext, FinalUsage, StreamEncoder } from '../../wire/format.ts';
import { isLast } from '../attempt/first-content.ts';
import type { RequestFacts, ResponseWriter, UpstreamResponse } from '../request.ts';
import { upstreamError } from '../route/route-errors.ts';
import type { ResponseCacheWriter } from './cached-response.ts';
import { DroppedFields } from './dropped-fields.ts';
import { createReasoningExclusion } from './exclude-reasoning.ts';
import type { StreamOutput } from './sse-output.ts';

export interface RelayInput {
  readonly facts: RequestFacts;
  readonly format: ClientFormat;
  readonly writer: ResponseWriter;
  /** Which response it is, as far as is known now. */
  readonly identify: () => ResponseIdentity;
  /** What the response goes through on its way, in this order. */
  readonly streamTransforms: readonly StreamTransform[];
  /** Collects the response as the caller gets it, where it may be replayed. */
  readonly cacheWriter?: ResponseCacheWriter | undefined;
  readonly errorContext: () => ErrorContext;
}

/** The end of a response, which leaves only when its charge is durable. */
export interface ResponseEnding {
  /** The response as one object, for a store that keeps it; `undefined` in formats that have none. */
  snapshot(finalUsage: FinalUsage): JsonObject | undefined;
  /** What is left to send: the whole JSON, or the terminal frames of a stream. */
  encode(finalUsage: FinalUsage): string;
  send(encoded: string): void;
}

/** Sends frames as they come, with back-pressure, up to the terminal frames. */
export async function relayStream(
  response: UpstreamResponse,
  output: StreamOutput,
  encoder: StreamEncoder,
  input: RelayInput,
): Promise<ResponseEnding> {
  const { facts, errorContext } = input;
  encoder.serve?.(input.identify());
  let echoed = 0;
  // Each before the content of its attempt: an endpoint that continues the response is called while it is under way.
  const echo = (): string => {
    const { echoes } = response;
    if (echoed === echoes.length) return '';
    const unreported = echoes.slice(echoed);
    echoed = echoes.length;
    return unreported.map(({ provider, body }) => encoder.debug(provider, body)).join('');
  };
  const give: Give = (batch) => {
    const frames = echo() + encoder.encode(batch);
    return frames === '' ? undefined : output.write(frames);
  };
  const error = await new Intake(response, input, give)
    .read()
    .catch((reason: unknown) => stopResponse(reason, response, facts));
  if (isCallersDoing(facts, output)) facts.meter.cancelled = true;
  return {
    snapshot: (finalUsage) => encoder.snapshot?.(finalUsage, error),
    encode: (finalUsage) =>
      error === undefined ? encoder.close(finalUsage) : encoder.fail(error, finalUsage, errorContext()),
    send: (frames) => output.end(echo() + frames),
  };
}

/** Folds a response into one JSON, at once where all of it is here. @throws GatewayError when the caller must not have it */
export function relayWhole(response: UpstreamResponse, input: RelayInput): ResponseEnding | Promise<ResponseEnding> {
  const fold = createFold();
  const intake = new Intake(response, input, (batch) => {
    fold.push(batch);
    return undefined;
  });
  if (!intake.takeAll()) return intake.read().then(() => endWhole(fold, input));
  intake.end();
  return endWhole(fold, input);
}

function endWhole(fold: Fold, { facts, format, writer, identify }: RelayInput): ResponseEnding {
  let kept: JsonObject | undefined;
  return {
    snapshot(finalUsage) {
      kept = format.snapshotWhole?.(fold.response(), identify(), finalUsage);
      return kept;
    },
    // What is kept is what the caller gets: its items have ids, which are made only once.
    encode: (finalUsage) =>
      kept !== undefined && finalUsage.isStored === true
        ? JSON.stringify(kept)
        : format.encodeWhole(fold.response(), identify(), finalUsage),
    send: (json) => writer.answer(facts.log.id, json),
  };
}

/** Takes what the caller is to have. Resolves at once unless the caller reads too slowly. */
type Give = (batch: EventBatch) => Promise<void> | undefined;

/**
 * Meters the response as it comes from upstream, and hands it on as the caller is to have it. A class because it lives as
 * long as its response.
 */
class Intake {
  readonly #response: UpstreamResponse;
  readonly #input: RelayInput;
  readonly #give: Give;
  readonly #dropped: DroppedFields;
  readonly #exclude: ((batch: EventBatch) => EventBatch) | undefined;

  constructor(response: UpstreamResponse, input: RelayInput, give: Give) {
    const { log } = input.facts;
    this.#response = response;
    this.#input = input;
    this.#give = give;
    this.#dropped = new DroppedFields(log, input.format);
    this.#exclude = log.request.settings.reasoning?.exclude === true ? createReasoningExclusion() : undefined;
  }

  /**
   * Takes a response that is here up to its end. @returns `false`: there is more of it to read
   * @throws GatewayError when the caller must have no more of it
   */
  takeAll(): boolean {
    const all = this.#response.source.takeAll?.();
    const { meter } = this.#input.facts;
    return all !== undefined && this.#take(all) === undefined && (meter.end ?? meter.failure) !== undefined;
  }

  /** @returns why it broke off, if it did. @throws GatewayError when the caller must have no more of it */
  async read(): Promise<GatewayError | undefined> {
    const { source } = this.#response;
    for (let batch = await source.read(); batch !== undefined;) {
      const slow = this.#take(batch);
      if (slow !== undefined) await slow;
      batch = isLast(batch.at(-1)) ? undefined : await source.read();
    }
    const { meter } = this.#input.facts;
    if (meter.end === undefined && meter.failure === undefined) {
      meter.failure = transportFailure('early-end');
      // A transform that holds something back is given every end.
      await this.#pass([{ type: 'failed', failure: meter.failure }]);
    }
    return this.end();
  }

  /** An error after the response had begun; never an invented end (@spec stream-11). @returns as `read` */
  end(): GatewayError | undefined {
    const { log, meter } = this.#input.facts;
    if (meter.failure === undefined) return undefined;
    if (meter.failure.kind === 'aborted') meter.cancelled = true;
    log.error = upstreamError(meter.failure, this.#response.candidate);
    return log.error;
  }

  #take(batch: EventBatch): Promise<void> | undefined {
    this.#input.facts.meter.push(batch);
    this.#dropped.note(batch, this.#response.candidate.format);
    return this.#pass(batch);
  }

  #pass(batch: EventBatch): Promise<void> | undefined {
    const { facts, streamTransforms, cacheWriter } = this.#input;
    let transformed = batch;
    for (const transform of streamTransforms) transformed = transform(transformed);
    facts.log.capture?.push(transformed);
    const given = this.#exclude === undefined ? transformed : this.#exclude(transformed);
    cacheWriter?.push(given);
    return this.#give(given);
  }
}

/** The caller keeps what it has of the response, which ends with the error. @throws what is no GatewayError: a bug */
function stopResponse(reason: unknown, { source }: UpstreamResponse, { log }: RequestFacts): GatewayError {
  source.cancel();
  if (!(reason instanceof GatewayError)) throw reason;
  log.error = reason;
  return reason;
}

/**
 * A caller that reads too slowly for the time of the request, or for the patience of the upstream, has what was sent so
 * far, and owes it like one that hangs up. @spec money-17
 */
function isCallersDoing({ meter: { failure } }: RequestFacts, output: StreamOutput): boolean {
  return (failure?.clock === 'total' || failure?.kind === 'reset') && output.wasCallerSlow();
}
