import { estimateTokens } from '../../canonical/estimate-tokens.ts';
import { transportFailure } from '../../canonical/failure/classify-failure.ts';
import type { UpstreamFailure } from '../../canonical/failure/failure.ts';
import { GatewayError } from '../../canonical/gateway-error.ts';
import { estimateOperationUsage } from '../../canonical/operation-usage.ts';
import { countCharacters, type SpeechFormat, type SpeechOperation } from '../../canonical/speech.ts';
import { NO_USAGE, type Usage } from '../../canonical/usage.ts';
import type { Endpoint } from '../../catalog/model.ts';
import { isUsable, SOUND_HEAD_BYTES_MAX, wavDataAt } from '../../lib/audio/usable-sound.ts';
import { wavHead } from '../../lib/audio/wav.ts';
import { offerOf } from '../../providers/contract.ts';
import { encodeSpeechDelta, encodeSpeechDone, mediaTypeOfSpeech } from '../../wire/text-to-speech/answer-out.ts';
import { encodeErrorEvent } from '../../wire/operation-error.ts';
import { optionsFor } from '../../wire/provider-options.ts';
import { UPSTREAM_SPEECH_FORMATS } from '../../wire/text-to-speech/formats.ts';
import { ESTIMATE_MARGIN } from '../billing/cost-estimate.ts';
import type { StreamOutput } from '../response/sse-output.ts';
import type { CallDeps, CandidateCall } from './call-candidates.ts';
import { announce, type DeliveryInput, type KindSteps } from './kind-steps.ts';
import { openCall, type OpenAnswer } from './one-call.ts';
import { addOptions, tryEncode } from './try-encode.ts';
import { isCutShort } from '../running-requests.ts';

const SAMPLE_RATE_DEFAULT = 24_000;
/** Bytes of sound in one event: a multiple of three, so that pieces of base64 can be joined. */
const EVENT_SOUND_BYTES_MAX = 49_152;

/** Speech that has begun: what came so far can be heard. */
interface GivenSpeech {
  readonly opened: OpenAnswer;
  readonly first: Buffer;
  readonly sampleRate: number;
}

/** How text is spoken. */
export const SPEECH_STEPS: KindSteps<SpeechOperation, GivenSpeech> = {
  texts: ({ input }) => [input],
  withTexts: (operation, [input = '']) => ({ ...operation, input }),
  promptTokens: ({ input }) => estimateTokens(input),
  margin: () => ESTIMATE_MARGIN,
  isPaidEachTime: true,
  call: speak,
  usageOf: (_given, { operation, served }) => usageOf(operation, served.candidate.endpoint),
  events: { isWanted: ({ streamFormat }) => streamFormat === 'sse', encodeFailure: encodeErrorEvent },
  deliver,
};

async function speak(deps: CallDeps, call: CandidateCall<SpeechOperation>): Promise<GivenSpeech | UpstreamFailure> {
  const { provider, endpoint, request, attempt, deadline, cancellation } = call;
  const offer = offerOf(provider, request.kind, endpoint.upstreamModel);
  const format = offer && UPSTREAM_SPEECH_FORMATS.get(offer.format);
  const answersIn = format && answersAt(endpoint.speech?.formats ?? format.formats, request.responseFormat);
  const voice = request.voice ?? endpoint.speech?.defaultVoice;
  if (offer === undefined || format === undefined || answersIn === undefined || voice === undefined)
    return transportFailure('connect');
  const model = endpoint.upstreamModel;
  const encoded = tryEncode(() =>
    addOptions(format.encode(request, { model, voice, answersIn }), optionsFor(request, provider.settings.slug)),
  );
  if ('kind' in encoded) return encoded;
  attempt.warn(encoded.warnings);
  const upstream = {
    provider,
    context: { format: format.id, settings: provider.settings, model, stream: true },
    path: encoded.path,
    body: { json: encoded.body },
    accept: '*/*',
    decodeError: (text: string) => format.decodeError(text),
  };
  deadline.start();
  const { headersMs, firstTokenMs, idleMs } = provider.settings.timeouts;
  const space = { attempt, deadline, cancellation };
  const opened = await openCall(deps, upstream, space, { clock: 'headers', ms: headersMs });
  if ('kind' in opened) return opened;
  opened.call.watch.arm('first-token', firstTokenMs, deadline.cut());
  try {
    const first = await readUsable(opened, answersIn);
    if (first === undefined) {
      end(opened);
      return transportFailure('garbage');
    }
    opened.call.watch.arm('idle', idleMs);
    const sampleRate = rateOf(opened, endpoint) ?? SAMPLE_RATE_DEFAULT;
    return { opened, first: convert(first, answersIn, request.responseFormat, sampleRate), sampleRate };
  } catch (error) {
    end(opened);
    return opened.call.explain(error);
  }
}

/** The two exact conversions: samples get a head, or lose it. */
function answersAt(formats: readonly SpeechFormat[], wanted: SpeechFormat): SpeechFormat | undefined {
  if (formats.includes(wanted)) return wanted;
  if (wanted === 'wav' && formats.includes('pcm')) return 'pcm';
  return wanted === 'pcm' && formats.includes('wav') ? 'wav' : undefined;
}

