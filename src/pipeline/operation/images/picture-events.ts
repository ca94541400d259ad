import { classifyErrorEvent, transportFailure } from '../../../canonical/failure/classify-failure.ts';
import { describeFailure, type UpstreamFailure } from '../../../canonical/failure/failure.ts';
import { GatewayError } from '../../../canonical/gateway-error.ts';
import type { ImageOperation } from '../../../canonical/image.ts';
import { NotThatJson } from '../../../lib/json/walk-bytes.ts';
import { SseBytes } from '../../../lib/net/sse-bytes.ts';
import { checkBase64Picture } from '../../../lib/pictures/base64-picture.ts';
import {
  encodeCompleted,
  encodePartial,
  type CheckedPicture,
  type ImageAnswer,
} from '../../../wire/image/answer-out.ts';
import type { ImageAnswerFacts, ImageEvent, ImageFormat, ImageTokens } from '../../../wire/image/format.ts';
import { statusOfError } from '../../../wire/upstream-error.ts';
import { judgeFailure } from '../../attempt/judge-failure.ts';
import { takeRoom } from '../../attempt/read-answer.ts';
import {
  LARGE_ANSWER_BYTES,
  NO_ANSWER_ROOM,
  NoResponseRoom,
  type ResponseRoom,
} from '../../response/whole-response-budget.ts';
import type { CallDeps, CandidateCall } from '../call-candidates.ts';
import { announce, type EventDelivery } from '../kind-steps.ts';
import type { RequestFacts } from '../../request.ts';
import type { AnswerWriter } from '../operation-request.ts';
import type { OpenAnswer } from '../one-call.ts';
import { usageOfPictures } from './picture-usage.ts';
import { isCutShort } from '../../running-requests.ts';

const EVENT_BYTES_MAX = 67_108_864;
/** Each time an event outgrows its room it gets one of so many times the size. */
const ROOM_FACTOR = 4;
const SPLICED_COPIES = 2;
const MS_PER_SECOND = 1_000;
const TURN_BYTES = 262_144;

interface Opened {
  readonly opened: OpenAnswer;
  readonly call: CandidateCall<ImageOperation>;
  readonly format: ImageFormat;
  readonly wholeMs: number;
}

/** Reads to the first event, so that what goes wrong before it is a status. */
export async function openEvents(
  deps: CallDeps,
  input: Opened,
): Promise<{ readonly events: EventReader } | UpstreamFailure> {
  const events = new EventReader(deps, input);
  const first = await events.peek();
  if (first === undefined || 'kind' in first) {
    events.close();
    return first ?? transportFailure('early-end');
  }
  return { events };
}

/** An event that was read, and the memory that it takes. */
export interface ReadEvent {
  readonly event: Exclude<ImageEvent, { readonly type: 'error' }>;
  readonly room: ResponseRoom;
}

/** Reads the events of a stream of pictures, which may have many megabytes each. A class because it lives as long as its answer. */
export class EventReader {
  readonly #deps: CallDeps;
  readonly #input: Opened;
  readonly #parser = new SseBytes(EVENT_BYTES_MAX);
  #room: ResponseRoom;
  #roomBytes = LARGE_ANSWER_BYTES;
  #waiting: (ReadEvent | UpstreamFailure)[] = [];
  #isOver = false;

  constructor(deps: CallDeps, input: Opened) {
    this.#deps = deps;
    this.#input = input;
    this.#room = input.call.memory.open(SPLICED_COPIES);
  }

  async peek(): Promise<ReadEvent | UpstreamFailure | undefined> {
    const event = await this.next();
    if (event !== undefined) this.#waiting.unshift(event);
    return event;
  }

