import { transportFailure } from '../../../canonical/failure/classify-failure.ts';
import type { UpstreamFailure } from '../../../canonical/failure/failure.ts';
import type { ImageOperation } from '../../../canonical/image.ts';
import { NoMemoryError } from '../../../lib/memory/growing-bytes.ts';
import { DownloadError, type Download } from '../../../lib/net/download.ts';
import { toBase64 } from '../../../lib/pictures/base64-picture.ts';
import type { CallContext } from '../../../providers/contract.ts';
import { decodeError } from '../../../wire/upstream-error.ts';
import { addressOf } from '../../attempt/call-upstream.ts';
import { abortFailure } from '../../attempt/watched-call.ts';
import { NO_ANSWER_ROOM } from '../../response/whole-response-budget.ts';
import type { CandidateCall } from '../call-candidates.ts';
import { openCall, readOpened, type OneCallDeps } from '../one-call.ts';

export interface FetchResultDeps extends OneCallDeps {
  readonly download: Download;
}

export interface ResultAddress {
  readonly url: string;
  readonly context: CallContext;
  readonly bytesMax: number;
}

const TIMEOUT_MS = 60_000;
/** As pieces and joined, then joined and as base64. */
const COPIES = 7 / 3;

/**
 * Fetches a picture of which an upstream gave the address, as base64. Its own host may be in the operator's network, and gets
 * its credential; every other one has to be on the public Internet, and gets none, as no redirect does. It takes of the memory
 * for answers, until the caller has it. Every failure is a value.
 */
export async function fetchResult(
  deps: FetchResultDeps,
  result: ResultAddress,
  call: CandidateCall<ImageOperation>,
): Promise<Buffer | UpstreamFailure> {
  const address = URL.parse(result.url);
  if (address === null) return noPicture('its address is none.');
  const isOwn = address.origin === addressOf(call.provider).origin;
  return isOwn ? fetchOwn(deps, address, result, call) : fetchForeign(deps, result, call);
}

/** @param reason a sentence without its beginning */
function noPicture(reason: string): UpstreamFailure {
  return {
    ...transportFailure('garbage'),
    message: `A picture that the provider gave by its address could not be fetched: ${reason}`,
  };
}

async function fetchOwn(
  deps: FetchResultDeps,
  address: URL,
  { context, bytesMax }: ResultAddress,
  { provider, attempt, deadline, cancellation, memory }: CandidateCall<ImageOperation>,
): Promise<Buffer | UpstreamFailure> {
  const upstream = {
    provider,
    context,
    path: address.pathname + address.search,
    basePath: '',
    method: 'GET' as const,
    accept: '*/*',
    decodeError,
  };
  const space = { attempt, deadline, cancellation };
  const opened = await openCall(deps, upstream, space, { clock: 'whole', ms: TIMEOUT_MS });
  if ('kind' in opened)
    return opened.upstreamStatus === undefined
      ? opened
      : noPicture(`its address answered with status ${opened.upstreamStatus}.`);
  const room = memory.open(COPIES);
  const bytes = await readOpened(deps, opened, { room, ...space }, TIMEOUT_MS);
  if ('kind' in bytes) return bytes;
  if (bytes.length > bytesMax) return transportFailure('too-large');
  const base64 = toBase64(bytes);
  room.shrink(base64.length);
  return base64;
}

async function fetchForeign(
  { download }: FetchResultDeps,
  { url, bytesMax }: ResultAddress,
  { cancellation, memory }: CandidateCall<ImageOperation>,
): Promise<Buffer | UpstreamFailure> {
  const held = memory.grow(cancellation.signal);
  try {
    const limits = { bytesMax, timeoutMs: TIMEOUT_MS, memory: held };
    const { bytes } = await download(url, limits, cancellation.signal);
    await held.hold(Math.ceil(bytes.length * COPIES));
    const base64 = toBase64(bytes);
    held.shrink(base64.length);
    return base64;
  } catch (error) {
    if (cancellation.aborted) return abortFailure(cancellation);
    if (error instanceof NoMemoryError) return NO_ANSWER_ROOM;
    if (error instanceof DownloadError) return noPicture(error.message);
    throw error;
  }
}
