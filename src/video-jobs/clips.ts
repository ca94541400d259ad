import { request as requestAt, type Dispatcher } from 'undici';
import type { GuardedAgent } from '../lib/net/guarded-agent.ts';
import type { HttpClient } from '../lib/net/http-client.ts';
import { addressOf } from '../pipeline/attempt/call-upstream.ts';
import { tryAuthorize } from '../pipeline/attempt/upstream.ts';
import type { CallContext, Provider } from '../providers/contract.ts';
import type { VideoFormatId } from '../wire/video/format.ts';
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

export interface ClipRequest {
  readonly provider: Provider;
  readonly format: VideoFormatId;
  readonly model: string;
  readonly source: ClipSource;
  /** As the caller sent it. */
  readonly range?: string | undefined;
}

const REDIRECTS_MAX = 5;
const REDIRECTS: ReadonlySet<number> = new Set([301, 302, 303, 307, 308]);
/** Of headers, and between two reads. */
const IDLE_MS_MAX = 30_000;

/** An address below that of the provider is kept without it: the provider may move. */
export function sourceOf(url: string, provider: Provider): ClipSource {
  const { baseUrl } = provider.settings;
  return url.startsWith(`${baseUrl}/`) ? { path: url.slice(baseUrl.length) } : { url };
}

/**
 * Opens a clip. The provider's credential goes to the provider's own origin and nowhere else, and to no redirect.
 * @throws ClipGone
 */
export async function openClip(deps: ClipDeps, clip: ClipRequest): Promise<OpenClip> {
  const { provider, source, range } = clip;
  const { origin, basePath } = addressOf(provider);
  let address = 'path' in source ? new URL(origin + basePath + source.path) : parse(source.url);
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

function parse(text: string, base?: string): URL {
  const url = URL.parse(text, base);
  if (url === null) throw new ClipGone('The address of the clip is no URL.');
  return url;
}

function checked(answer: OpenClip): OpenClip {
  if (answer.status === 200 || answer.status === 206 || answer.status === 416) return answer;
  answer.close();
  throw new ClipGone(`The provider answered with status ${answer.status} for the clip.`);
}

async function credentialsOf(
  { provider, format, model }: ClipRequest,
  address: URL,
): Promise<Readonly<Record<string, string>>> {
  const { settings } = provider;
  const context: CallContext = { format, settings, model, stream: false };
  const call = { ...context, method: 'GET' as const, url: address.href, headers: {}, body: '' };
  const found = await tryAuthorize(provider, async () => {
    const headers = { ...settings.headers, ...(await provider.authorize(call)) };
    return { origin: address.origin, path: address.pathname, method: 'GET' as const, headers, connectTimeoutMs: 0 };
  });
  if ('kind' in found) throw new ClipGone('The credential of the provider does not work.');
  return found.headers;
}

/** The provider may be in the operator's own network. */
async function callOwn(
  { http }: Pick<ClipDeps, 'http'>,
  { provider }: ClipRequest,
  address: URL,
  headers: Readonly<Record<string, string>>,
): Promise<OpenClip> {
  const { connectMs: connectTimeoutMs } = provider.settings.timeouts;
  const path = address.pathname + address.search;
  const made = http.call({ origin: address.origin, path, method: 'GET', headers, connectTimeoutMs });
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
    throw new ClipGone('The provider cannot be reached for the clip.', { cause });
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
    throw new ClipGone('The address of the clip cannot be reached.', { cause });
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
