import type { NativeWebSearch } from '../../../canonical/tools/native-web-search.ts';
import type { JsonObject } from '../../../lib/json.ts';
import type { EncodeContext } from './encode-context.ts';

/** A search that the upstream is to make by itself: `web_search_options`, which knows where the user is and nothing else. */
export function encodeNativeWebSearch(
  { includeSites = [], excludeSites = [], place, posts }: NativeWebSearch,
  context: EncodeContext,
): JsonObject | undefined {
  // An endpoint without a list of parameters hardly supports this one.
  if (context.target.supportedParameters?.has('web_search_options') !== true) {
    context.warn('field-dropped', 'plugins', 'web: the endpoint has no search of its own');
    return undefined;
  }
  if (includeSites.length + excludeSites.length > 0)
    context.warn('field-dropped', 'plugins', 'web: the endpoint has no setting for sites');
  if (posts !== undefined) context.warn('field-dropped', 'plugins', 'web: the endpoint does not search posts');
  // The place stands one level down here. developers.openai.com "Web search", read 2026-11
  return place === undefined ? {} : { user_location: { type: 'approximate', approximate: { ...place } } };
}
