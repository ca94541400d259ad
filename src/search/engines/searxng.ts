import { readHits, readPieces, readPublished } from '../read-answer.ts';
import { withSites } from '../site-operators.ts';
import type { SearchEngine } from '../contract.ts';

// Wire: docs.searxng.org "Search API", read 2026-11. The instance must allow `json` among its formats.

export const searxng: SearchEngine = {
  id: 'searxng',
  needsKey: false,
  envNames: ['SEARXNG_URL'],
  modes: [],
  // It returns one page of results, whose size cannot be set.
  resultsMax: 25,
  queryCharsMax: 1_000,
  takesBothSites: true,
  fee: () => 0,
  call(query, { apiKey }) {
    const requested = new URLSearchParams({ q: withSites(query, { charsMax: searxng.queryCharsMax }), format: 'json' });
    return {
      method: 'GET',
      path: `/search?${requested.toString()}`,
      headers: apiKey === undefined ? {} : { authorization: `Bearer ${apiKey}` },
    };
  },
  read: ({ results }) =>
    readHits(results, (result) => ({
      content: readPieces(result['content']),
      ...readPublished(result['publishedDate']),
    })),
};
