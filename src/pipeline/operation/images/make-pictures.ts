import { classifyErrorEvent, transportFailure } from '../../../canonical/failure/classify-failure.ts';
import type { UpstreamFailure } from '../../../canonical/failure/failure.ts';
import { estimateTokens } from '../../../canonical/estimate-tokens.ts';
import type { ImageOperation } from '../../../canonical/image.ts';
import type { Endpoint } from '../../../catalog/model.ts';
import { NotThatJson } from '../../../lib/json/walk-bytes.ts';
import { checkBase64Picture } from '../../../lib/pictures/base64-picture.ts';
import { parseRetryAfterMs } from '../../../lib/net/retry-after.ts';
import { pictureTypeOf } from '../../../lib/pictures/picture-type.ts';
import type { KindOffer, Provider } from '../../../providers/contract.ts';
import { optionsFor } from '../../../wire/provider-options.ts';
import { encodeImages, type CheckedPicture } from '../../../wire/image/answer-out.ts';
import type {
  DecodedImages,
  ImageAnswerFacts,
  ImageFormat,
  ImageTarget,
  ImageTokens,
} from '../../../wire/image/format.ts';
import { IMAGE_FORMATS } from '../../../wire/image/formats.ts';
import { statusOfError } from '../../../wire/upstream-error.ts';
import { judgeFailure } from '../../attempt/judge-failure.ts';
import { ESTIMATE_MARGIN } from '../../billing/cost-estimate.ts';
import type { CallDeps, CandidateCall } from '../call-candidates.ts';
import { announce, asEvents, type DeliveryInput, type KindSteps } from '../kind-steps.ts';
import { followJob } from '../follow-job.ts';
import { wholeLimitMs } from '../kind-limits.ts';
import { openCall, readOpened, type UpstreamCall } from '../one-call.ts';
import { tryEncode } from '../try-encode.ts';
import {
  encodeStreamFailure,
  type EventReader,
  noteCount,
  openEvents,
  relayEvents,
  sendWholeAsEvents,
} from './picture-events.ts';
import { fetchPictures, type FetchPicturesDeps } from './fetch-pictures.ts';
import { fetchResult } from './fetch-result.ts';
import { usageOfPictures, worstPictures } from './picture-usage.ts';

/** Bytes of an answer that stay bytes: in pieces, and joined for a moment. */
const SPLICED_COPIES = 2;
/** Of all pictures of one answer that come by their addresses: as many as an answer may have. */
const FETCHED_BYTES_MAX = 67_108_864;
const EVENT_STREAM = 'text/event-stream';
const MS_PER_SECOND = 1_000;

export type PictureDeps = CallDeps & FetchPicturesDeps;

/** Pictures, or the stream in which they come. */
export type GivenPictures =
  | {
      readonly pictures: readonly CheckedPicture[];
      readonly tokens?: ImageTokens | undefined;
      readonly facts: ImageAnswerFacts;
      readonly id?: string | undefined;
    }
  | { readonly events: EventReader };

/**
 * How pictures are made.
 * @param holdNanoUsd reserved for each picture of a model that is paid by tokens where nothing says how many one has
 */
export function imageSteps(holdNanoUsd: number): KindSteps<ImageOperation, GivenPictures, PictureDeps> {
  return {
    texts: ({ prompt }) => [prompt],
    withTexts: (operation, [prompt = '']) => ({ ...operation, prompt }),
    prepare: fetchPictures,
    promptTokens: ({ prompt }) => estimateTokens(prompt),
    margin: () => ESTIMATE_MARGIN,
    worst: (usage, endpoint, operation) => worstPictures(usage, endpoint, operation, holdNanoUsd),
    isPaidEachTime: true,
    call: makePictures,
    usageOf: (given, { operation, served }) =>
      usageOfPictures('events' in given ? NOTHING_YET : given, operation, served.candidate.endpoint),
    upstreamIdOf: (given) => ('events' in given ? undefined : given.id),
    deliver,
    events: { isWanted: ({ delivery }) => delivery === 'stream', encodeFailure: encodeStreamFailure },
  };
}

const NOTHING_YET = { pictures: [], facts: {} } as const;

/** A model that writes, too, draws in a conversation; every other one has a route of its own. */
function offerFor({ adapter }: Provider, { upstreamModel, outputModalities }: Endpoint): KindOffer | undefined {
  const offers = (adapter.offers ?? []).filter(
    ({ kind, models }) => kind === 'image' && (models?.test(upstreamModel) ?? true),
  );
  const talks = outputModalities?.includes('text') === true;
  return offers.find(({ format }) => (format === CONVERSATION) === talks) ?? offers[0];
}

const CONVERSATION = 'image/chat';

