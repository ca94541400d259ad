import type { AppAttribution, Directives } from '../../canonical/directives.ts';
import { invalid } from '../../canonical/gateway-error.ts';
import { parseCacheHeaders, type CacheHeaders } from './response-cache.ts';

/** What request headers ask of the gateway. @spec request-25 */
export interface HeaderDirectives {
  readonly serviceMetadata: boolean;
  readonly rescue?: boolean;
  readonly sessionId?: string;
  readonly betas: readonly string[];
  readonly app?: AppAttribution;
  readonly cache?: CacheHeaders;
  readonly traceContext?: NonNullable<Directives['traceContext']>;
  /** How a coding client names its conversation, for callers that name none themselves. */
  readonly clientSessionId?: string;
  /** How a refusal comes that has no stream yet: as a status, or as a stream that fails. Absent: as configured. */
  readonly streamErrors?: 'status' | 'in-band';
  /** Which events a stream may have: those of the vendor's SDK, or more. */
  readonly streamEvents?: 'extended';
}

/** All headers that are read here but `user-agent`, and `tracestate`, which says nothing alone. */
const DIRECTIVE_HEADERS = [
  'anthropic-beta',
  'cf-ipcountry',
  'cloudfront-viewer-country',
  'http-referer',
  'referer',
  'session-id',
  'session_id',
  'thread-id',
  'traceparent',
  'x-anthropic-beta',
  'x-service-cache',
  'x-service-cache-clear',
  'x-service-cache-ttl',
  'x-service-categories',
  'x-service-country',
  'x-service-experimental-metadata',
  'x-service-metadata',
  'x-service-rescue',
  'x-service-stream-errors',
  'x-service-stream-events',
  'x-service-title',
  'x-session-id',
  'x-title',
] as const;
const DIRECTIVE_HEADER_SET: ReadonlySet<string> = new Set(DIRECTIVE_HEADERS);

type Headers = Readonly<
  Partial<
    Record<(typeof DIRECTIVE_HEADERS)[number] | 'tracestate' | 'user-agent', string | readonly string[] | undefined>
  >
>;

/** @spec request-19 */
const SESSION_ID_CHARS_MAX = 256;
const APP_TEXT_CHARS_MAX = 512;
const CATEGORIES_MAX = 2;
const BETAS_MAX = 32;
const KNOWN_CATEGORIES: ReadonlySet<string> = new Set([
  'cli-agent',
  'ide-extension',
  'cloud-agent',
  'programming-app',
  'native-app-builder',
  'creative-writing',
  'video-gen',
  'image-gen',
  'audio-gen',
  'writing-assistant',
  'general-chat',
  'personal-agent',
  'legal',
  'roleplay',
  'game',
]);

/** Headers of a coding client that name its conversation. @source Codex CLI, read 2026-11 */
const CLIENT_SESSION_HEADERS = ['session-id', 'session_id', 'thread-id'] as const;

/** @throws GatewayError 400 when `x-session-id` is too long */
export function decodeHeaderDirectives(headers: Headers): HeaderDirectives {
  // Nearly every request has none of them.
  for (const name in headers) if (DIRECTIVE_HEADER_SET.has(name)) return decodeAll(headers);
  const userAgent = one(headers['user-agent']);
  if (userAgent === undefined) return NO_DIRECTIVES;
  return { serviceMetadata: false, betas: NONE, app: { userAgent: userAgent.slice(0, APP_TEXT_CHARS_MAX) } };
}

const NONE: readonly string[] = [];
const NO_DIRECTIVES: HeaderDirectives = { serviceMetadata: false, betas: NONE };

function decodeAll(headers: Headers): HeaderDirectives {
  const metadata = one(headers['x-service-metadata']) ?? one(headers['x-service-experimental-metadata']);
  const sessionId = one(headers['x-session-id']);
  if (sessionId !== undefined && sessionId.length > SESSION_ID_CHARS_MAX)
    throw invalid('x-session-id', `must have at most ${SESSION_ID_CHARS_MAX} characters`);
  const app = parseApp(headers);
  const cache = parseCacheHeaders((name) => one(headers[name]));
  return {
    serviceMetadata: metadata?.toLowerCase() === 'enabled',
    betas: parseBetas(headers),
    ...parseRescue(one(headers['x-service-rescue'])),
    ...(sessionId !== undefined && sessionId !== '' && { sessionId }),
    ...(app !== undefined && { app }),
    ...(cache !== undefined && { cache }),
    ...parseClientSession(headers),
    ...parseStreamChoices(headers),
    ...parseTraceHeaders(headers),
  };
}

