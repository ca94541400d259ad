import { createHash } from 'node:crypto';
import type { ResponseCacheSetting } from '../../canonical/directives.ts';
import { parseKeepingNumbers, type JsonObject } from '../../lib/json.ts';

/** The headers `X-Service-Cache`, `-TTL` and `-Clear`, decoded. */
export interface CacheHeaders {
  readonly enabled?: boolean;
  /** Seconds, within bounds. */
  readonly ttlS?: number;
  readonly clear: boolean;
}

/** @spec cache-2 */
const TTL_S_DEFAULT = 300;
const TTL_S_MIN = 1;
const TTL_S_MAX = 86_400;

type One = (name: 'x-service-cache' | 'x-service-cache-ttl' | 'x-service-cache-clear') => string | undefined;

/** @returns `undefined` where no header is about the cache */
export function parseCacheHeaders(one: One): CacheHeaders | undefined {
  const [word, ttl, clearing] = [one('x-service-cache'), one('x-service-cache-ttl'), one('x-service-cache-clear')];
  if (word === undefined && ttl === undefined && clearing === undefined) return undefined;
  const enabled = parseFlag(word);
  const ttlS = parseTtl(ttl);
  const clear = parseFlag(clearing) === true;
  if (enabled === undefined && ttlS === undefined && !clear) return undefined;
  return { ...(enabled !== undefined && { enabled }), ...(ttlS !== undefined && { ttlS }), clear };
}

/** Any value but these two counts as absent. */
function parseFlag(value: string | undefined): boolean | undefined {
  const word = value?.trim().toLowerCase();
  return word === 'true' || word === 'false' ? word === 'true' : undefined;
}

/** Digits at the beginning count, as `parseInt` reads them; without any the header is ignored. */
function parseTtl(value: string | undefined): number | undefined {
  const seconds = Number.parseInt(value ?? '', 10);
  return Number.isNaN(seconds) ? undefined : Math.min(Math.max(seconds, TTL_S_MIN), TTL_S_MAX);
}

/** A preset as the cache sees it: its settings, and all that it adds to a request. */
export interface CachingPreset {
  readonly config: JsonObject;
  readonly systemPrompt: string | null;
}

/**
 * Whether a request wants its response from the cache, and into it: in this order count the preset's no, the header, the preset's yes.
 * @param text of the body, as it came
 * @spec cache-2
 */
export function parseCacheSetting(
  headers: CacheHeaders | undefined,
  preset: CachingPreset | undefined,
  text: string,
): ResponseCacheSetting | undefined {
  const byPreset = preset?.config['cache_enabled'];
  if (byPreset === false) return undefined;
  if (!(headers?.enabled ?? byPreset === true)) return undefined;
  const presetTtlS = preset?.config['cache_ttl_seconds'];
  const ttlS = headers?.ttlS ?? (typeof presetTtlS === 'number' ? presetTtlS : TTL_S_DEFAULT);
  return { ttlMs: ttlS * 1_000, clear: headers?.clear === true, bodyDigest: digestOf(text, preset) };
}

/** White space does not count; the order of members does, and every digit of a number. A preset that changes is another. */
function digestOf(text: string, preset: CachingPreset | undefined): string {
  const hash = createHash('sha256').update(JSON.stringify(parseKeepingNumbers(text)));
  if (preset !== undefined) hash.update('\n').update(JSON.stringify([preset.config, preset.systemPrompt]));
  return hash.digest('base64url');
}
