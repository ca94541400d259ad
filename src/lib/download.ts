import { lookup as lookupAll, type LookupAddress } from 'node:dns';
import { isIP, type LookupFunction } from 'node:net';
import { Agent, request, type Dispatcher } from 'undici';
import { isPublicAddress } from './public-address.ts';

export interface Downloaded {
  readonly bytes: Buffer;
  /** Of the answer, lower case and without parameters; absent where it named none. */
  readonly mediaType?: string;
}

/** Why an address of a caller's choice could not be fetched: a sentence that is safe to show to that caller. */
export class DownloadError extends Error {
  constructor(message: string, options?: ErrorOptions) {
    super(message, options);
    this.name = 'DownloadError';
  }
}

export interface DownloadLimits {
  readonly bytesMax: number;
  readonly timeoutMs: number;
}

/** Fetches an address that a caller chose. @throws DownloadError */
export type Download = (url: string, limits: DownloadLimits, signal: AbortSignal) => Promise<Downloaded>;

export interface Downloader {
  readonly download: Download;
  close(): Promise<void>;
}

export interface DownloaderOptions {
  /** Default: addresses of the public Internet only. */
  readonly isAllowed?: (address: string) => boolean;
  /** Default: `https:` alone. */
  readonly protocols?: readonly string[];
  /** Default: the system's resolver. */
  readonly lookup?: typeof lookupAll;
}

const REDIRECTS_MAX = 5;
/**
 * Names of callers that are looked up at once. The system's resolver has four threads for the whole process: names whose
 * servers never answer must not keep upstreams from being found.
 */
const LOOKUPS_AT_ONCE_MAX = 2;
/** Lookups that wait for their turn, of all callers. */
const LOOKUPS_WAITING_MAX = 256;
const REDIRECT_STATUSES: ReadonlySet<number> = new Set([301, 302, 303, 307, 308]);

/**
 * The one way to addresses that callers choose. The address is judged when the connection is made, after DNS and again
 * for each redirect, so that a name cannot point elsewhere between the look and the call (DNS rebinding).
 * @source generation.md 11.2
 */
export function createDownloader(options: DownloaderOptions = {}): Downloader {
  const { isAllowed = isPublicAddress, protocols = ['https:'], lookup = lookupAll } = options;
  // No connection is kept, as HTTP/2 would do: a name that was judged once must be judged again.
  const agent = new Agent({
    connect: { lookup: guardedLookup(isAllowed, lookup) },
    pipelining: 0,
    allowH2: false,
  });

  function admit(address: string, base?: string): URL {
    const url = URL.parse(address, base);
    if (url === null) throw new DownloadError('The address is no URL.');
    if (!protocols.includes(url.protocol)) throw new DownloadError('Only https addresses are fetched.');
    const host = url.hostname.replace(/^\[(.*)\]$/, '$1');
    // Sockets do not look literal addresses up.
    if (isIP(host) !== 0 && !isAllowed(host)) throw forbidden();
    // Credentials in an address are nobody's business here.
    url.username = '';
    url.password = '';
    return url;
  }

  async function follow(start: string, limits: DownloadLimits, signal: AbortSignal): Promise<Downloaded> {
    let url = admit(start);
    for (let redirects = 0; redirects <= REDIRECTS_MAX; redirects++) {
      const answer = await request(url, {
        dispatcher: agent,
        signal,
        headers: { 'accept-encoding': 'identity', 'user-agent': 'model-gateway' },
      });
      if (!REDIRECT_STATUSES.has(answer.statusCode)) return readAnswer(answer, limits.bytesMax);
      discard(answer.body);
      const { location } = answer.headers;
      if (typeof location !== 'string') throw new DownloadError('The address redirects to nowhere.');
      url = admit(location, url.href);
    }
    throw new DownloadError('The address redirects too often.');
  }

  return {
    async download(url, limits, signal) {
      const timeout = AbortSignal.timeout(limits.timeoutMs);
      try {
        return await follow(url, limits, AbortSignal.any([signal, timeout]));
      } catch (error) {
        const known = error instanceof DownloadError ? error : causeOf(error);
        if (known !== undefined) throw known;
        if (timeout.aborted) throw new DownloadError('The address took too long to answer.', { cause: error });
        throw new DownloadError('The address could not be reached.', { cause: error });
      }
    },
    close: () => agent.destroy(),
  };
}

function forbidden(): DownloadError {
  return new DownloadError('The address is not on the public Internet.');
}

/** What was thrown while connecting comes back inside another error. */
function causeOf(error: unknown): DownloadError | undefined {
  for (let cause = error; cause instanceof Error; cause = cause.cause) if (cause instanceof DownloadError) return cause;
  return undefined;
}

type Lookup = typeof lookupAll;

function guardedLookup(isAllowed: (address: string) => boolean, lookUp: Lookup): LookupFunction {
  const take = createTurns(LOOKUPS_AT_ONCE_MAX, LOOKUPS_WAITING_MAX);
  return (hostname, options, callback) => {
    const mayWait = take((done) => {
      lookUp(hostname, { ...options, all: true }, (error, addresses: LookupAddress[]) => {
        done();
        const first = addresses?.[0];
        if (error !== null || first === undefined) callback(error ?? new DownloadError('The name has no address.'), '');
        // One address that is not allowed spoils the name: which of them is used is not ours to choose.
        else if (!addresses.every(({ address }) => isAllowed(address))) callback(forbidden(), '');
        else if (options.all === true) callback(null, addresses);
        else callback(null, first.address, first.family);
      });
    });
    if (!mayWait) callback(new DownloadError('Too many files are being fetched.'), '');
  };
}

/** So many at once, the others in the order in which they came. What it gives takes one, and is false when too many wait. */
function createTurns(atOnceMax: number, waitingMax: number): (start: (done: () => void) => void) => boolean {
  const waiting: ((done: () => void) => void)[] = [];
  let running = 0;
  const next = (): void => {
    running--;
    const first = waiting.shift();
    if (first !== undefined) run(first);
  };
  const run = (start: (done: () => void) => void): void => {
    running++;
    start(next);
  };
  return (start) => {
    if (running < atOnceMax) run(start);
    else if (waiting.length < waitingMax) waiting.push(start);
    else return false;
    return true;
  };
}

/** Destroying a body that is not read to its end is an error to whoever listens, and to the process where nobody does. */
function discard(body: Dispatcher.ResponseData['body']): void {
  body.on('error', () => undefined).destroy();
}

async function readAnswer(
  { statusCode, headers, body }: Dispatcher.ResponseData,
  bytesMax: number,
): Promise<Downloaded> {
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
    const mediaType = typeof type === 'string' ? type.split(';', 1)[0]?.trim().toLowerCase() : undefined;
    return { bytes: Buffer.concat(chunks), ...(mediaType && { mediaType }) };
  } finally {
    discard(body);
  }
}
