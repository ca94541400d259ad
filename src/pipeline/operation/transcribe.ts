import { transportFailure } from '../../canonical/failure/classify-failure.ts';
import type { UpstreamFailure } from '../../canonical/failure/failure.ts';
import { estimateTokens } from '../../canonical/estimate-tokens.ts';
import { GatewayError } from '../../canonical/gateway-error.ts';
import { estimateHeardTokens, estimateOperationUsage } from '../../canonical/operation-usage.ts';
import { longestMs } from '../../canonical/audio.ts';
import type { TranscriptFormat, TranscriptionOperation } from '../../canonical/transcription.ts';
import { NO_USAGE, type Usage } from '../../canonical/usage.ts';
import type { Endpoint } from '../../catalog/model.ts';
import { isPaidByToken } from '../../catalog/price.ts';
import { offerOf } from '../../providers/contract.ts';
import { transcriptFormatAt } from '../../routing/audio-needs.ts';
import type { EncodedTranscription, TranscriptionFormat } from '../../wire/speech-to-text/format.ts';
import { encodeErrorEvent } from '../../wire/operations/operation-error.ts';
import { optionsFor } from '../../wire/provider-options.ts';
import { TRANSCRIPTION_FORMATS } from '../../wire/speech-to-text/formats.ts';
import {
  encodeTranscript,
  encodeTranscriptEvent,
  MEDIA_TYPE_OF_TRANSCRIPT,
} from '../../wire/speech-to-text/answer-out.ts';
import type { Transcript, TranscriptPiece } from '../../wire/speech-to-text/transcript.ts';
import { reportedError } from '../attempt/reported-error.ts';
import { boundUsage } from '../billing/complete-usage.ts';
import { ESTIMATE_MARGIN } from '../billing/cost-estimate.ts';
import type { StreamOutput } from '../response/sse-output.ts';
import type { CallDeps, CandidateCall } from './call-candidates.ts';
import { announce, asEvents, type DeliveryInput, type EventDelivery, type KindSteps } from './kind-steps.ts';
import { redactTranscript, textsOfTranscript } from './filter-transcript.ts';
import { followJob } from './follow-job.ts';
import { callOnce, openCall, type CallSpace, type OpenAnswer, type UpstreamCall } from './one-call.ts';
import { wholeLimitMs } from './kind-limits.ts';
import { tryEncode } from './try-encode.ts';
import { isCutShort } from '../running-requests.ts';
import { EventReader } from './transcript-events.ts';

const MS_PER_SECOND = 1_000;
/** More of one file is not believed: a day. */
const SECONDS_MAX = 86_400;
const EVENT_STREAM = 'text/event-stream';

/** A transcript, or one that comes as it is made. */
type Given = (
  | { readonly transcript: Transcript }
  | { readonly events: EventReader; readonly first: readonly TranscriptPiece[] }
) & { readonly answersIn: TranscriptFormat };

/** How sound is turned into text. */
export const TRANSCRIPTION_STEPS: KindSteps<TranscriptionOperation, Given> = {
  texts: ({ prompt, keywords = [] }) => [...(prompt === undefined ? [] : [prompt]), ...keywords],
  withTexts({ prompt, keywords, ...operation }, texts) {
    const [first] = texts;
    const rest = prompt === undefined ? texts : texts.slice(1);
    return {
      ...operation,
      ...(prompt !== undefined && first !== undefined && { prompt: first }),
      ...(keywords !== undefined && { keywords: rest }),
    };
  },
  promptTokens: ({ prompt = '' }) => estimateTokens(prompt),
  margin: () => ESTIMATE_MARGIN,
  call: transcribe,
  usageOf: (given, { operation, served }) => {
    const transcript = 'transcript' in given ? given.transcript : undefined;
    return usageOf(transcript, operation, served.candidate.endpoint);
  },
  answer: {
    whole: wholeOf,
    texts: (given) => ('transcript' in given ? textsOfTranscript(given.transcript, given.answersIn) : []),
    redact(given, redacted) {
      if (!('transcript' in given)) return given;
      return { ...given, transcript: redactTranscript(given.transcript, redacted, given.answersIn) };
    },
  },
  deliver,
  events: { isWanted: ({ delivery }) => delivery === 'stream', encodeFailure: encodeErrorEvent },
};

