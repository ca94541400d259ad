import { DownloadError, type Download } from '../lib/net/download.ts';
import type { Json } from '../lib/json.ts';
import { acceptPrices } from './accept-prices.ts';
import { readModelsDev } from './models-dev.ts';
import type { RefreshFile } from './refresh-file.ts';
import type { RefreshedCatalog } from './refreshed.ts';

/** The public list has some 3 MB. */
const BYTES_MAX = 20 * 1_024 * 1_024;
const TIMEOUT_MS = 15_000;

/** The list could not be had. The message is a sentence for the operator. */
export class RefreshError extends Error {
  constructor(message: string, options?: ErrorOptions) {
    super(message, options);
    this.name = 'RefreshError';
  }
}

export interface RefreshOptions {
  readonly url: string;
  readonly download: Download;
  readonly file: RefreshFile;
  /** Our providers' slugs by the ids of the list. */
  readonly slugs: ReadonlyMap<string, string>;
  readonly nowMs: number;
  readonly signal: AbortSignal;
  /** Prices that moved far since the last time are taken over as well. */
  readonly isMoveFine?: boolean;
}

/**
 * Fetches the public list and keeps it. Whatever goes wrong, the last one stays.
 * @throws RefreshError
 */
export async function refreshCatalog(options: RefreshOptions): Promise<RefreshedCatalog> {
  const { url, download, file, slugs, nowMs, signal, isMoveFine = false } = options;
  let text: string;
  try {
    const { bytes } = await download(url, { bytesMax: BYTES_MAX, timeoutMs: TIMEOUT_MS }, signal);
    text = bytes.toString('utf8');
  } catch (error) {
    if (!(error instanceof DownloadError)) throw error;
    throw new RefreshError(`${url}: ${error.message}`, { cause: error });
  }
  const endpoints = readModelsDev(parse(text), slugs);
  if (endpoints === undefined) throw new RefreshError(`${url}: is no list of models of a known provider.`);
  const accepted = acceptPrices(endpoints, await file.read(), isMoveFine);
  const list: RefreshedCatalog = { version: 1, source: url, fetched: new Date(nowMs).toISOString(), ...accepted };
  try {
    await file.write(list);
  } catch (error) {
    throw new RefreshError(`${file.path}: cannot be written.`, { cause: error });
  }
  return list;
}

/** The list holds more values than any request may. */
function parse(text: string): Json | undefined {
  try {
    const value: Json = JSON.parse(text);
    return value;
  } catch {
    return undefined;
  }
}
