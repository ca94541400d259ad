import type { GenerationRequest } from '../../../canonical/request.ts';
import type { Warnings } from '../../gateway/warnings.ts';
import { textOf, type WireObject } from '../../json-fields.ts';

/** A search that the vendor is to make by itself. The caller's own settings of such a tool win. @spec messages-19 */
export function encodeNativeWebSearch(
  { settings: { nativeWebSearch }, tools }: GenerationRequest,
  vendor: boolean,
  warnings: Warnings,
): WireObject | undefined {
  if (nativeWebSearch === undefined) return undefined;
  if (tools.some((tool) => tool.type === 'opaque' && textOf(tool.value['type'])?.startsWith('web_search')))
    return undefined;
  if (!vendor) {
    warnings.add('field-dropped', 'plugins', 'web: the endpoint has no search of its own');
    return undefined;
  }
  const { includeSites = [], excludeSites = [], usesMax, place, posts } = nativeWebSearch;
  if (posts !== undefined) warnings.add('field-dropped', 'plugins', 'web: the endpoint does not search posts');
  return {
    type: 'web_search_20250305',
    name: 'web_search',
    ...(usesMax !== undefined && { max_uses: usesMax }),
    // One of the two: pages to include win.
    ...(includeSites.length > 0 && { allowed_domains: includeSites }),
    ...(includeSites.length === 0 && excludeSites.length > 0 && { blocked_domains: excludeSites }),
    ...(place !== undefined && { user_location: { type: 'approximate', ...place } }),
  };
}