async function transcribe(
  deps: CallDeps,
  call: CandidateCall<TranscriptionOperation>,
): Promise<Given | UpstreamFailure> {
  const { provider, endpoint, request, attempt, deadline, cancellation } = call;
  const offer = offerOf(provider, request.kind, endpoint.upstreamModel);
  const format = offer && TRANSCRIPTION_FORMATS.get(offer.format);
  const answersIn = transcriptFormatAt(endpoint.transcription ?? {}, request.responseFormat);
  if (offer === undefined || format === undefined || answersIn === undefined) return transportFailure('connect');
  const model = endpoint.upstreamModel;
  const stream = request.delivery === 'stream' && format.streams && endpoint.transcription?.streaming !== false;
  const encoded = tryEncode(() => {
    const options = optionsFor(request, provider.settings.slug);
    return format.encode(request, { model, answersIn, stream, options });
  });
  if ('kind' in encoded) return encoded;
  attempt.warn(encoded.warnings);
  const upstream: UpstreamCall = {
    provider,
    context: { format: format.id, settings: provider.settings, model, stream },
    path: offer.path?.(model) ?? encoded.path,
    body: { source: encoded.source },
    accept: stream ? EVENT_STREAM : '*/*',
    decodeError: (text) => format.decodeError(text),
  };
  deadline.start();
  if (stream) return openEvents(deps, upstream, call, { format, answersIn });
  const space = { attempt, deadline, cancellation };
  const answer = await wholeAnswer(deps, upstream, call, { space, follow: encoded.follow });
  if ('kind' in answer) return answer;
  const whole = wholeFrom(answer.toString('utf8'), { format, answersIn });
  return 'kind' in whole ? (reportedError(answer, provider) ?? whole) : whole;
}

interface Calling {
  readonly space: Omit<CallSpace, 'room'>;
  readonly follow: EncodedTranscription['follow'];
}

/** The transcript, be it that its vendor makes it in a job. */
async function wholeAnswer(
  deps: CallDeps,
  upstream: UpstreamCall,
  { provider, request, memory }: CandidateCall<TranscriptionOperation>,
  { space, follow }: Calling,
): Promise<Buffer | UpstreamFailure> {
  const wholeMs = wholeLimitMs(provider, request);
  const answer = await callOnce(deps, upstream, { room: memory.open(), ...space }, wholeMs);
  if ('kind' in answer || follow === undefined) return answer;
  const first = { answer, retryAfterMs: undefined };
  return followJob(deps, { follow, target: undefined, first, upstream, space, memory, wholeMs });
}

interface Decoding {
  readonly format: TranscriptionFormat;
  readonly answersIn: TranscriptFormat;
}

function wholeFrom(text: string, { format, answersIn }: Decoding): Given | UpstreamFailure {
  const transcript = format.decode(text, answersIn);
  return transcript === undefined ? transportFailure('garbage') : { transcript, answersIn };
}

/** Reads to the first event, so that what goes wrong before it may go to the next candidate. */
async function openEvents(
  deps: CallDeps,
  upstream: UpstreamCall,
  { provider, request, attempt, deadline, cancellation }: CandidateCall<TranscriptionOperation>,
  decoding: Decoding,
): Promise<Given | UpstreamFailure> {
  const wholeMs = wholeLimitMs(provider, request);
  const space = { attempt, deadline, cancellation };
  const opened = await openCall(deps, upstream, space, { clock: 'headers', ms: wholeMs });
  if ('kind' in opened) return opened;
  const events = new EventReader(opened, decoding.format, provider);
  try {
    const { call, answer } = opened;
    if (answer.headers['content-type']?.startsWith(EVENT_STREAM) !== true) {
      // It has taken no notice of `stream`.
      call.watch.arm('whole', wholeMs);
      return wholeFrom(await readText(opened), decoding);
    }
    call.watch.arm('first-token', wholeMs, deadline.cut());
    const first = await events.next();
    if (first === undefined) return transportFailure('garbage');
    if ('kind' in first) {
      events.close();
      return first;
    }
    call.watch.arm('idle', provider.settings.timeouts.idleMs);
    return { events, first, answersIn: decoding.answersIn };
  } catch (error) {
    events.close();
    return opened.call.explain(error);
  }
}

