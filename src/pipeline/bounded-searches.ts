import type { GenerationRequest, Tool } from '../canonical/request.ts';

/** Where nobody bounds them. */
const SEARCHES_DEFAULT = 10;
/** More than any answer takes, whatever the caller allows. */
const SEARCHES_MAX = 1_000;

/** The most web searches that upstreams are expected to run for a request, each at a fee: what its tools allow. */
export function boundedSearches({ tools, settings }: Pick<GenerationRequest, 'tools' | 'settings'>): number {
  const { webSearchOptions, ownSearch } = settings;
  let searches = webSearchOptions === undefined ? 0 : SEARCHES_DEFAULT;
  // Not every endpoint can be told how often.
  if (ownSearch !== undefined) searches = Math.max(SEARCHES_DEFAULT, usesOf(ownSearch.usesMax));
  for (const tool of tools) if (searchesTheWeb(tool)) searches += usesOf(tool.value['max_uses']);
  return Math.min(searches, SEARCHES_MAX);
}

function searchesTheWeb(tool: Tool): tool is Extract<Tool, { type: 'opaque' }> {
  if (tool.type !== 'opaque') return false;
  const { type } = tool.value;
  return typeof type === 'string' && type.startsWith('web_search');
}

function usesOf(told: unknown): number {
  return typeof told === 'number' && told >= 0 ? Math.min(told, SEARCHES_MAX) : SEARCHES_DEFAULT;
}
