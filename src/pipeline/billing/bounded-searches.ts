import type { GenerationRequest, Tool } from '../../canonical/request.ts';

/** Where nothing bounds them. */
const SEARCHES_DEFAULT = 10;
/** More than any answer takes, whatever the caller allows. */
const SEARCHES_MAX = 1_000;

/** The most web searches that upstreams are expected to run for a request, each at a fee: what its tools allow. */
export function boundedSearches({ tools, settings }: Pick<GenerationRequest, 'tools' | 'settings'>): number {
  const { webSearchOptions, nativeWebSearch } = settings;
  let searches = webSearchOptions === undefined ? 0 : SEARCHES_DEFAULT;
  // Not every endpoint takes a bound.
  if (nativeWebSearch !== undefined) searches = Math.max(SEARCHES_DEFAULT, usesOf(nativeWebSearch.usesMax));
  for (const tool of tools) if (searchesTheWeb(tool)) searches += usesOf(tool.value['max_uses']);
  return Math.min(searches, SEARCHES_MAX);
}

function searchesTheWeb(tool: Tool): tool is Extract<Tool, { type: 'opaque' }> {
  if (tool.type !== 'opaque') return false;
  const { type } = tool.value;
  return typeof type === 'string' && type.startsWith('web_search');
}

function usesOf(reported: unknown): number {
  return typeof reported === 'number' && reported >= 0 ? Math.min(reported, SEARCHES_MAX) : SEARCHES_DEFAULT;
}
