import { wholeHosts } from '../site-operators.ts';
import { readHits, readPieces } from '../read-answer.ts';
import type { EngineQuery, EngineSettings, SearchEngine } from '../contract.ts';
import { isJsonObject, type JsonObject } from '../../lib/json.ts';

// Wire: docs.firecrawl.dev "Search" and "Scrape" of v2, and @mendable/firecrawl-js 4.42.0, read 2026-11.

export const firecrawl: SearchEngine = {
  id: 'firecrawl',
  baseUrl: 'https://api.firecrawl.dev',
  needsKey: true,
  envNames: ['FIRECRAWL_API_KEY'],
  modes: [],
  resultsMax: 25,
  queryCharsMax: 500,
  takesBothSites: false,
  // Paid with the key, to Firecrawl. @spec web-4
  fee: () => 0,
  call: (query, settings) => ({
    method: 'POST',
    path: '/v2/search',
    headers: headersOf(settings),
    body: { query: query.text, limit: query.resultsMax, sources: ['web'], ...sitesOf(query) },
  }),
  read: ({ data }) =>
    isJsonObject(data)
      ? readHits(data['web'], (result) => ({
          content: readPieces(result['highlights'], result['markdown'], result['description']),
        }))
      : undefined,
  page: {
    feeNanoUsd: 0,
    call: (url, _charsMax, settings) => ({
      method: 'POST',
      path: '/v2/scrape',
      headers: headersOf(settings),
      body: { url, formats: ['markdown'], onlyMainContent: true },
    }),
    read({ data }) {
      const metadata = isJsonObject(data) ? data['metadata'] : undefined;
      const content = isJsonObject(data) ? readPieces(data['markdown']) : '';
      const { url, sourceURL, title } = isJsonObject(metadata) ? metadata : {};
      const from = typeof url === 'string' ? url : sourceURL;
      if (content === '' || typeof from !== 'string')
        return { reason: 'url_not_accessible', message: 'Firecrawl could not read the page.' };
      return { url: from, title: typeof title === 'string' ? title : from, content };
    },
  },
};

function headersOf({ apiKey = '' }: EngineSettings): Readonly<Record<string, string>> {
  return { authorization: `Bearer ${apiKey}` };
}

function sitesOf({ includeSites, excludeSites }: EngineQuery): JsonObject {
  const excluded = wholeHosts(excludeSites);
  if (includeSites.length > 0) return { includeDomains: includeSites.map(({ host }) => host) };
  return excluded.length > 0 ? { excludeDomains: excluded } : {};
}
