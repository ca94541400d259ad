import type { SearchContextSize } from '../../canonical/tools/web-search.ts';
import type { Json, JsonObject } from '../../lib/json.ts';
import type { NativeEndpoint } from '../contract.ts';

/** What of the parameters an endpoint's own search may take. */
export interface NativeSettings {
  readonly max_uses?: number | null | undefined;
  readonly search_context_size?: SearchContextSize | null | undefined;
  readonly allowed_domains?: readonly string[] | null | undefined;
  readonly excluded_domains?: readonly string[] | null | undefined;
  readonly user_location?: Readonly<Record<string, unknown>> | null | undefined;
}

/** Other hosts of the vendor's format, such as the sandbox, have no search. */
const VENDORS = /claude/;
/** Models from before their vendor's search. @spec web-2 */
const VENDORS_WITHOUT = /claude-(?:instant|2|3-(?:opus|sonnet|haiku)|3-5-sonnet)/;
const RESPONSES_WITH = /(?:^|\/)(?:gpt-4\.1|gpt-[5-9]|o3|o4-mini)/;
const GROK_WITH = /grok-(?:[4-9]|[1-9]\d)/;
/** Sites in one list. docs.x.ai "Web Search", read 2026-11 */
const GROK_SITES_MAX = 5;

/** The endpoint's own search, in the words of its format; `undefined` where it has none. */
export function formatNativeSearch(
  preferences: NativeSettings,
  { format, model, runsNativeTools }: NativeEndpoint,
): JsonObject | undefined {
  if (format === 'messages') {
    const searches = runsNativeTools && VENDORS.test(model) && !VENDORS_WITHOUT.test(model);
    return searches ? formatVendors(preferences) : undefined;
  }
  if (format !== 'responses') return undefined;
  if (GROK_WITH.test(model)) return formatGroks(preferences);
  return RESPONSES_WITH.test(model) ? formatResponses(preferences) : undefined;
}

/** One list of sites: pages to include win. With more sites than it takes it would search elsewhere. @spec web-8 */
function formatGroks({ allowed_domains, excluded_domains, user_location }: NativeSettings): JsonObject | undefined {
  const allowed = allowed_domains ?? [];
  const excluded = excluded_domains ?? [];
  if ((allowed.length > 0 ? allowed : excluded).length > GROK_SITES_MAX) return undefined;
  const location = locationOf(user_location);
  return {
    type: 'web_search',
    ...(allowed.length > 0 && { filters: { allowed_domains: allowed } }),
    ...(allowed.length === 0 && excluded.length > 0 && { filters: { excluded_domains: excluded } }),
    ...(location !== undefined && { user_location: location }),
  };
}

/** One list of sites: pages to include win. @spec web-7 */
function formatVendors({ max_uses, allowed_domains, excluded_domains, user_location }: NativeSettings): JsonObject {
  const allowed = allowed_domains ?? [];
  const blocked = excluded_domains ?? [];
  const location = locationOf(user_location);
  return {
    type: 'web_search_20250305',
    name: 'web_search',
    ...(typeof max_uses === 'number' && { max_uses }),
    ...(allowed.length > 0 && { allowed_domains: allowed }),
    ...(allowed.length === 0 && blocked.length > 0 && { blocked_domains: blocked }),
    ...(location !== undefined && { user_location: location }),
  };
}

/** Sites to leave out cannot be said. @spec web-8; developers.openai.com "Web search", read 2026-11 */
function formatResponses({ search_context_size, allowed_domains, user_location }: NativeSettings): JsonObject {
  const allowed = allowed_domains ?? [];
  const location = locationOf(user_location);
  return {
    type: 'web_search',
    ...(typeof search_context_size === 'string' && { search_context_size }),
    ...(allowed.length > 0 && { filters: { allowed_domains: allowed } }),
    ...(location !== undefined && { user_location: location }),
  };
}

const PLACES = ['city', 'region', 'country', 'timezone'] as const;

function locationOf(location: NativeSettings['user_location']): JsonObject | undefined {
  if (location === undefined || location === null) return undefined;
  const known = PLACES.flatMap((name): [string, Json][] => {
    const place = location[name];
    return typeof place === 'string' ? [[name, place]] : [];
  });
  return { type: 'approximate', ...Object.fromEntries(known) };
}
