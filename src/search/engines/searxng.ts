import { readHits, readPieces, readPublished } from '../read-answer.ts';
import { withSites } from '../site-operators.ts';
import type { SearchEngine } from '../contract.ts';

// Wire: docs.searxng.org "Search API", read 2026-11. The instance must allow `json` among its formats.

export const searxng: SearchEngine = {
  id: 'searxng',
  needsKey: false,
  envNames: ['SEARXNG_URL'],
  modes: [],
  // It gives a page of results, and has no number to ask for.
  resultsMax: 25,
  queryCharsMax: 1_000,
  takesBothSites: true,
  fee: () => 0,
  call(query, { apiKey }) {
    const asked = new URLSearchParams({ q: withSites(query, { charsMax: searxng.queryCharsMax }), format: 'json' });
    return {
      method: 'GET',
      path: `/search?${asked.toString()}`,
      headers: apiKey === undefined ? {} : { authorization: `Bearer ${apiKey}` },
    };
  },
  read: ({ results }) =>
    readHits(results, (result) => ({
      content: readPieces(result['content']),
      ...readPublished(result['publishedDate']),
    })),
};
