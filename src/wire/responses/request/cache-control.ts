import type { GenerationRequest } from '../../../canonical/request.ts';
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

/**
 * Clients that send long histories again and again name a key of the prompt cache and set no breakpoint, since their vendor
 * needs none. One that moves with the end of the history makes the others cache as well.
 */
export function withAutomaticCache(request: GenerationRequest): GenerationRequest {
  const { settings, turns, tools } = request;
  if (settings.promptCacheKey === undefined || settings.cache !== undefined) return request;
  const isMarked =
    turns.some(({ blocks }) => blocks.some(({ cache }) => cache !== undefined)) ||
    tools.some((tool) => tool.type === 'function' && tool.cache !== undefined);
  if (isMarked) return request;
  return { ...request, settings: { ...settings, cache: { kind: 'ephemeral', isAutomatic: true } } };
}
