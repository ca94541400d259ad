import { request as requestAt, type Dispatcher } from 'undici';
import { addressErrorIn, type GuardedAgent } from '../lib/net/guarded-agent.ts';
import type { HttpClient } from '../lib/net/http-client.ts';
import { addressOf } from '../pipeline/attempt/call-upstream.ts';
import { tryAuthorize } from '../pipeline/attempt/upstream.ts';
import type { CallContext, Provider } from '../providers/contract.ts';
import type { Clip, VideoCall, VideoFormat, VideoFormatId } from '../wire/video/format.ts';
import { clipIn, NoClipInside } from './clip-in-json.ts';
import type { ClipSource } from './facts.ts';

export interface ClipDeps {
  readonly http: HttpClient;
  /** Calls addresses that an answer named, and none in the gateway's own network. */
  readonly agent: GuardedAgent;
}

/** A clip as its provider sends it. */
export interface OpenClip {
  /** 200, or 206 for a part. */
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly chunks: AsyncIterable<Uint8Array>;
  close(): void;
}

/** The clip cannot be had from its provider. */
export class ClipGone extends Error {
  override readonly name = 'ClipGone';
}

/** It may be had later: its provider or the way there is at fault. */
export class ClipAway extends ClipGone {}

export interface ClipRequest {
  readonly provider: Provider;
  readonly format: VideoFormatId;
  readonly model: string;
  readonly source: ClipSource;
  /** As the caller sent it. */
  readonly range?: string | undefined;
}

interface SentCall {
  readonly method: VideoCall['method'];
  readonly body?: string;
}

const REDIRECTS_MAX = 5;
const PASSING_STATUSES: ReadonlySet<number> = new Set([408, 425, 429]);
const REDIRECTS: ReadonlySet<number> = new Set([301, 302, 303, 307, 308]);
/** Of headers, and between two reads. */
const IDLE_MS_MAX = 30_000;

/**
 * An address below that of the provider is kept without it: the provider may move. Of buckets the operator's own is read and
 * no other, since it is read with the operator's rights.
 * @throws ClipGone
 */
export function sourceOf(
  clip: Clip,
  provider: Provider,
  { clipMember = '' }: Pick<VideoFormat, 'clipMember'>,
): ClipSource {
  if ('inside' in clip) return { inside: clip.inside, member: clipMember };
  const { url } = clip;
  const { baseUrl } = provider.settings;
  if (url.startsWith('gs://')) {
    if (provider.clipBucket === undefined || !url.startsWith(`${provider.clipBucket.uri}/`))
      throw new ClipGone('The clip is in a bucket that is not the configured one.');
    return { object: url };
  }
  return url.startsWith(`${baseUrl}/`) ? { path: url.slice(baseUrl.length) } : { url };
}

/**
 * Opens a clip. The provider's credential goes to the provider's own origin and nowhere else, and to no redirect.
 * @throws ClipGone
 */
export async function openClip(deps: ClipDeps, clip: ClipRequest): Promise<OpenClip> {
  const { provider, source, range } = clip;
  if ('inside' in source) return openInside(deps, clip, source);
  const at = addressOf(provider);
  let address =
    'path' in source
      ? new URL(at.origin + at.basePath + source.path)
      : parse('object' in source ? addressOfObject(source.object, provider) : source.url);
  // The storage of the operator's bucket is the provider's, and takes its credential.
  const origin = 'object' in source ? address.origin : at.origin;
  const headers = {
    accept: '*/*',
    'accept-encoding': 'identity',
    'user-agent': 'model-gateway',
    ...(range !== undefined && { range }),
  };
  for (let hops = 0; hops <= REDIRECTS_MAX; hops++) {
    const isOwn = address.origin === origin;
    const answer = isOwn
      ? await callOwn(deps, clip, address, { ...headers, ...(hops === 0 && (await credentialsOf(clip, address))) })
      : await callForeign(deps, address, headers);
    const { location } = answer.headers;
    if (!REDIRECTS.has(answer.status) || location === undefined) return checked(answer);
    answer.close();
    address = parse(location, address.href);
  }
  throw new ClipGone('The address of the clip redirects too often.');
}

/** @source cloud.google.com "Objects: get" of the JSON API of Cloud Storage, read 2026-11 */
function addressOfObject(object: string, { clipBucket }: Provider): string {
  const [, bucket, name] = /^gs:\/\/([^/]+)\/(.+)$/s.exec(object) ?? [];
  if (bucket === undefined || name === undefined || clipBucket === undefined)
    throw new ClipGone('The bucket of the clip is not configured any more.');
  return `${clipBucket.baseUrl}/storage/v1/b/${encodeURIComponent(bucket)}/o/${encodeURIComponent(name)}?alt=media`;
}

