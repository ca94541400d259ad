import { estimateTokens } from '../../canonical/estimate-tokens.ts';
import { transportFailure } from '../../canonical/failure/classify-failure.ts';
import type { UpstreamFailure } from '../../canonical/failure/failure.ts';
import { GatewayError } from '../../canonical/gateway-error.ts';
import { estimateOperationUsage } from '../../canonical/operation-usage.ts';
import { countCharacters, type SpeechFormat, type SpeechOperation } from '../../canonical/speech.ts';
import { NO_USAGE, type Usage } from '../../canonical/usage.ts';
import type { Endpoint } from '../../catalog/model.ts';
import { isPaidByToken } from '../../catalog/price.ts';
import { offerOf } from '../../providers/contract.ts';
import { encodeSpeechDelta, encodeSpeechDone, mediaTypeOfSpeech } from '../../wire/text-to-speech/answer-out.ts';
import { encodeErrorEvent } from '../../wire/operations/operation-error.ts';
import { optionsFor } from '../../wire/provider-options.ts';
import { UPSTREAM_SPEECH_FORMATS } from '../../wire/text-to-speech/formats.ts';
import { boundUsage } from '../billing/complete-usage.ts';
import { ESTIMATE_MARGIN } from '../billing/cost-estimate.ts';
import type { StreamOutput } from '../response/sse-output.ts';
import type { CallDeps, CandidateCall } from './call-candidates.ts';
import { speechLimitsMs } from './kind-limits.ts';
import { announce, type DeliveryInput, type KindSteps } from './kind-steps.ts';
import { openCall, type OpenAnswer } from './one-call.ts';
import { SoundReader, type FirstSound } from './sound-reader.ts';
import { addOptions, tryEncode } from './try-encode.ts';
import { isCutShort } from '../running-requests.ts';

/** Bytes of sound in one event: a multiple of three, so that pieces of base64 can be joined. */
const EVENT_SOUND_BYTES_MAX = 49_152;

/** Speech that has begun: what came so far can be heard. */
interface GivenSpeech {
  readonly opened: OpenAnswer;
  readonly reader: SoundReader;
  readonly first: FirstSound;
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
  const { headersMs, firstTokenMs, idleMs } = speechLimitsMs(provider);
  const startedMs = deps.monotonicMs();
  const space = { attempt, deadline, cancellation };
  const opened = await openCall(deps, upstream, space, { clock: 'headers', ms: headersMs });
  if ('kind' in opened) return opened;
  const leftMs = Math.max(1, firstTokenMs - (deps.monotonicMs() - startedMs));
  opened.call.watch.arm('first-token', leftMs, deadline.cut());
  try {
    const reader = new SoundReader(opened.answer, format.createDecoder?.());
    const first = await reader.first(answersIn, request.responseFormat, endpoint.speech?.sampleRate);
    if (first === undefined) {
      end(opened);
      const { refused } = reader.end();
      return refused === undefined ? transportFailure('garbage') : refusal(refused);
    }
    opened.call.watch.arm('idle', idleMs);
    return { opened, reader, first };
  } catch (error) {
    end(opened);
    return opened.call.explain(error);
  }
}

function refusal(words: string): UpstreamFailure {
  return {
    kind: 'error-event',
    errorType: 'content_policy_violation',
    status: 400,
    message: 'The provider refused to speak the text.',
    upstreamMessage: words,
    mayTry: 'nothing',
  };
}

/** In which an endpoint is to answer, of what the caller's format can be made from. */
function answersAt(formats: readonly SpeechFormat[], wanted: SpeechFormat): SpeechFormat | undefined {
  if (formats.includes(wanted)) return wanted;
  if (wanted === 'wav' && formats.includes('pcm')) return 'pcm';
  return wanted === 'pcm' && formats.includes('wav') ? 'wav' : undefined;
}

/** Characters are counted here. Tokens are an estimate until the answer has named them, which bytes alone do not. */
function usageOf(operation: SpeechOperation, endpoint: Endpoint): Usage {
  if (isPaidByToken(endpoint.price)) return estimateOperationUsage(operation);
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
  const { opened, reader, first } = served.given;
  const { facts, cancellation } = open;
  const { responseFormat } = facts.log.request;
  open.defer(() => end(opened));
  facts.meter.end = { type: 'end', finish: 'stop' };
  const { id } = announce(writer, open, served);
  const output =
    input.output === undefined ? new ByteOutput(writer, cancellation.signal) : new EventOutput(writer, input.output);
  output.start(id, mediaTypeOfSpeech(responseFormat, first.sampleRate));
  try {
    for (let chunk: Buffer | undefined = first.bytes; chunk !== undefined; chunk = await reader.read()) {
      opened.call.watch.restart();
      const waits = chunk.length === 0 ? undefined : output.write(chunk);
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
  const { promptTokens, completionTokens } = reader.end();
  const { endpoint } = served.candidate;
  const isCounted = promptTokens !== undefined && completionTokens !== undefined;
  if (isCounted && isPaidByToken(endpoint.price) && isBelieved(endpoint, { promptTokens, completionTokens }))
    facts.meter.usage = {
      ...NO_USAGE,
      promptTokens,
      completionTokens,
      audioCompletionTokens: completionTokens,
      estimated: false,
    };
  await open.settle().durable;
  output.end(() => encodeSpeechDone(open.finalUsage()));
}

/** Of counts beyond belief the estimate stands. @spec money-20 */
function isBelieved(
  { contextTokensMax: contextTokens, outputTokensMax: outputTokens }: Endpoint,
  { promptTokens, completionTokens }: Pick<Usage, 'promptTokens' | 'completionTokens'>,
): boolean {
  const bounds = boundUsage({ contextTokens, outputTokens, requestedTokens: 0 });
  return promptTokens <= bounds.promptTokensMax && completionTokens <= bounds.completionTokensMax;
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
