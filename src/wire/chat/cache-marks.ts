import type { CacheMark } from '../../canonical/blocks.ts';
import type { JsonObject } from '../../lib/json.ts';
import type { Dialect } from '../format.ts';
import { nestRest, restOf } from '../extra.ts';

interface MarkedPart {
  readonly cache_control?: { readonly ttl?: '5m' | '1h' | undefined } | null | undefined;
  readonly prompt_cache_breakpoint?: object | null | undefined;
}

/** The two spellings are interchangeable; the one that may say a lifetime wins. @source generation.md 1.2, 2.6 */
export function readCacheMark(part: MarkedPart): { readonly cache?: CacheMark } {
  if (part.cache_control) return { cache: ephemeralMark(part.cache_control) };
  return part.prompt_cache_breakpoint ? { cache: { kind: 'explicit' } } : {};
}

const DIRECTIVE_MEMBERS: ReadonlySet<string> = new Set(['type', 'ttl']);

/** The leftovers of a node, with those of its `cache_control`. */
export function nestMarkRest(rest: JsonObject | undefined, directive: unknown): JsonObject | undefined {
  return nestRest(rest, 'cache_control', restOf(directive, DIRECTIVE_MEMBERS));
}

/** Leftovers of a mark go only where the mark itself goes. */
export function keepMarkRest(fields: JsonObject | undefined, dialect: Dialect): JsonObject | undefined {
  if (fields?.['cache_control'] === undefined || dialect.cacheMarks === 'cache_control') return fields;
  const { cache_control: _mark, ...others } = fields;
  return others;
}

export function ephemeralMark(directive: { readonly ttl?: '5m' | '1h' | undefined }): CacheMark {
  return directive.ttl === undefined ? { kind: 'ephemeral' } : { kind: 'ephemeral', ttl: directive.ttl };
}

/** A breakpoint as the upstream spells it, where it knows any. @source generation.md 2.6 "Conversion" */
export function writeCacheMark(cache: CacheMark | undefined, dialect: Dialect): JsonObject {
  if (cache === undefined) return {};
  if (dialect.cacheMarks === 'prompt_cache_breakpoint') return { prompt_cache_breakpoint: { mode: 'explicit' } };
  if (dialect.cacheMarks !== 'cache_control') return {};
  return { cache_control: { type: 'ephemeral', ...(cache.ttl !== undefined && { ttl: cache.ttl }) } };
}
