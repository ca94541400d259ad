import { isAtSite, parseSiteRule, type SiteRule } from '../canonical/tools/site-rules.ts';
import type { PageEngineId, PageFailure, WebPageOutcome, WebPages } from '../canonical/tools/web-page.ts';
import { VaultError } from '../canonical/vault-reference.ts';
import { createHider } from '../lib/text/hide-values.ts';
import type { ByteBudget } from '../lib/memory/byte-budget.ts';
import { truncateAtWord } from '../lib/text/truncate.ts';
import { DownloadError, type DownloadedFrom, type DownloadFrom } from '../lib/net/download.ts';
import { GrowingBytes, NoMemoryError } from '../lib/memory/growing-bytes.ts';
import { isPublicWebAddress } from '../lib/net/public-address.ts';
import { decodeText } from './decode-text.ts';
import type { TextFault, TextMaker } from './text-maker.ts';

/** Vendors that can read pages in place of the gateway. */
type VendorId = Exclude<PageEngineId, 'service'>;

export interface WebPagesDeps {
  /** Of http and https addresses. */
  readonly download: DownloadFrom;
  readonly textMaker: TextMaker;
  /** Of all files and pages together. */
  readonly memory: ByteBudget;
  readonly vendors: {
    has(engine: VendorId): boolean;
    feeOf(engine: VendorId): number;
    read(engine: VendorId, url: string, charsMax: number, signal: AbortSignal): Promise<WebPageOutcome>;
  };
  readonly nowMs: () => number;
  /** Headers that the operator has pages of an address fetched with, and the secrets in them. Absent: none. @throws VaultError */
  readonly credentialsFor?: (url: string, keyHash: string | undefined) => Promise<PageCredentials | undefined>;
}

export interface PageCredentials {
  readonly headers: Readonly<Record<string, string>>;
  readonly secrets: readonly string[];
}

const URL_CHARS_MAX = 2_048;
/** @spec web-23 */
const PAGE_BYTES_MAX = 10 * 1_024 * 1_024;
const DOWNLOAD_TIMEOUT_MS = 20_000;
const READ_TIMEOUT_MS = 20_000;
const PDF_PAGES_MAX = 1_000;
/** Of a page by default: a fifth of a usual context. */
const CONTENT_CHARS_DEFAULT = 100_000;
/** A result of a tool is JSON text of bounded length, in which line ends and quotes take two characters. */
const CONTENT_CHARS_MAX = 500_000;
/** A token is about so many characters. */
const CHARS_PER_TOKEN = 4;

/** Reads pages of the web. @spec web-23 */
export function createWebPages({
  download,
  textMaker,
  memory,
  vendors,
  nowMs,
  credentialsFor,
}: WebPagesDeps): WebPages {
  async function readHere(query: SitedQuery, charsMax: number, signal: AbortSignal): Promise<WebPageOutcome> {
    const taken = new GrowingBytes(memory, signal);
    try {
      const credentials = await credentialsFor?.(query.url, query.keyHash);
      const file = await fetchPage(query, taken, signal, credentials?.headers);
      if ('status' in file) return file;
      const text = await textOf(file, charsMax, { textMaker, signal });
      if (text.status === 'failed') return text;
      // A page that repeats what it was sent must not show it to a model.
      const hide = credentials === undefined ? same : createHider(credentials.secrets);
      return {
        ...text,
        content: hide(text.content),
        title: hide(text.title === '' ? file.url : text.title),
        url: hide(file.url),
        retrievedAt: new Date(nowMs()).toISOString(),
        feeNanoUsd: 0,
      };
    } catch (error) {
      if (error instanceof VaultError)
        return failed('url_not_accessible', 'The credentials of this site are not available.');
      throw error;
    } finally {
      taken.close();
    }
  }

  async function fetchPage(
    { url, mayVisit }: SitedQuery,
    taken: GrowingBytes,
    signal: AbortSignal,
    headers?: PageCredentials['headers'],
  ): Promise<DownloadedFrom | Failed> {
    const limits = { bytesMax: PAGE_BYTES_MAX, timeoutMs: DOWNLOAD_TIMEOUT_MS, mayVisit, memory: taken, headers };
    try {
      return await download(url, limits, signal);
    } catch (error) {
      if (error instanceof NoMemoryError)
        return failed('too_many_requests', 'Too many pages and files are being fetched. Try again later.');
      if (!(error instanceof DownloadError)) throw error;
      return failed(error.isForbidden ? 'url_not_allowed' : 'url_not_accessible', error.message);
    }
  }

  async function readThere(engine: VendorId, query: SitedQuery, charsMax: number, signal: AbortSignal) {
    const { url, mayVisit } = query;
    // They could reach addresses in their own network, or in the gateway's if they run beside it; callers must not.
    if (!mayVisit(url) || !isPublicWebAddress(url)) return NOT_ALLOWED;
    const page = await vendors.read(engine, url, charsMax, signal);
    // Where it was led to, only the vendor knows before.
    const isElsewhere = page.status === 'completed' && (!mayVisit(page.url) || !isPublicWebAddress(page.url));
    return isElsewhere ? NOT_ALLOWED : page;
  }

  return {
    has: (engine) => engine === 'service' || vendors.has(engine),
    feeOf: (engine) => (engine === 'service' ? 0 : vendors.feeOf(engine)),
    async read({ url, engine, contentTokensMax, allowedSites, blockedSites, keyHash }, signal) {
      const wrong = wrongAddress(url);
      if (wrong !== undefined) return wrong;
      const charsAsked = contentTokensMax === undefined ? CONTENT_CHARS_DEFAULT : contentTokensMax * CHARS_PER_TOKEN;
      const charsMax = Math.min(charsAsked, CONTENT_CHARS_MAX);
      const query = { url, mayVisit: readVisits(allowedSites, blockedSites), keyHash };
      return engine === 'service' ? readHere(query, charsMax, signal) : readThere(engine, query, charsMax, signal);
    },
  };
}

