import { GatewayError, invalid, type ErrorType } from '../../canonical/gateway-error.ts';
import { NoMemoryError } from '../../lib/memory/growing-bytes.ts';
import type { HeldFile } from '../../lib/memory/held-files.ts';
import { dataUrlHead } from '../../lib/net/data-url.ts';
import { DownloadError, type Download } from '../../lib/net/download.ts';

/** What stands in a request as an address, or holds its data itself. */
export interface FileInput {
  readonly url: string;
  /** In the request. */
  readonly path: string;
  readonly bytesMax: number;
  /** Of an error of data that is none. Absent: of any bad request. */
  readonly fault?: ErrorType;
}

const TIMEOUT_MS = 10_000;
const RETRY_AFTER_MS = 5_000;
const BASE64 = /^[A-Za-z0-9+/_-]*={0,2}$/;

/**
 * The bytes of a file. There is memory for them before they are here; `keep` of it is the caller's.
 * @throws GatewayError 400 with the path of what cannot be used, 404 for what is not there; NoMemoryError
 * @spec media-2
 */
export async function fetchInput(
  download: Download,
  { url, path, bytesMax, fault }: FileInput,
  memory: HeldFile,
  signal: AbortSignal,
): Promise<Buffer> {
  const head = dataUrlHead(url);
  if (head === undefined) {
    const limits = { bytesMax, timeoutMs: TIMEOUT_MS, memory };
    return (await download(url, limits, signal).catch(refused(url, path))).bytes;
  }
  const text = url.slice(head.length);
  if (!head.isBase64 || !BASE64.test(text)) throw invalid(path, 'is not base64', fault);
  await memory.hold(Math.ceil((text.length * 3) / 4));
  return Buffer.from(text, 'base64');
}

/** The host is shown, and nothing behind it: an address may hold a signature. */
function refused(url: string, path: string): (error: unknown) => never {
  return (error) => {
    if (!(error instanceof DownloadError)) throw error;
    const host = URL.parse(url)?.host ?? 'no host';
    const type: ErrorType = /status (?:404|410)\b/.test(error.message) ? 'image_not_found' : 'image_download_failed';
    throw invalid(path, `could not be fetched from ${host}: ${error.message}`, type);
  };
}

/** What an error of a fetch means to the caller. */
export function explainFetch(error: unknown): unknown {
  if (!(error instanceof NoMemoryError)) return error;
  return new GatewayError(
    'provider_overloaded',
    'The gateway holds as many files of requests as its memory allows. Try again later.',
    { status: 503, retryAfterMs: RETRY_AFTER_MS, cause: error },
  );
}
