import { wholeHosts } from '../site-operators.ts';
import { readHits, readPieces, readPublished } from '../read-answer.ts';
import type { SearchEngine } from '../contract.ts';

// Wire: docs.tavily.com "Tavily Search", and @tavily/core 0.7.13, read 2026-11.

/** 0.008 USD: a credit as it is sold one by one. docs.tavily.com "API Credits", read 2026-11 */
const SEARCH_NANO_USD = 8_000_000;

export const tavily: SearchEngine = {
  id: 'tavily',
  baseUrl: 'https://api.tavily.com',
  needsKey: true,
  envNames: ['TAVILY_API_KEY'],
  modes: [],
  resultsMax: 20,
  queryCharsMax: 400,
  takesBothSites: true,
  fee: () => SEARCH_NANO_USD,
  call: ({ text, resultsMax, includeSites, excludeSites }, { apiKey = '' }) => ({
    method: 'POST',
    path: '/search',
    headers: { authorization: `Bearer ${apiKey}` },
    body: {
      query: text,
      search_depth: 'basic',
      max_results: resultsMax,
      ...(includeSites.length > 0 && { include_domains: includeSites.map(({ host }) => host) }),
      ...(excludeSites.length > 0 && {
        exclude_domains: wholeHosts(excludeSites),
      }),
    },
  }),
  read: ({ results }) =>
    readHits(results, (result) => ({
      content: readPieces(result['content']),
      ...readPublished(result['published_date']),
    })),
};
