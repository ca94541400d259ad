import type { CacheBreakpoint } from '../../../canonical/blocks.ts';
import type { JsonObject } from '../../../lib/json.ts';
import type { Dialect } from '../../format.ts';
import { nestRest, restOf } from '../../extra.ts';

interface MarkedPart {
  readonly cache_control?: { readonly ttl?: '5m' | '1h' | undefined } | null | undefined;
  readonly prompt_cache_breakpoint?: object | null | undefined;
}

/** The two spellings are interchangeable; the one that may hold a lifetime wins. @spec chat-14, prompt-cache-3 */
export function decodeCacheControl(part: MarkedPart): { readonly cache?: CacheBreakpoint } {
  if (part.cache_control) return { cache: ephemeralBreakpoint(part.cache_control) };
  return part.prompt_cache_breakpoint ? { cache: { kind: 'explicit' } } : {};
}

const DIRECTIVE_MEMBERS: ReadonlySet<string> = new Set(['type', 'ttl']);

/** The leftovers of a node, with those of its `cache_control`. */
export function nestCacheControlRest(rest: JsonObject | undefined, directive: unknown): JsonObject | undefined {
  return nestRest(rest, 'cache_control', restOf(directive, DIRECTIVE_MEMBERS));
}

/** Leftovers of a mark go only where the mark itself goes. */
export function keepCacheControlRest(fields: JsonObject | undefined, dialect: Dialect): JsonObject | undefined {
  if (fields?.['cache_control'] === undefined || dialect.cacheBreakpoints === 'cache_control') return fields;
  const { cache_control: _mark, ...others } = fields;
  return others;
}

export function ephemeralBreakpoint(directive: { readonly ttl?: '5m' | '1h' | undefined }): CacheBreakpoint {
  return directive.ttl === undefined ? { kind: 'ephemeral' } : { kind: 'ephemeral', ttl: directive.ttl };
}

/** A breakpoint as the upstream spells it, where it knows any. @spec prompt-cache-3 */
export function encodeCacheControl(cache: CacheBreakpoint | undefined, dialect: Dialect): JsonObject {
  if (cache === undefined) return {};
  if (dialect.cacheBreakpoints === 'prompt_cache_breakpoint')
    // Without one such an endpoint caches by itself.
    return cache.isAutomatic === true ? {} : { prompt_cache_breakpoint: { mode: 'explicit' } };
  if (dialect.cacheBreakpoints !== 'cache_control') return {};
  return { cache_control: { type: 'ephemeral', ...(cache.ttl !== undefined && { ttl: cache.ttl }) } };
}