function convert(first: Buffer, from: SpeechFormat, to: SpeechFormat, sampleRate: number): Buffer {
  if (from === to) return first;
  return from === 'pcm' ? Buffer.concat([wavHead({ sampleRate }), first]) : first.subarray(wavDataAt(first) ?? 0);
}

/** Reads until there is sound; `undefined`: there is none. Nothing is owed before. */
async function readUsable({ answer }: OpenAnswer, format: SpeechFormat): Promise<Buffer | undefined> {
  let head = Buffer.alloc(0);
  for (let chunk = await answer.read(); chunk !== undefined; chunk = await answer.read()) {
    head = Buffer.concat([head, chunk]);
    if (isUsable(head, format)) return head;
    if (head.length > SOUND_HEAD_BYTES_MAX) return undefined;
  }
  return undefined;
}

/** As the answer says, which wins, or the catalog. */
function rateOf({ answer }: OpenAnswer, { speech }: Endpoint): number | undefined {
  const rate = Number(/;\s*rate=(\d{4,6})/.exec(answer.headers['content-type'] ?? '')?.[1]);
  return Number.isInteger(rate) ? rate : speech?.sampleRate;
}

/** Characters are counted here. Tokens are an estimate: answers in bytes do not name them. */
function usageOf(operation: SpeechOperation, { price }: Endpoint): Usage {
  const isByTokens = price !== undefined && (price.completion > 0 || price.prompt > 0);
  if (isByTokens) return estimateOperationUsage(operation);
  return { ...NO_USAGE, estimated: false, units: { characters: countCharacters(operation.input) } };
}

function end({ call }: OpenAnswer): void {
  call.cancel();
  call.finish();
}

type Delivery = DeliveryInput<SpeechOperation, GivenSpeech>;

/** Passes sound on as it comes. From its first frame on all characters are owed, whatever becomes of the rest. */
async function deliver(input: Delivery): Promise<void> {
  const { open, served, writer } = input;
  const { opened, first, sampleRate } = served.given;
  const { facts, cancellation } = open;
  const { responseFormat } = facts.log.request;
  open.defer(() => end(opened));
  facts.meter.end = { type: 'end', finish: 'stop' };
  const { id } = announce(writer, open, served);
  const output =
    input.output === undefined ? new ByteOutput(writer, cancellation.signal) : new EventOutput(writer, input.output);
  output.start(id, mediaTypeOfSpeech(responseFormat, sampleRate));
  try {
    for (let chunk: Uint8Array | undefined = first; chunk !== undefined; chunk = await opened.answer.read()) {
      opened.call.watch.restart();
      const waits = output.write(Buffer.from(chunk.buffer, chunk.byteOffset, chunk.length));
      if (waits === undefined) continue;
      opened.call.watch.hold(true);
      await waits;
      opened.call.watch.hold(false);
      opened.call.watch.restart();
    }
  } catch (error) {
    const failure = opened.call.explain(error);
    facts.meter.cancelled = isCutShort(cancellation.reason);
    facts.meter.failure = failure;
    const { errorType, status, message } = failure;
    output.fail(await open.fail(new GatewayError(errorType, message, { status })));
    return;
  }
  opened.call.finish();
  await open.settle().durable;
  output.end(() => encodeSpeechDone(open.finalUsage()));
}

interface SpeechOutput {
  start(id: string, type: string): void;
  /** Resolves when a caller that reads too slowly has caught up; `undefined`: at once. */
  write(sound: Buffer): Promise<void> | undefined;
  end(done: () => string): void;
  fail(error: GatewayError): void;
}

type Writer = Delivery['writer'];

class ByteOutput implements SpeechOutput {
  readonly #writer: Writer;
  readonly #signal: AbortSignal;

  constructor(writer: Writer, signal: AbortSignal) {
    this.#writer = writer;
    this.#signal = signal;
  }

  start(id: string, type: string): void {
    this.#writer.startBytes(id, type);
  }

  write(sound: Buffer): Promise<void> | undefined {
    return this.#writer.writeBytes(sound) ? undefined : this.#writer.drained(this.#signal);
  }

  end(): void {
    this.#writer.endBytes();
  }

  /** A clean end would say that this is all. */
  fail(): void {
    this.#writer.breakOff();
  }
}

class EventOutput implements SpeechOutput {
  readonly #writer: Writer;
  readonly #output: StreamOutput;
  #left = Buffer.alloc(0);

  constructor(writer: Writer, output: StreamOutput) {
    this.#writer = writer;
    this.#output = output;
  }

  start(id: string): void {
    this.#writer.startStream(id);
  }

  write(sound: Buffer): Promise<void> | undefined {
    const all = this.#left.length === 0 ? sound : Buffer.concat([this.#left, sound]);
    const whole = all.length - (all.length % 3);
    let frames = '';
    for (let at = 0; at < whole; at += EVENT_SOUND_BYTES_MAX)
      frames += encodeSpeechDelta(all.subarray(at, Math.min(at + EVENT_SOUND_BYTES_MAX, whole)));
    this.#left = Buffer.from(all.subarray(whole));
    return frames === '' ? undefined : this.#output.write(frames);
  }

  end(done: () => string): void {
    const last = this.#left.length === 0 ? '' : encodeSpeechDelta(this.#left);
    this.#output.end(last + done());
  }

  fail(error: GatewayError): void {
    this.#output.end(encodeErrorEvent(error));
  }
}