async function makePictures(
  deps: PictureDeps,
  call: CandidateCall<ImageOperation>,
): Promise<GivenPictures | UpstreamFailure> {
  const { provider, endpoint, request, endUserId, attempt, deadline, cancellation, memory } = call;
  const offer = offerFor(provider, endpoint);
  const format = offer && IMAGE_FORMATS.get(offer.format);
  if (offer === undefined || format === undefined) return transportFailure('connect');
  const model = endpoint.upstreamModel;
  const stream = request.delivery === 'stream' && format.streams && endpoint.image?.streaming !== false;
  const { imageDialect: dialect = {} } = offer;
  const options = optionsFor(request, provider.settings.slug);
  const target: ImageTarget = { model, endUserId, stream, dialect, options };
  const encoded = tryEncode(() => format.encode(request, target));
  if ('kind' in encoded) return encoded;
  attempt.warn(encoded.warnings);
  const upstream: UpstreamCall = {
    provider,
    context: { format: format.id, settings: provider.settings, model, stream },
    path: offer.path?.(model) ?? encoded.path,
    ...(offer.basePath !== undefined && { basePath: offer.basePath }),
    body: encoded.body,
    accept: encoded.accept ?? (stream ? EVENT_STREAM : 'application/json'),
    ...(encoded.headers !== undefined && { headers: encoded.headers }),
    // What begins a job may be "created" or "accepted".
    ...(format.follow !== undefined && { isAnswer: (status: number) => status >= 200 && status < 300 }),
    decodeError: (text) => format.decodeError(text),
  };
  deadline.start();
  const wholeMs = wholeLimitMs(provider, request);
  const space = { attempt, deadline, cancellation };
  const opened = await openCall(deps, upstream, space, { clock: 'whole', ms: wholeMs });
  if ('kind' in opened) return opened;
  if (stream && opened.answer.headers['content-type']?.startsWith(EVENT_STREAM) === true)
    return spent(await openEvents(deps, { opened, call, format, wholeMs }));
  const room = memory.open(SPLICED_COPIES);
  const whole = await readOpened(deps, opened, { room, ...space }, wholeMs);
  if ('kind' in whole) return spent(whole);
  // Nothing of it is copied from here on, unless it is the bytes of a picture.
  if (pictureTypeOf(whole) === undefined) room.shrink(whole.length);
  const { follow } = format;
  const first = { answer: whole, retryAfterMs: parseRetryAfterMs(opened.answer.headers, deps.nowMs()) };
  const answer =
    follow === undefined ? whole : await followJob(deps, { follow, target, first, upstream, space, memory, wholeMs });
  return 'kind' in answer ? spent(answer) : readPictures(deps, call, { format, answer, context: upstream.context });
}

/** The provider has made, and billed, what it answered with status 200: no other one is called for it. @spec image-7 */
function spent<Outcome extends object>(outcome: Outcome | UpstreamFailure): Outcome | UpstreamFailure {
  return 'kind' in outcome ? { ...outcome, mayTry: 'nothing' } : outcome;
}

interface Answer {
  readonly format: ImageFormat;
  readonly answer: Buffer;
  readonly context: UpstreamCall['context'];
}

async function readPictures(
  deps: PictureDeps,
  call: CandidateCall<ImageOperation>,
  { format, answer, context }: Answer,
): Promise<GivenPictures | UpstreamFailure> {
  const decoded = tryDecode(format, answer);
  if (decoded === undefined) return spent(transportFailure('garbage'));
  if ('refused' in decoded) return refusal(decoded.refused);
  if (!('error' in decoded)) return spent(await checkPictures(deps, call, decoded, context));
  const failure = judgeFailure(classifyErrorEvent(statusOfError(decoded.error), decoded.error), call.provider);
  // A job that says that it failed has made nothing.
  return format.follow === undefined ? spent(failure) : failure;
}

async function checkPictures(
  deps: PictureDeps,
  call: CandidateCall<ImageOperation>,
  decoded: Extract<DecodedImages, { readonly pictures: unknown }>,
  context: UpstreamCall['context'],
): Promise<GivenPictures | UpstreamFailure> {
  const { request } = call;
  const pictures: CheckedPicture[] = [];
  let left = FETCHED_BYTES_MAX;
  for (const raw of decoded.pictures.slice(0, request.n)) {
    const base64 =
      'base64' in raw ? raw.base64 : await fetchResult(deps, { url: raw.url, context, bytesMax: left }, call);
    if ('kind' in base64) return base64;
    const facts = await checkBase64Picture(base64, () => deps.turns.next());
    if (facts === undefined) return transportFailure('garbage');
    if ('url' in raw) left -= facts.bytes;
    pictures.push({ base64, facts, ...(raw.revisedPrompt !== undefined && { revisedPrompt: raw.revisedPrompt }) });
  }
  if (pictures.length === 0) return transportFailure('garbage');
  const { tokens, facts = {}, id } = decoded;
  return { pictures, tokens, facts, id };
}

function tryDecode(format: ImageFormat, answer: Buffer): DecodedImages | undefined {
  try {
    return format.decode(answer);
  } catch (error) {
    if (error instanceof NotThatJson) return undefined;
    throw error;
  }
}

function refusal(words: string): UpstreamFailure {
  return {
    kind: 'error-event',
    errorType: 'content_policy_violation',
    status: 400,
    message: 'The provider refused to make the picture.',
    upstreamMessage: words,
    mayTry: 'nothing',
  };
}

async function deliver(input: DeliveryInput<ImageOperation, GivenPictures, PictureDeps>): Promise<void> {
  const { open, served, writer, output, deps } = input;
  const { given } = served;
  const { log, meter } = open.facts;
  if ('events' in given) return relayEvents(asEvents(input), given.events);
  meter.end = { type: 'end', finish: 'stop' };
  noteCount(open.facts, given.pictures.length);
  await open.settle().durable;
  const created = given.facts.created ?? Math.floor(deps.nowMs() / MS_PER_SECOND);
  const answer = { pictures: given.pictures, facts: given.facts, created };
  // Keep-alives have begun a stream already, while the pictures were made.
  if (writer.started) return sendWholeAsEvents(asEvents(input), answer);
  output?.stop();
  const identity = announce(writer, open, served);
  return writer.answerPieces(identity.id, encodeImages(log.request, answer, identity, open.finalUsage()));
}