/** A clip that stands in an answer is taken out of it anew, as a whole: there are no ranges of it. */
async function openInside(
  deps: ClipDeps,
  clip: ClipRequest,
  { inside, member }: { readonly inside: VideoCall; readonly member: string },
): Promise<OpenClip> {
  const { origin, basePath } = addressOf(clip.provider);
  const address = new URL(origin + basePath + inside.path);
  const body = inside.body === undefined ? undefined : JSON.stringify(inside.body);
  const call = { method: inside.method, ...(body !== undefined && { body }) };
  const headers = {
    accept: 'application/json',
    'accept-encoding': 'identity',
    'user-agent': 'model-gateway',
    ...(body !== undefined && { 'content-type': 'application/json' }),
    ...(await credentialsOf(clip, address, call)),
  };
  const answer = checked(await callOwn(deps, clip, address, headers, call));
  return { ...answer, status: 200, headers: {}, chunks: explained(clipIn(answer.chunks, member)) };
}

async function* explained(chunks: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
  try {
    yield* chunks;
  } catch (cause) {
    throw cause instanceof NoClipInside ? new ClipGone(cause.message, { cause }) : cause;
  }
}

function parse(text: string, base?: string): URL {
  const url = URL.parse(text, base);
  if (url === null) throw new ClipGone('The address of the clip is no URL.');
  return url;
}

function checked(answer: OpenClip): OpenClip {
  if (answer.status === 200 || answer.status === 206 || answer.status === 416) return answer;
  answer.close();
  const Fault = answer.status >= 500 || PASSING_STATUSES.has(answer.status) ? ClipAway : ClipGone;
  throw new Fault(`The provider answered with status ${answer.status} for the clip.`);
}

async function credentialsOf(
  { provider, format, model }: ClipRequest,
  address: URL,
  sent: SentCall = { method: 'GET' },
): Promise<Readonly<Record<string, string>>> {
  const { settings } = provider;
  const context: CallContext = { format, settings, model, stream: false };
  const call = { ...context, method: sent.method, url: address.href, headers: {}, body: sent.body ?? '' };
  const found = await tryAuthorize(provider, async () => {
    const headers = { ...settings.headers, ...(await provider.authorize(call)) };
    return { origin: address.origin, path: address.pathname, method: 'GET' as const, headers, connectTimeoutMs: 0 };
  });
  if ('kind' in found) throw new ClipAway('The credential of the provider does not work.');
  return found.headers;
}

/** The provider may be in the operator's own network. */
async function callOwn(
  { http }: Pick<ClipDeps, 'http'>,
  { provider }: ClipRequest,
  address: URL,
  headers: Readonly<Record<string, string>>,
  sent: SentCall = { method: 'GET' },
): Promise<OpenClip> {
  const { connectMs: connectTimeoutMs } = provider.settings.timeouts;
  const path = address.pathname + address.search;
  const made = http.call({ origin: address.origin, path, ...sent, headers, connectTimeoutMs });
  const watch = (): NodeJS.Timeout => setTimeout(() => made.cancel(), IDLE_MS_MAX);
  const timer = watch();
  try {
    const answer = await made.answer;
    return {
      status: answer.status,
      headers: answer.headers,
      chunks: readChunks(() => {
        const idle = watch();
        return answer.read().finally(() => clearTimeout(idle));
      }),
      close: () => made.cancel(),
    };
  } catch (cause) {
    made.cancel();
    throw new ClipAway('The provider cannot be reached for the clip.', { cause });
  } finally {
    clearTimeout(timer);
  }
}

async function* readChunks(read: () => Promise<Uint8Array | undefined>): AsyncGenerator<Uint8Array> {
  for (let chunk = await read(); chunk !== undefined; chunk = await read()) yield chunk;
}

async function callForeign(
  { agent }: Pick<ClipDeps, 'agent'>,
  address: URL,
  headers: Readonly<Record<string, string>>,
): Promise<OpenClip> {
  try {
    const answer = await requestAt(agent.admit(address.href), {
      dispatcher: agent.dispatcher,
      headers,
      headersTimeout: IDLE_MS_MAX,
      bodyTimeout: IDLE_MS_MAX,
    });
    return {
      status: answer.statusCode,
      headers: flatten(answer.headers),
      chunks: answer.body,
      close: () => void answer.body.on('error', () => undefined).destroy(),
    };
  } catch (cause) {
    const Fault = addressErrorIn(cause) === undefined ? ClipAway : ClipGone;
    throw new Fault('The address of the clip cannot be reached.', { cause });
  }
}

function flatten(headers: Dispatcher.ResponseData['headers']): Readonly<Record<string, string>> {
  return Object.fromEntries(
    Object.entries(headers).flatMap(([name, value]) => {
      const first = Array.isArray(value) ? value[0] : value;
      return first === undefined ? [] : [[name, first]];
    }),
  );
}