const same = (text: string): string => text;

interface SitedQuery {
  readonly url: string;
  readonly mayVisit: (url: string) => boolean;
  readonly keyHash: string | undefined;
}

function readVisits(allowed: readonly string[] | undefined, blocked: readonly string[] = []): SitedQuery['mayVisit'] {
  const rulesOf = (sites: readonly string[]): readonly SiteRule[] => sites.flatMap((site) => parseSiteRule(site) ?? []);
  const allowedRules = allowed && rulesOf(allowed);
  const blockedRules = rulesOf(blocked);
  return (url) => (allowedRules === undefined || isAtSite(url, allowedRules)) && !isAtSite(url, blockedRules);
}

type Failed = Extract<WebPageOutcome, { status: 'failed' }>;

function failed(reason: PageFailure, message: string): Failed {
  return { status: 'failed', reason, message };
}

const NOT_ALLOWED = failed('url_not_allowed', 'The address is not among those that may be visited.');

function wrongAddress(address: string): Failed | undefined {
  if (address.length > URL_CHARS_MAX)
    return failed('url_too_long', `The address is longer than ${URL_CHARS_MAX} characters.`);
  const url = URL.parse(address);
  if (url === null) return failed('invalid_tool_input', 'The address is no URL.');
  if (url.protocol !== 'https:' && url.protocol !== 'http:')
    return failed('url_not_allowed', 'Only http and https addresses are read.');
  return undefined;
}

interface PageText {
  readonly status: 'completed';
  readonly title: string;
  readonly content: string;
  readonly isCut: boolean;
}

async function textOf(
  { bytes, mediaType, charset, url }: DownloadedFrom,
  charsMax: number,
  { textMaker, signal }: { readonly textMaker: TextMaker; readonly signal: AbortSignal },
): Promise<PageText | Failed> {
  const kind = kindOf(mediaType, bytes);
  if (kind === undefined)
    return failed('unsupported_content_type', `The address holds ${mediaType ?? 'no text'}, which is not read.`);
  if (kind === 'text') {
    const text = decodeText(bytes, charset);
    return { status: 'completed', title: '', content: truncateAtWord(text, charsMax), isCut: text.length > charsMax };
  }
  const job =
    kind === 'pdf'
      ? ({ kind, bytes, charsMax, pagesMax: PDF_PAGES_MAX } as const)
      : ({ kind, bytes, charsMax, charset, url } as const);
  const read = await textMaker.read(job, READ_TIMEOUT_MS, signal);
  if (read.status === 'failed') return failed(...FAILURES[read.fault]);
  return { status: 'completed', title: read.title, content: read.text, isCut: read.isCut };
}

const FAILURES: Readonly<Record<TextFault, readonly [PageFailure, string]>> = {
  unreadable: ['unsupported_content_type', 'The page could not be read.'],
  encrypted: ['url_not_accessible', 'The file is locked with a password.'],
  'too-many-pages': ['unsupported_content_type', `The file has more than ${PDF_PAGES_MAX} pages.`],
  timeout: ['unavailable', 'The page took too long to read.'],
  displaced: ['unavailable', 'The page takes long to read, and others waited.'],
  memory: ['unavailable', 'The page takes too much memory to read.'],
  busy: ['too_many_requests', 'Too many pages are being read.'],
  aborted: ['unavailable', 'The request for the page has ended.'],
  crashed: ['unavailable', 'The page could not be read.'],
};

type PageKind = 'page' | 'pdf' | 'text';

const PAGE_TYPES: ReadonlySet<string> = new Set(['text/html', 'application/xhtml+xml']);
const TEXT_TYPE =
  /^(?:text\/|application\/(?:[\w.-]+\+)?(?:json|xml|yaml|x-yaml|javascript|ecmascript|x-ndjson|toml|sql)$)/;
const PDF_START = '%PDF-';

/** By what the server says, and by its first bytes where it says nothing of use. */
function kindOf(mediaType: string | undefined, bytes: Buffer): PageKind | undefined {
  if (mediaType === 'application/pdf') return 'pdf';
  if (mediaType !== undefined && PAGE_TYPES.has(mediaType)) return 'page';
  if (mediaType !== undefined && TEXT_TYPE.test(mediaType)) return 'text';
  if (mediaType !== undefined && mediaType !== 'application/octet-stream') return undefined;
  const start = bytes.toString('latin1', 0, 1_024).trimStart();
  if (start.startsWith(PDF_START)) return 'pdf';
  if (/^<(?:!doctype html|html|head|body)[\s>]/i.test(start)) return 'page';
  return mediaType === undefined && !start.includes('\0') ? 'text' : undefined;
}