  /** The next event; a failure ends them; `undefined`: the stream is over. */
  async next(): Promise<ReadEvent | UpstreamFailure | undefined> {
    const { opened } = this.#input;
    try {
      while (this.#waiting.length === 0 && !this.#isOver) {
        await this.#growRoom();
        const chunk = await opened.answer.read();
        if (chunk === undefined) {
          this.#isOver = true;
          opened.call.finish();
        }
        for (const data of chunk === undefined ? this.#parser.end() : this.#parser.push(chunk)) this.#take(data);
      }
    } catch (error) {
      this.close();
      if (error instanceof NotThatJson) return transportFailure('garbage');
      return error instanceof NoResponseRoom ? NO_ANSWER_ROOM : opened.call.explain(error);
    }
    return this.#waiting.shift();
  }

  /** Nothing more is read. */
  close(): void {
    if (!this.#isOver) this.#input.opened.call.cancel();
    this.#isOver = true;
    this.#input.opened.call.finish();
  }

  #take(data: Buffer): void {
    const { format, call } = this.#input;
    const event = format.decodeEvent?.(data);
    if (event === undefined) return;
    if (event.type === 'error') {
      this.#waiting.push(judgeFailure(classifyErrorEvent(statusOfError(event.error), event.error), call.provider));
      return;
    }
    // What it took is its own now.
    this.#room.shrink(data.length);
    this.#waiting.push({ event, room: this.#room });
    this.#room = call.memory.open(SPLICED_COPIES);
    this.#roomBytes = LARGE_ANSWER_BYTES;
  }

  /** While there is no memory for the event, its upstream is not read. */
  async #growRoom(): Promise<void> {
    if (this.#parser.heldBytes <= this.#roomBytes) return;
    const { opened, call, wholeMs } = this.#input;
    const { deadline, cancellation } = call;
    this.#roomBytes = Math.min(this.#roomBytes * ROOM_FACTOR, EVENT_BYTES_MAX);
    if (this.#parser.heldBytes > this.#room.bytesMax) throw new RangeError('The event is too large.');
    const { watch } = opened.call;
    const space = { room: () => this.#room, turns: this.#deps.turns, cancellation, watch, wholeMs, deadline };
    await takeRoom(space, opened.answer, this.#roomBytes);
  }
}

type Delivery = EventDelivery<ImageOperation, object>;

interface Completed {
  readonly pictures: CheckedPicture[];
  tokens: ImageTokens | undefined;
  facts: ImageAnswerFacts;
}

/**
 * Passes previews on as they come. Complete pictures wait until all of them are there and the charge is durable: a caller that
 * hangs up before owes nothing, and one that has a picture owes it. @spec image-9
 */
export async function relayEvents(input: Delivery, events: EventReader): Promise<void> {
  const { open, served, writer, deps } = input;
  const { log, meter } = open.facts;
  const { request } = log;
  open.defer(() => events.close());
  announce(writer, open, served);
  writer.startStream(log.id);
  const completed: Completed = { pictures: [], tokens: undefined, facts: {} };
  const createdNow = Math.floor(deps.nowMs() / MS_PER_SECOND);
  for (let read = await events.next(); read !== undefined; read = await events.next()) {
    if ('kind' in read) return breakOff(input, read);
    const failure = await takeEvent(input, read, completed, createdNow);
    if (failure !== undefined) return breakOff(input, failure);
  }
  if (completed.pictures.length === 0) return breakOff(input, transportFailure('early-end'));
  meter.usage = usageOfPictures(completed, request, served.candidate.endpoint);
  meter.end = { type: 'end', finish: 'stop' };
  noteCount(open.facts, completed.pictures.length);
  await open.settle().durable;
  const { pictures, facts } = completed;
  return sendWholeAsEvents(input, { pictures, facts, created: facts.created ?? createdNow });
}

/** Fewer pictures than were wanted are delivered, and charged, as they are. */
export function noteCount({ log, meter }: RequestFacts<ImageOperation>, count: number): void {
  const { n } = log.request;
  meter.media = count;
  if (count < n)
    log.warn([{ code: 'field-changed', path: 'n', message: `the provider made ${count} of ${n} pictures` }]);
}

async function takeEvent(
  { open, writer, output, deps }: Delivery,
  { event, room }: ReadEvent,
  completed: Completed,
  createdNow: number,
): Promise<UpstreamFailure | undefined> {
  const { request } = open.facts.log;
  const raw = event.type === 'partial' ? event : event.picture;
  const facts = 'base64' in raw ? await checkBase64Picture(raw.base64, () => deps.turns.next()) : undefined;
  if (facts === undefined || !('base64' in raw)) return transportFailure('garbage');
  const picture: CheckedPicture = { base64: raw.base64, facts };
  if (event.type === 'completed') {
    if (completed.pictures.length >= request.n) room.close();
    else completed.pictures.push(picture);
    completed.tokens = addTokens(completed.tokens, event.tokens);
    completed.facts = { ...completed.facts, ...event.facts };
    return undefined;
  }
  const answer = { pictures: [picture], facts: event.facts, created: event.facts.created ?? createdNow };
  const pieces = encodePartial(request, event.index, answer);
  await output.writeEvent(() => sendPieces(writer, pieces, open.cancellation.signal));
  room.close();
  return undefined;
}

/** Each picture has a count of its own. */
function addTokens(before: ImageTokens | undefined, more: ImageTokens | undefined): ImageTokens | undefined {
  if (before === undefined || more === undefined) return more ?? before;
  const sum: { -readonly [Count in keyof ImageTokens]?: number } = {};
  for (const count of ['input', 'inputImages', 'output', 'outputImages'] as const)
    if (before[count] !== undefined || more[count] !== undefined)
      sum[count] = (before[count] ?? 0) + (more[count] ?? 0);
  return sum;
}

/** The pictures of an answer as the end of a stream. They are charged. */
export async function sendWholeAsEvents({ open, writer, output }: Delivery, answer: ImageAnswer): Promise<void> {
  const { log } = open.facts;
  const finalUsage = open.finalUsage();
  for (const picture of answer.pictures) {
    const pieces = encodeCompleted(log.request, { ...answer, pictures: [picture] }, finalUsage);
    await output.writeEvent(() => sendPieces(writer, pieces, open.cancellation.signal));
  }
  output.end('data: [DONE]\n\n');
}

/** At the pace of the reader. */
async function sendPieces(writer: AnswerWriter, pieces: readonly Uint8Array[], signal: AbortSignal): Promise<void> {
  for (const piece of pieces)
    for (let from = 0; from < piece.length; from += TURN_BYTES)
      if (!writer.writeBytes(piece.subarray(from, from + TURN_BYTES))) await writer.drained(signal);
}

/** A stream that broke off ends with an error, and is not charged. */
async function breakOff({ open, output }: Delivery, failure: UpstreamFailure): Promise<void> {
  const { meter } = open.facts;
  meter.cancelled = isCutShort(open.cancellation.reason);
  meter.failure = failure;
  const { errorType, status } = failure;
  const error = await open.fail(new GatewayError(errorType, describeFailure(failure), { status }));
  output.end(encodeStreamFailure(error));
}

/** The last event of a stream that fails. */
export function encodeStreamFailure({ type, status, message, issues }: GatewayError): string {
  const error = { message, code: status, type, param: issues?.[0]?.path ?? null };
  return `data: ${JSON.stringify({ type: 'error', error })}\n\ndata: [DONE]\n\n`;
}
