import { request, type Dispatcher } from 'undici';
import { NoMemoryError, type GrowingBytes } from '../memory/growing-bytes.ts';
import { addressErrorIn, createGuardedAgent, type GuardedAgentOptions } from './guarded-agent.ts';

export interface Downloaded {
  readonly bytes: Buffer;
  /** The media type of the response, lower case and without parameters; absent where it has none. */
  readonly mediaType?: string;
}

/** A file, and the place that it came from. */
export interface DownloadedFrom extends Downloaded {
  /** The address after all redirects, without credentials. */
  readonly url: string;
  /** The value of `content-type`, unchanged. */
  readonly charset?: string;
}

/** A caller's address could not be fetched. The message is safe to show to that caller. */
export class DownloadError extends Error {
  /** The address may not be called at all. */
  readonly isForbidden: boolean;

  constructor(message: string, options?: ErrorOptions & { readonly isForbidden?: boolean }) {
    super(message, options);
    this.name = 'DownloadError';
    this.isForbidden = options?.isForbidden ?? false;
  }
}

export interface DownloadLimits {
  readonly bytesMax: number;
  readonly timeoutMs: number;
  /** Checks every address on the way, the first and each redirect. Absent: all that the guarded agent admits. */
  readonly mayVisit?: ((url: string) => boolean) | undefined;
  /** Sent to the first address, and after redirects to its origin alone. */
  readonly headers?: Readonly<Record<string, string>> | undefined;
  /** Reserves memory for so many bytes of the file in all, as soon as they are announced or arrive. Absent: no limit. */
  readonly memory?: Pick<GrowingBytes, 'hold'> | undefined;
}

/** Fetches a caller's address. @throws DownloadError, and NoMemoryError where `memory` has no room */
export type Download = (url: string, limits: DownloadLimits, signal: AbortSignal) => Promise<Downloaded>;

/** The same, with the place that the file came from. @throws DownloadError */
export type DownloadFrom = (url: string, limits: DownloadLimits, signal: AbortSignal) => Promise<DownloadedFrom>;

export interface Downloader {
  readonly download: DownloadFrom;
  close(): Promise<void>;
}

export type DownloaderOptions = GuardedAgentOptions;

/** The bytes exist twice for a moment: in pieces and joined. */
const COPIES = 2;
const REDIRECTS_MAX = 5;
const REDIRECT_STATUSES: ReadonlySet<number> = new Set([301, 302, 303, 307, 308]);

/**
 * All files at addresses of callers are fetched here. Each redirect is checked like the first address.
 * @spec media-1, media-2
 */
export function createDownloader(options: DownloaderOptions = {}): Downloader {
  const agent = createGuardedAgent(options);

  async function follow(start: string, limits: DownloadLimits, signal: AbortSignal): Promise<DownloadedFrom> {
    let url = agent.admit(start);
    const { origin } = url;
    for (let redirects = 0; redirects <= REDIRECTS_MAX; redirects++) {
      if (limits.mayVisit?.(url.href) === false)
        throw new DownloadError('The address is not among those that may be visited.', { isForbidden: true });
      const answer = await request(url, {
        dispatcher: agent.dispatcher,
        signal,
        headers: {
          ...(url.origin === origin && limits.headers),
          'accept-encoding': 'identity',
          'user-agent': 'model-gateway',
        },
      });
      if (!REDIRECT_STATUSES.has(answer.statusCode)) return { ...(await readAnswer(answer, limits)), url: url.href };
      discard(answer.body);
      const { location } = answer.headers;
      if (typeof location !== 'string') throw new DownloadError('The address redirects to nowhere.');
      url = agent.admit(location, url.href);
    }
    throw new DownloadError('The address redirects too often.');
  }

  return {
    async download(url, limits, signal) {
      const timeout = AbortSignal.timeout(limits.timeoutMs);
      try {
        return await follow(url, limits, AbortSignal.any([signal, timeout]));
      } catch (error) {
        if (error instanceof DownloadError || error instanceof NoMemoryError) throw error;
        const refused = addressErrorIn(error);
        if (refused !== undefined) throw new DownloadError(refused.message, { cause: error, isForbidden: true });
        if (timeout.aborted) throw new DownloadError('The address took too long to answer.', { cause: error });
        throw new DownloadError('The address could not be reached.', { cause: error });
      }
    },
    close: () => agent.close(),
  };
}

/** Destroying an unread body emits an error, which ends the process without a listener. */
function discard(body: Dispatcher.ResponseData['body']): void {
  body.on('error', () => undefined).destroy();
}

async function readAnswer(
  { statusCode, headers, body }: Dispatcher.ResponseData,
  { bytesMax, memory }: DownloadLimits,
): Promise<Omit<DownloadedFrom, 'url'>> {
  const tooLarge = (): DownloadError => new DownloadError(`The file is larger than ${bytesMax} bytes.`);
  try {
    if (statusCode !== 200) throw new DownloadError(`The address answered with status ${statusCode}.`);
    // The request accepts no encoding; an encoded file would reach the model as it is.
    const encoding = String(headers['content-encoding'] ?? 'identity').toLowerCase();
    if (encoding !== 'identity') throw new DownloadError('The address answers with a compressed file.');
    const announced = Number(headers['content-length'] ?? 0);
    if (announced > bytesMax) throw tooLarge();
    await memory?.hold(announced * COPIES);
    const chunks: Buffer[] = [];
    let bytes = 0;
    for await (const chunk of body) {
      const part: Buffer = chunk;
      bytes += part.length;
      if (bytes > bytesMax) throw tooLarge();
      await memory?.hold(bytes * COPIES);
      chunks.push(part);
    }
    if (bytes === 0) throw new DownloadError('The file is empty.');
    const type = headers['content-type'];
    const [mediaType, ...parameters] = typeof type === 'string' ? type.split(';').map((part) => part.trim()) : [];
    const charset = /^charset=["']?([^"']+)/i.exec(parameters.find((part) => /^charset=/i.test(part)) ?? '')?.[1];
    return {
      bytes: Buffer.concat(chunks),
      ...(mediaType && { mediaType: mediaType.toLowerCase() }),
      ...(charset !== undefined && { charset }),
    };
  } finally {
    discard(body);
  }
}
