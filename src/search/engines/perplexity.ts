import { wholeHosts } from '../site-operators.ts';
import { readHits, readPieces, readPublished } from '../read-answer.ts';
import { searchFee } from '../prices.ts';
import type { EngineQuery, SearchEngine } from '../contract.ts';
import type { JsonObject } from '../../lib/json.ts';

// Wire: docs.perplexity.ai "Search API", and @perplexity-ai/perplexity_ai 0.38.5, read 2026-11.

/** 0.005 USD. @spec web-4 */
const SEARCH_NANO_USD = 5_000_000;
const SITES_MAX = 20;
/** The interface counts tokens. */
const CHARS_PER_TOKEN = 4;

export const perplexity: SearchEngine = {
  id: 'perplexity',
  baseUrl: 'https://api.perplexity.ai',
  needsKey: true,
  envNames: ['PERPLEXITY_API_KEY'],
  modes: [],
  resultsMax: 20,
  queryCharsMax: 2_000,
  takesBothSites: false,
  fee: (_mode, results) => searchFee(SEARCH_NANO_USD, results),
  call: (query, { apiKey = '' }) => ({
    method: 'POST',
    path: '/search',
    headers: { authorization: `Bearer ${apiKey}` },
    body: {
      query: query.text,
      max_results: query.resultsMax,
      ...sitesOf(query),
      ...sizeOf(query),
    },
  }),
  read: ({ results }) =>
    readHits(results, (result) => ({
      content: readPieces(result['snippet']),
      ...readPublished(result['date']),
    })),
};

/** One list: hosts to search, or hosts to leave out, each with a minus. */
function sitesOf({ includeSites, excludeSites }: EngineQuery): JsonObject {
  const excluded = wholeHosts(excludeSites);
  const filter = includeSites.length > 0 ? includeSites.map(({ host }) => host) : excluded.map((host) => `-${host}`);
  return filter.length > 0 ? { search_domain_filter: filter.slice(0, SITES_MAX) } : {};
}

function sizeOf({ charsMax, contextSize }: EngineQuery): JsonObject {
  if (charsMax !== undefined) return { max_tokens_per_page: Math.ceil(charsMax / CHARS_PER_TOKEN) };
  return contextSize === undefined ? {} : { search_context_size: contextSize };
}