/** One that is too long names nothing. */
function parseClientSession(headers: Headers): Pick<HeaderDirectives, 'clientSessionId'> {
  for (const header of CLIENT_SESSION_HEADERS) {
    const id = one(headers[header]);
    if (id !== undefined && id !== '' && id.length <= SESSION_ID_CHARS_MAX) return { clientSessionId: id };
  }
  return {};
}

/** Longer ones are no trace context. @source W3C "Trace Context", level 1, 3.2 and 3.3, read 2026-11 */
const TRACEPARENT_CHARS_MAX = 128;
const TRACESTATE_CHARS_MAX = 512;

function parseTraceHeaders(headers: Headers): Pick<HeaderDirectives, 'traceContext'> {
  const parent = one(headers.traceparent);
  if (parent === undefined || parent.length > TRACEPARENT_CHARS_MAX) return {};
  const state = one(headers.tracestate);
  const hasState = state !== undefined && state.length <= TRACESTATE_CHARS_MAX;
  return { traceContext: { parent, ...(hasState && { state }) } };
}

/** Any other value counts as absent. */
function parseStreamChoices(headers: Headers): Pick<HeaderDirectives, 'streamErrors' | 'streamEvents'> {
  const errors = one(headers['x-service-stream-errors'])?.toLowerCase();
  const events = one(headers['x-service-stream-events'])?.toLowerCase();
  return {
    ...((errors === 'status' || errors === 'in-band') && { streamErrors: errors }),
    ...(events === 'extended' && { streamEvents: events }),
  };
}

/** Any value but these two counts as absent, as in the other header. */
function parseRescue(value: string | undefined): { readonly rescue?: boolean } {
  const word = value?.toLowerCase();
  return word === 'enabled' || word === 'disabled' ? { rescue: word === 'enabled' } : {};
}

/** A vendor's client sends the one header, a caller of ours the other, and some send both. */
function parseBetas(headers: Headers): readonly string[] {
  const own = one(headers['x-anthropic-beta']);
  const vendors = one(headers['anthropic-beta']);
  if (own === undefined && vendors === undefined) return [];
  const first = commaList(own, BETAS_MAX);
  const second = commaList(vendors, BETAS_MAX);
  return first.length === 0 ? second : [...new Set([...first, ...second])];
}

function parseApp(headers: Headers): AppAttribution | undefined {
  const url = one(headers['http-referer']) ?? one(headers['referer']);
  const title = one(headers['x-service-title']) ?? one(headers['x-title']);
  const userAgent = one(headers['user-agent']);
  const country = parseCountry(headers);
  const categories = parseCategories(one(headers['x-service-categories']));
  const reported = url ?? title ?? userAgent ?? country;
  if (reported === undefined && categories.length === 0) return undefined;
  return {
    ...(url !== undefined && { url: url.slice(0, APP_TEXT_CHARS_MAX) }),
    ...(title !== undefined && { title: title.slice(0, APP_TEXT_CHARS_MAX) }),
    ...(userAgent !== undefined && { userAgent: userAgent.slice(0, APP_TEXT_CHARS_MAX) }),
    ...(categories.length > 0 && { categories }),
    ...(country !== undefined && { country }),
  };
}

function parseCategories(value: string | undefined): readonly string[] {
  if (value === undefined) return [];
  return commaList(value, 16)
    .filter((category) => KNOWN_CATEGORIES.has(category))
    .slice(0, CATEGORIES_MAX);
}

/**
 * The caller's country, as a proxy in front of the gateway or the caller itself reports it: nothing is decided by it.
 * @source vendor docs, read 2026-11: Cloudflare "IP geolocation", CloudFront "Add request headers"
 */
function parseCountry(headers: Headers): string | undefined {
  const named =
    one(headers['cf-ipcountry']) ?? one(headers['cloudfront-viewer-country']) ?? one(headers['x-service-country']);
  const country = named?.trim().toUpperCase();
  return country !== undefined && country !== NO_COUNTRY && /^[A-Z]{2}$/.test(country) ? country : undefined;
}

/** Cloudflare's code for an unknown country; `T1`, an exit of Tor, is no country either. */
const NO_COUNTRY = 'XX';

function one(value: string | readonly string[] | undefined): string | undefined {
  return typeof value === 'string' ? value : value?.[0];
}

function commaList(value: string | undefined, max: number): readonly string[] {
  if (value === undefined) return [];
  return value
    .split(',', max)
    .map((entry) => entry.trim())
    .filter((entry) => entry !== '');
}
