import type { Block, MediaBlock } from '../../../canonical/blocks.ts';
import type { UpstreamFailure } from '../../../canonical/failure/failure.ts';
import type { GenerationRequest, Turn } from '../../../canonical/request.ts';
import { createByteBudget, type ByteBudget, type BytesTaken } from '../../../lib/memory/byte-budget.ts';
import { DownloadError, type Download, type Downloaded } from '../../../lib/net/download.ts';
import type { Dialect, UpstreamFormat } from '../../../wire/format.ts';
import { mediaTypeOf } from './media-type.ts';
import type { SignalSource } from '../../../lib/async/cancellation.ts';
import { isTextOnly } from '../../../canonical/text-only.ts';

const IMAGE_BYTES_MAX = 20 * 1_024 * 1_024;
const FILE_BYTES_MAX = 50 * 1_024 * 1_024;
const TIMEOUT_MS = 10_000;
/** Addresses of one request, and bytes behind all of them. */
const ADDRESSES_MAX = 32;
const TOTAL_BYTES_MAX = 100 * 1_024 * 1_024;
const AT_ONCE_MAX = 4;
const ADDRESS_CHARS_SHOWN = 200;
/** Of what is no address at all. */
const SCHEME_CHARS_SHOWN = 30;

export interface MediaInlinerDeps {
  readonly download: Download;
  /** Of all requests together. */
  readonly memory: ByteBudget;
}

type Fetched = Required<Pick<Downloaded, 'bytes' | 'mediaType'>>;
type Address = { readonly url: string; readonly media: MediaBlock['media'] };

const MEMORY_WAIT_MS = 10_000;
const FILES_WAITING_MAX = 256;

/** What the files of all requests together may take. */
export function createFileMemory(bytesMax: number): ByteBudget {
  return createByteBudget({ bytesMax, waitMs: MEMORY_WAIT_MS, waitingMax: FILES_WAITING_MAX });
}

/** How soon it is worth to ask again where the memory for files is used up. */
const RETRY_AFTER_MS = 5_000;

class NoMemory extends Error {}

/**
 * Fetches for one request what an upstream does not open by itself; each address once, whatever the attempts. A class because
 * it lives as long as its request, and most requests hold nothing that is fetched. @spec media-2: 20 MB an image, 50 MB a file, 10 s
 */
export class MediaInliner {
  readonly #deps: MediaInlinerDeps;
  #fetched: Map<string, Fetched> | undefined;
  readonly #held: BytesTaken[] = [];
  #closed = false;
  #bytes = 0;

  constructor(deps: MediaInlinerDeps) {
    this.#deps = deps;
  }

  /** The same request, at once, where nothing is to be fetched. */
  inline(
    request: GenerationRequest,
    format: UpstreamFormat,
    dialect: Dialect,
    cancellation: SignalSource,
  ): GenerationRequest | UpstreamFailure | Promise<GenerationRequest | UpstreamFailure> {
    if (format.mustInlineUrl === undefined || isTextOnly(request)) return request;
    const wanted = addressesIn(request, format, dialect);
    if (wanted.size === 0) return request;
    if (wanted.size > ADDRESSES_MAX) return failure(`At most ${ADDRESSES_MAX} files can be fetched for one request.`);
    return this.#inlineAll(request, wanted, cancellation.signal);
  }

  /** The request is over: its files leave the memory that all requests share. */
  close(): void {
    this.#closed = true;
    this.#fetched?.clear();
    for (const taken of this.#held) taken.shrink(0);
  }

  async #inlineAll(
    request: GenerationRequest,
    wanted: ReadonlyMap<string, Address>,
    signal: AbortSignal,
  ): Promise<GenerationRequest | UpstreamFailure> {
    const fetched = (this.#fetched ??= new Map());
    const missing = [...wanted.values()].filter(({ url }) => !fetched.has(url));
    try {
      await this.#fetchAll(missing, signal);
    } catch (error) {
      if (error instanceof NoMemory) return NO_MEMORY;
      if (!(error instanceof DownloadError)) throw error;
      return failure(`A file of the request could not be fetched from ${error.message}`);
    }
    const replace = (block: Block): Block => inlined(block, fetched, wanted);
    return { ...request, turns: request.turns.map((turn): Turn => ({ ...turn, blocks: turn.blocks.map(replace) })) };
  }

  /** The first that cannot be fetched ends the others: the request fails without it. */
  async #fetchAll(addresses: readonly Address[], signal: AbortSignal): Promise<void> {
    const waiting = addresses.values();
    const over = new AbortController();
    const any = AbortSignal.any([signal, over.signal]);
    const worker = async (): Promise<void> => {
      for (const address of waiting) await this.#fetchOne(address, any).catch((error: unknown) => fail(error, address));
    };
    const fail = (error: unknown, { url }: Address): never => {
      over.abort();
      if (!(error instanceof DownloadError)) throw error;
      throw new DownloadError(`${shown(url)}: ${error.message}`, { cause: error });
    };
    await Promise.all(Array.from({ length: Math.min(AT_ONCE_MAX, addresses.length) }, worker));
  }

