import { readHits, readPieces, readPublished } from '../read-answer.ts';
import { withSites } from '../site-operators.ts';
import type { SearchEngine } from '../contract.ts';
import { isJsonObject } from '../../lib/json.ts';

// Wire: api-dashboard.search.brave.com "Web search", read 2026-11.

/** 0.005 USD, ours: Brave's own price depends on the plan. */
const SEARCH_NANO_USD = 5_000_000;

/** Of a question; with more it is refused. */
const WORDS_MAX = 50;

export const brave: SearchEngine = {
  id: 'brave',
  baseUrl: 'https://api.search.brave.com/res/v1',
  needsKey: true,
  envNames: ['BRAVE_SEARCH_API_KEY', 'BRAVE_API_KEY'],
  modes: [],
  resultsMax: 20,
  queryCharsMax: 400,
  takesBothSites: true,
  fee: () => SEARCH_NANO_USD,
  call(query, { apiKey = '' }) {
    const requested = new URLSearchParams({
      q: withSites(query, { charsMax: brave.queryCharsMax, wordsMax: WORDS_MAX }),
      count: String(query.resultsMax),
      result_filter: 'web',
      extra_snippets: 'true',
      text_decorations: 'false',
    });
    return { method: 'GET', path: `/web/search?${requested.toString()}`, headers: { 'x-subscription-token': apiKey } };
  },
  read({ type, web }) {
    // Without hits the list is left out.
    if (web === undefined) return type === 'search' ? [] : undefined;
    const results = isJsonObject(web) ? web['results'] : undefined;
    return readHits(results, (result) => {
      const further = result['extra_snippets'];
      const snippets = [result['description'], ...(Array.isArray(further) ? further : [])];
      return {
        content: readPieces(snippets.map((snippet) => snippet ?? '')),
        ...readPublished(result['page_age']),
      };
    });
  },
};