/** What is kept of a transcript that comes as it is made, for its last event and for records. */
const TRANSCRIPT_CHARS_MAX = 4_194_304;
/** Bytes of a transcript that comes as a whole in the place of a stream. */
const TRANSCRIPT_BYTES_MAX = 16_777_216;

async function readText({ answer, call }: OpenAnswer): Promise<string> {
  const chunks: Uint8Array[] = [];
  let bytes = 0;
  for (let chunk = await answer.read(); chunk !== undefined; chunk = await answer.read()) {
    bytes += chunk.length;
    if (bytes > TRANSCRIPT_BYTES_MAX) throw new RangeError('The transcript is too long.');
    chunks.push(chunk);
  }
  call.finish();
  return Buffer.concat(chunks).toString('utf8');
}

/**
 * As the vendor counted, else as the headers of the file say.
 * @param transcript absent: nothing of it is known yet
 */
function usageOf(transcript: Transcript | undefined, operation: TranscriptionOperation, endpoint: Endpoint): Usage {
  const { usage, duration } = transcript ?? {};
  const seconds = [usage?.seconds, duration].find((each = Infinity) => each <= SECONDS_MAX);
  const audioMs = seconds === undefined ? longestMs(operation.audio) : Math.ceil(seconds * MS_PER_SECOND);
  const { promptTokensMax, completionTokensMax } = boundUsage({
    contextTokens: endpoint.contextTokensMax,
    outputTokens: endpoint.outputTokensMax,
    requestedTokens: 0,
  });
  const inputTokens = atMost(usage?.inputTokens, promptTokensMax);
  const outputTokens = atMost(usage?.outputTokens, completionTokensMax);
  const audioTokens = inputTokens === undefined ? undefined : usage?.audioTokens;
  const lacksTokens = isPaidByToken(endpoint.price) && (inputTokens === undefined || outputTokens === undefined);
  return {
    ...NO_USAGE,
    estimated: lacksTokens || (seconds === undefined && inputTokens === undefined),
    ...(lacksTokens && inputTokens === undefined && estimateHeard(operation, audioMs)),
    ...(lacksTokens && { completionTokens: estimateWritten(transcript, operation) }),
    ...(inputTokens !== undefined && { promptTokens: inputTokens }),
    ...(audioTokens !== undefined && { audioPromptTokens: audioTokens }),
    ...(outputTokens !== undefined && { completionTokens: outputTokens }),
    units: { audioMs },
  };
}

/** A count beyond belief is none. @spec money-20 */
function atMost(count: number | undefined, max: number): number | undefined {
  return count === undefined || count > max ? undefined : count;
}

/** What is read for an answer that says nothing of tokens, such as one that is text alone. */
function estimateHeard(
  { prompt = '' }: TranscriptionOperation,
  audioMs: number,
): Pick<Usage, 'promptTokens' | 'audioPromptTokens'> {
  const audioPromptTokens = estimateHeardTokens(audioMs);
  return { promptTokens: audioPromptTokens + estimateTokens(prompt), audioPromptTokens };
}

function estimateWritten(transcript: Transcript | undefined, operation: TranscriptionOperation): number {
  return transcript === undefined
    ? estimateOperationUsage(operation).completionTokens
    : estimateTokens(transcript.text);
}

type Delivery = DeliveryInput<TranscriptionOperation, Given>;

