import type { FileMemory, FileReader, FileSource, ParsedFile, ParseOutcome } from '../canonical/tools/parsed-file.ts';
import type { ByteBudget } from '../lib/memory/byte-budget.ts';
import { DownloadError, type Download } from '../lib/net/download.ts';
import { GrowingBytes, NoMemoryError } from '../lib/memory/growing-bytes.ts';
import type { HttpClient } from '../lib/net/http-client.ts';
import { isPublicWebAddress } from '../lib/net/public-address.ts';
import { PAGE_NANO_USD, runOcr, type OcrSettings } from './mistral-ocr.ts';
import type { TextFault, TextMaker } from './text-maker.ts';

export interface FileReaderDeps {
  readonly http: HttpClient;
  readonly download: Download;
  readonly textMaker: TextMaker;
  /** Of all files and pages together. Absent: nothing counts them. */
  readonly memory?: ByteBudget | undefined;
  /** Absent: the service is not set up. */
  readonly ocr?: OcrSettings | undefined;
}

/** @spec plugin-13 */
const FILE_BYTES_MAX = 50 * 1_024 * 1_024;
const PDF_PAGES_MAX = 1_000;
const DOWNLOAD_TIMEOUT_MS = 30_000;
const READ_TIMEOUT_MS = 30_000;
const COUNT_TIMEOUT_MS = 10_000;
/** Of one file: a thousand pages that are written full. */
const TEXT_CHARS_MAX = 8_000_000;

type Failed = Extract<ParseOutcome, { status: 'failed' }>;

/** Makes text of PDFs: here (`cloudflare-ai`), or at Mistral's service. @spec plugin-10 */
export function createFileReader({ http, download, textMaker, memory, ocr }: FileReaderDeps): FileReader {
  /** A file is usually read right after its pages were counted. */
  const counted = new WeakMap<Uint8Array, number | Failed>();

  /** A number, the reason why there is none, or nothing when counting failed. */
  async function countPages(bytes: Uint8Array, signal: AbortSignal): Promise<number | Failed | undefined> {
    const known = counted.get(bytes);
    if (known !== undefined) return known;
    const job = { kind: 'count', bytes, pagesMax: PDF_PAGES_MAX } as const;
    const read = await textMaker.read(job, COUNT_TIMEOUT_MS, signal);
    if (read.status === 'failed' && read.fault !== 'too-many-pages') return undefined;
    const count = read.status === 'read' ? read.pages : faultOf(read.fault);
    counted.set(bytes, count);
    return count;
  }

  async function parseThere(
    source: FileSource,
    settings: OcrSettings,
    signal: AbortSignal,
    held: FileMemory | undefined,
  ): Promise<ParseOutcome> {
    if (source.type === 'url' && !isPublicWebAddress(source.url)) return NOT_OF_THE_WEB;
    const count = source.type === 'bytes' ? await countPages(source.bytes, signal) : undefined;
    if (typeof count === 'object') return count;
    const read = await inMemory(memory, signal, held, async (taken) => {
      const outcome = await runOcr(http, settings, source, { memory: taken, signal });
      taken?.shrink(outcome.status === 'parsed' ? sizeOf(outcome.parts) : 0);
      return outcome;
    });
    if (read.status === 'failed') return read;
    const { pages, parts } = read;
    return { status: 'parsed', file: { pages, parts }, feeNanoUsd: pages * PAGE_NANO_USD };
  }

  async function parseHere(bytes: Uint8Array, signal: AbortSignal): Promise<ParseOutcome> {
    const job = { kind: 'pdf', bytes, pagesMax: PDF_PAGES_MAX, charsMax: TEXT_CHARS_MAX } as const;
    const read = await textMaker.read(job, READ_TIMEOUT_MS, signal);
    if (read.status === 'failed') return faultOf(read.fault);
    const parts: ParsedFile['parts'] = read.text === '' ? [] : [{ type: 'text', text: read.text }];
    return { status: 'parsed', file: { pages: read.pages, parts }, feeNanoUsd: 0 };
  }

  return {
    has: (engine) => engine !== 'mistral-ocr' || ocr !== undefined,
    async fetch(url, signal, held) {
      const limits = { bytesMax: FILE_BYTES_MAX, timeoutMs: DOWNLOAD_TIMEOUT_MS };
      try {
        return await inMemory(memory, signal, held, async (taken) => {
          const { bytes } = await download(url, taken === undefined ? limits : { ...limits, memory: taken }, signal);
          taken?.shrink(bytes.length);
          return { type: 'bytes', bytes } as const;
        });
      } catch (error) {
        if (!(error instanceof DownloadError)) throw error;
        return failed('caller', error.message);
      }
    },
    async quote(source, engine, signal) {
      if (engine !== 'mistral-ocr') return 0;
      const pages = source.type === 'bytes' ? await countPages(source.bytes, signal) : undefined;
      return (typeof pages === 'number' ? pages : PDF_PAGES_MAX) * PAGE_NANO_USD;
    },
    parse(source, engine, signal, held) {
      if (source.type === 'bytes' && source.bytes.length > FILE_BYTES_MAX)
        return Promise.resolve(failed('caller', `It is larger than ${FILE_BYTES_MAX} bytes.`));
      if (engine === 'mistral-ocr')
        return ocr === undefined ? Promise.resolve(NOT_SET_UP) : parseThere(source, ocr, signal, held);
      if (source.type === 'url') return Promise.resolve(failed('service', 'Only bytes are read here.'));
      return parseHere(source.bytes, signal);
    },
  };
}

/** What a file takes, for as long as `held` says, or as `use` runs where it does not. */
async function inMemory<Value>(
  memory: ByteBudget | undefined,
  signal: AbortSignal,
  held: FileMemory | undefined,
  use: (taken: GrowingBytes | undefined) => Promise<Value>,
): Promise<Value | Failed> {
  const taken = memory && new GrowingBytes(memory, signal);
  if (taken !== undefined) held?.add(taken);
  try {
    return await use(taken);
  } catch (error) {
    if (error instanceof NoMemoryError) return NO_MEMORY;
    throw error;
  } finally {
    if (held === undefined) taken?.close();
  }
}

/** Of text and pictures, as characters. */
function sizeOf(parts: ParsedFile['parts']): number {
  return parts.reduce((sum, part) => sum + (part.type === 'text' ? part.text.length : part.url.length), 0);
}

function failed(fault: Failed['fault'], message: string): Failed {
  return { status: 'failed', fault, message };
}

const NO_MEMORY = failed('memory', 'The gateway reads as many files as its memory holds.');
/** The service may run beside the gateway, where it reaches what callers must not. */
const NOT_OF_THE_WEB = failed('caller', 'Its address is not on the public Internet.');
const NOT_SET_UP = failed('service', 'The service that reads files is not set up on this gateway.');

function faultOf(fault: TextFault): Failed {
  return FAILURES[fault];
}

const FAILURES: Readonly<Record<TextFault, Failed>> = {
  unreadable: failed('caller', 'It is no PDF that can be read.'),
  encrypted: failed('caller', 'It is locked with a password.'),
  'too-many-pages': failed('caller', `It has more than ${PDF_PAGES_MAX} pages.`),
  timeout: failed('caller', `Its text could not be found within ${READ_TIMEOUT_MS} ms.`),
  displaced: failed('service', 'It takes long to read, and others waited.'),
  memory: failed('caller', 'It unpacks to more than there is memory for.'),
  crashed: failed('caller', 'It is no PDF that can be read.'),
  busy: failed('service', 'Too many files are being read.'),
  aborted: failed('service', 'The request for it has ended.'),
};
