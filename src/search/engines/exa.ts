import { readHits, readPieces, readPublished } from '../read-answer.ts';
import { PAGE_FEE_NANO_USD, searchFee } from '../prices.ts';
import type { EngineQuery, EngineSettings, PageService, SearchEngine } from '../contract.ts';
import type { SiteRule } from '../../canonical/tools/site-rules.ts';
import type { JsonObject } from '../../lib/json.ts';

// Wire: exa.ai/docs "Search", "Contents" and "Contents Endpoint Status Changes", and exa-js 2.23.0, read 2026-11.

/** Nano-USD. @spec web-4 */
const FEES: Readonly<Record<string, number>> = {
  auto: 7_000_000,
  instant: 7_000_000,
  fast: 7_000_000,
  'deep-lite': 12_000_000,
  deep: 12_000_000,
  'deep-reasoning': 15_000_000,
};
const DEAREST_NANO_USD = 15_000_000;

/** Characters of each result. @spec web-17 */
const CHARS_OF_SIZE = { low: 5_000, medium: 15_000, high: 30_000 } as const;

export const exa: SearchEngine = {
  id: 'exa',
  baseUrl: 'https://api.exa.ai',
  needsKey: true,
  envNames: ['EXA_API_KEY'],
  modes: Object.keys(FEES),
  resultsMax: 25,
  queryCharsMax: 2_000,
  takesBothSites: true,
  fee: (mode = 'auto', results) => searchFee(FEES[mode] ?? DEAREST_NANO_USD, results),
  call(query, settings) {
    return {
      method: 'POST',
      path: '/search',
      headers: headersOf(settings),
      body: {
        query: query.text,
        type: query.mode ?? 'auto',
        numResults: query.resultsMax,
        ...(query.includeSites.length > 0 && { includeDomains: query.includeSites.map(formatSite) }),
        ...(query.excludeSites.length > 0 && { excludeDomains: query.excludeSites.map(formatSite) }),
        contents: contentsOf(query),
      },
    };
  },
  read: ({ results }) =>
    readHits(results, (result) => ({
      content: readPieces(result['text'], result['highlights'], result['summary']),
      ...readPublished(result['publishedDate']),
    })),
  page: {
    feeNanoUsd: PAGE_FEE_NANO_USD,
    call: (url, charsMax, settings) => ({
      method: 'POST',
      path: '/contents',
      headers: headersOf(settings),
      body: { urls: [url], text: { maxCharacters: charsMax } },
    }),
    read: readContents,
  },
};

function headersOf({ apiKey = '' }: EngineSettings): Readonly<Record<string, string>> {
  return { 'x-api-key': apiKey };
}

/** Without a size Exa chooses, for each page, the passages that matter. */
function contentsOf({ charsMax, contextSize }: EngineQuery): JsonObject {
  const chars = charsMax ?? (contextSize && CHARS_OF_SIZE[contextSize]);
  return chars === undefined ? { highlights: true } : { text: { maxCharacters: chars } };
}

/** Exa knows the wildcard and the path too. */
function formatSite({ host, isBelow, path }: SiteRule): string {
  return `${isBelow ? '*.' : ''}${host}${path}`;
}

/** A page that could not be read is listed in `statuses`, in a response with status 200. */
function readContents({ results }: JsonObject): ReturnType<PageService['read']> {
  const [page] = readHits(results, (result) => ({ content: readPieces(result['text']) })) ?? [];
  if (page !== undefined && page.content !== '') return page;
  return { reason: 'url_not_accessible', message: 'Exa could not read the page.' };
}
