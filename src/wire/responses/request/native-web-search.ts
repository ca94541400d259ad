import type { NativeWebSearch, PostFilter } from '../../../canonical/tools/native-web-search.ts';
import type { JsonObject } from '../../../lib/json.ts';
import type { EncodeContext } from './encode-context.ts';

/**
 * A search that the upstream is to make by itself, as its tools for it; none where it has none.
 * @spec web-7, web-8; developers.openai.com "Web search", docs.x.ai "X Search", read 2026-11
 */
export function encodeNativeWebSearch(
  { includeSites = [], excludeSites = [], place, posts }: NativeWebSearch,
  { target, warnings }: EncodeContext,
): readonly JsonObject[] {
  const { webSearchTool, excludedSitesMax, postSearchTool } = target.dialect;
  const drop = (what: string): void => warnings.add('field-dropped', 'plugins', `web: the endpoint ${what}`);
  if (webSearchTool !== true) {
    drop('has no search of its own');
    return [];
  }
  const allowed = includeSites.slice(0, excludedSitesMax);
  const excluded = allowed.length > 0 ? [] : excludeSites.slice(0, excludedSitesMax ?? 0);
  const wanted = allowed.length > 0 ? includeSites : excludeSites;
  if (allowed.length + excluded.length < wanted.length) drop('has no setting for all sites');
  if (posts !== undefined && postSearchTool !== true) drop('does not search posts');
  const filters = {
    ...(allowed.length > 0 && { allowed_domains: allowed }),
    ...(excluded.length > 0 && { excluded_domains: excluded }),
  };
  return [
    {
      type: 'web_search',
      ...(allowed.length + excluded.length > 0 && { filters }),
      ...(place !== undefined && { user_location: { type: 'approximate', ...place } }),
    },
    ...(posts !== undefined && postSearchTool === true ? [encodePostSearch(posts)] : []),
  ];
}

function encodePostSearch(filter: PostFilter): JsonObject {
  const { allowedHandles, excludedHandles, fromDate, toDate, readsImages, readsVideos } = filter;
  return {
    type: 'x_search',
    ...(allowedHandles !== undefined && { allowed_x_handles: allowedHandles }),
    ...(excludedHandles !== undefined && { excluded_x_handles: excludedHandles }),
    ...(fromDate !== undefined && { from_date: fromDate }),
    ...(toDate !== undefined && { to_date: toDate }),
    ...(readsImages !== undefined && { enable_image_understanding: readsImages }),
    ...(readsVideos !== undefined && { enable_video_understanding: readsVideos }),
  };
}