async function deliver(input: Delivery): Promise<void> {
  const { open, served, writer } = input;
  const { given } = served;
  const { facts } = open;
  const { request } = facts.log;
  const identity = announce(writer, open, served);
  if ('events' in given) return relay(asEvents(input), given.events, given.first);
  facts.log.capture?.pushText(given.transcript.text);
  facts.meter.end = { type: 'end', finish: 'stop' };
  await open.settle().durable;
  const { transcript, answersIn } = given;
  if (request.delivery === 'stream') {
    const { output } = asEvents(input);
    const delta = encodeTranscriptEvent({ type: 'delta', delta: transcript.text });
    output.end(delta + encodeTranscriptEvent({ type: 'done', transcript }, open.finalUsage()));
    return undefined;
  }
  const body = encodeTranscript(transcript, request, answersIn, identity, open.finalUsage());
  const type = MEDIA_TYPE_OF_TRANSCRIPT[request.responseFormat];
  return writer.answerPieces(identity.id, [Buffer.from(body)], type);
}

/** Passes events on as they come. The last one leaves when the charge is durable. */
async function relay(
  { open, served, writer, output }: EventDelivery<TranscriptionOperation, Given>,
  events: EventReader,
  first: readonly TranscriptPiece[],
): Promise<void> {
  const { log, meter } = open.facts;
  open.defer(() => events.close());
  writer.startStream(log.id);
  let text = '';
  let done: Extract<TranscriptPiece, { type: 'done' }> | undefined;
  try {
    let batch: Awaited<ReturnType<EventReader['next']>> = first;
    for (; batch !== undefined; batch = await events.next()) {
      if ('kind' in batch) return await breakOff(open, output, batch);
      for (const event of batch) {
        if (event.type === 'done') done = event;
        else if (event.type === 'delta') text += event.delta.slice(0, TRANSCRIPT_CHARS_MAX - text.length);
        if (event.type !== 'done') await output.write(encodeTranscriptEvent(event));
      }
    }
  } catch (error) {
    return breakOff(open, output, events.explain(error));
  }
  const transcript = transcriptOf(done, text);
  log.capture?.pushText(transcript.text);
  meter.usage = usageOf(transcript, log.request, served.candidate.endpoint);
  meter.end = { type: 'end', finish: 'stop' };
  await open.settle().durable;
  output.end(encodeTranscriptEvent({ type: 'done', transcript }, open.finalUsage()));
}

/** The last event of some hosts says nothing but that it is the last (speaches). */
function transcriptOf(done: Extract<TranscriptPiece, { type: 'done' }> | undefined, text: string): Transcript {
  return done === undefined || done.transcript.text === '' ? { ...done?.transcript, text } : done.transcript;
}

/** A transcript that comes as it is made, once all of it is here. */
async function wholeOf(given: Given): Promise<{ readonly given: Given } | { readonly failure: UpstreamFailure }> {
  if ('transcript' in given) return { given };
  const { events, first, answersIn } = given;
  let text = '';
  let done: Extract<TranscriptPiece, { type: 'done' }> | undefined;
  try {
    for (
      let batch: Awaited<ReturnType<EventReader['next']>> = first;
      batch !== undefined;
      batch = await events.next()
    ) {
      if ('kind' in batch) return { failure: batch };
      for (const event of batch) {
        if (event.type === 'done') done = event;
        else if (event.type === 'delta') text += event.delta.slice(0, TRANSCRIPT_CHARS_MAX - text.length);
      }
    }
  } catch (error) {
    return { failure: events.explain(error) };
  } finally {
    events.close();
  }
  return { given: { transcript: transcriptOf(done, text), answersIn } };
}

function errorOf({ errorType, status, message }: UpstreamFailure): GatewayError {
  return new GatewayError(errorType, message, { status });
}

/** A stream that broke off ends with an error, and is not charged. */
async function breakOff(open: Delivery['open'], output: StreamOutput, failure: UpstreamFailure): Promise<void> {
  open.facts.meter.cancelled = isCutShort(open.cancellation.reason);
  open.facts.meter.failure = failure;
  output.end(encodeErrorEvent(await open.fail(errorOf(failure))));
}
