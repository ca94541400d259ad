import type { JsonObject } from '../../../lib/json.ts';
import type { Dialect } from '../../format.ts';

const BREAKPOINT: JsonObject = { prompt_cache_breakpoint: { mode: 'explicit' } };

/** Whether the endpoint takes breakpoints, which are marks on parts of the input. @spec prompt-cache-3 */
export function takesBreakpoints({ cacheBreakpoints }: Dialect): boolean {
  return cacheBreakpoints === 'prompt_cache_breakpoint';
}

/** A part that ends a reusable prefix. */
export function withBreakpoint(part: JsonObject): JsonObject {
  return part['type'] === 'input_audio' ? part : { ...part, ...BREAKPOINT };
}