  async #fetchOne({ url, media }: Address, signal: AbortSignal): Promise<void> {
    const { download, memory } = this.#deps;
    const bytesMax = Math.min(media === 'image' ? IMAGE_BYTES_MAX : FILE_BYTES_MAX, TOTAL_BYTES_MAX - this.#bytes);
    // The size is not known before, so there must be room for the largest.
    const taken = await memory.take(bytesMax, signal);
    if (taken === undefined) throw new NoMemory();
    if (this.#closed) taken.shrink(0);
    this.#held.push(taken);
    const file = await download(url, { bytesMax, timeoutMs: TIMEOUT_MS }, signal);
    taken.shrink(file.bytes.length);
    this.#bytes += file.bytes.length;
    if (this.#bytes > TOTAL_BYTES_MAX) throw new DownloadError('The files of the request are too large together.');
    const mediaType = mediaTypeOf(file, media);
    if (!mayBe(media, mediaType)) throw new DownloadError(`The address holds no ${media}, but ${mediaType}.`);
    this.#fetched?.set(url, { bytes: file.bytes, mediaType });
  }
}

function addressesIn(
  request: GenerationRequest,
  format: UpstreamFormat,
  dialect: Dialect,
): ReadonlyMap<string, Address> {
  const found = new Map<string, Address>();
  const look = (blocks: readonly Block[]): void => {
    for (const block of blocks) {
      if (block.type === 'tool-result') look(block.content);
      if (block.type !== 'media' || block.source.type !== 'url') continue;
      const { url } = block.source;
      if (format.mustInlineUrl?.(url, block.media, dialect) === true) found.set(url, { url, media: block.media });
    }
  };
  for (const turn of request.turns) look(turn.blocks);
  return found;
}

function inlined(block: Block, fetched: ReadonlyMap<string, Fetched>, wanted: ReadonlyMap<string, Address>): Block {
  if (block.type === 'tool-result')
    return { ...block, content: block.content.map((inner) => inlined(inner, fetched, wanted)) };
  if (block.type !== 'media' || block.source.type !== 'url' || !wanted.has(block.source.url)) return block;
  const file = fetched.get(block.source.url);
  if (file === undefined) return block;
  return {
    ...block,
    source: { type: 'base64', mediaType: file.mediaType, data: file.bytes.toString('base64') },
  };
}

const TEXT_TYPE = /^(?:text\/|application\/(?:json|xml|xhtml))/;

/** A page in place of a picture (sign in, not found) is an error, not sent for the model to read. Some call a PDF a picture. */
function mayBe(media: MediaBlock['media'], mediaType: string): boolean {
  return media === 'document' || !TEXT_TYPE.test(mediaType);
}

/** Without its query, which may hold a signature: messages end up in logs. */
function shown(url: string): string {
  const { protocol, host, pathname } = URL.parse(url) ?? { protocol: '', host: '', pathname: '' };
  if (host === '') return JSON.stringify(url.slice(0, SCHEME_CHARS_SHOWN));
  return `${protocol}//${host}${pathname}`.slice(0, ADDRESS_CHARS_SHOWN);
}

/** Nothing is wrong with the request; an endpoint that opens addresses by itself may still serve it. */
const NO_MEMORY: UpstreamFailure = {
  kind: 'unsayable',
  errorType: 'provider_overloaded',
  status: 503,
  mayTry: 'next-endpoint',
  retryAfterMs: RETRY_AFTER_MS,
  message: 'The gateway fetches as many files of requests as its memory holds.',
};

/** An endpoint that opens addresses by itself may still serve the request. */
function failure(message: string): UpstreamFailure {
  return { kind: 'unsayable', errorType: 'image_download_failed', status: 400, mayTry: 'next-endpoint', message };
}
