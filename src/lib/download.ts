import { request, type Dispatcher } from 'undici';
import { addressErrorIn, createGuardedAgent, type GuardedAgentOptions } from './guarded-agent.ts';

export interface Downloaded {
  readonly bytes: Buffer;
  /** Of the answer, lower case and without parameters; absent where it named none. */
  readonly mediaType?: string;
}

/** The same, and where it came from. */
export interface DownloadedFrom extends Downloaded {
  /** Behind all redirects, without credentials. */
  readonly url: string;
  /** As the answer names it. */
  readonly charset?: string;
}

/** Why an address of a caller's choice could not be fetched: a sentence that is safe to show to that caller. */
export class DownloadError extends Error {
  /** It is none that may be called, whatever it would answer. */
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
  /** Asked of every address on the way, the first and each redirect. Absent: all that may be called at all. */
  readonly mayVisit?: ((url: string) => boolean) | undefined;
}

/** Fetches an address that a caller chose. @throws DownloadError */
export type Download = (url: string, limits: DownloadLimits, signal: AbortSignal) => Promise<Downloaded>;

/** The same, and tells where it came from. @throws DownloadError */
export type DownloadFrom = (url: string, limits: DownloadLimits, signal: AbortSignal) => Promise<DownloadedFrom>;

export interface Downloader {
  readonly download: DownloadFrom;
  close(): Promise<void>;
}

export type DownloaderOptions = GuardedAgentOptions;

const REDIRECTS_MAX = 5;
const REDIRECT_STATUSES: ReadonlySet<number> = new Set([301, 302, 303, 307, 308]);

/**
 * The one way to files at addresses that callers choose. Each redirect is judged as the first address was.
 * @source generation.md 11.2
 */
export function createDownloader(options: DownloaderOptions = {}): Downloader {
  const agent = createGuardedAgent(options);

  async function follow(start: string, limits: DownloadLimits, signal: AbortSignal): Promise<DownloadedFrom> {
    let url = agent.admit(start);
    for (let redirects = 0; redirects <= REDIRECTS_MAX; redirects++) {
      if (limits.mayVisit?.(url.href) === false)
        throw new DownloadError('The address is not among those that may be visited.', { isForbidden: true });
      const answer = await request(url, {
        dispatcher: agent.dispatcher,
        signal,
        headers: { 'accept-encoding': 'identity', 'user-agent': 'model-gateway' },
      });
      if (!REDIRECT_STATUSES.has(answer.statusCode))
        return { ...(await readAnswer(answer, limits.bytesMax)), url: url.href };
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
        if (error instanceof DownloadError) throw error;
        const refused = addressErrorIn(error);
        if (refused !== undefined) throw new DownloadError(refused.message, { cause: error, isForbidden: true });
        if (timeout.aborted) throw new DownloadError('The address took too long to answer.', { cause: error });
        throw new DownloadError('The address could not be reached.', { cause: error });
      }
    },
    close: () => agent.close(),
  };
}

/** Destroying a body that is not read to its end is an error to whoever listens, and to the process where nobody does. */
function discard(body: Dispatcher.ResponseData['body']): void {
  body.on('error', () => undefined).destroy();
}

async function readAnswer(
  { statusCode, headers, body }: Dispatcher.ResponseData,
  bytesMax: number,
): Promise<Omit<DownloadedFrom, 'url'>> {
  const tooLarge = (): DownloadError => new DownloadError(`The file is larger than ${bytesMax} bytes.`);
  try {
    if (statusCode !== 200) throw new DownloadError(`The address answered with status ${statusCode}.`);
    // What was packed without being asked to would reach the model as it is.
    const encoding = String(headers['content-encoding'] ?? 'identity').toLowerCase();
    if (encoding !== 'identity') throw new DownloadError('The address answers with a compressed file.');
    if (Number(headers['content-length'] ?? 0) > bytesMax) throw tooLarge();
    const chunks: Buffer[] = [];
    let bytes = 0;
    for await (const chunk of body) {
      const part: Buffer = chunk;
      bytes += part.length;
      if (bytes > bytesMax) throw tooLarge();
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
