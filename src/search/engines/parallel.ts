import { wholeHosts } from '../site-operators.ts';
import { readHits, readPieces, readPublished } from '../read-answer.ts';
import { PAGE_FEE_NANO_USD, searchFee } from '../prices.ts';
import type { EngineQuery, EngineSettings, SearchEngine } from '../contract.ts';
import type { JsonObject } from '../../lib/json.ts';

// Wire: docs.parallel.ai "Search" and "Extract", and parallel-web 1.3.3, read 2026-11.

/** Nano-USD. @spec web-4 */
const FEES: Readonly<Record<string, number>> = {
  basic: 5_000_000,
  turbo: 1_000_000,
  fast: 1_000_000,
  advanced: 5_000_000,
};
const DEAREST_NANO_USD = 5_000_000;

/** Characters of all results together. @spec web-17 */
const CHARS_OF_SIZE = { low: 5_000, medium: 15_000, high: 30_000 } as const;
/** Of each result, by default. @spec web-17 */
const CHARS_DEFAULT = 1_500;

export const parallel: SearchEngine = {
  id: 'parallel',
  baseUrl: 'https://api.parallel.ai',
  needsKey: true,
  envNames: ['PARALLEL_API_KEY'],
  modes: Object.keys(FEES),
  resultsMax: 25,
  queryCharsMax: 200,
  takesBothSites: false,
  fee: (mode = 'basic', results) => searchFee(FEES[mode] ?? DEAREST_NANO_USD, results),
  call(query, settings) {
    const { charsMax, contextSize } = query;
    return {
      method: 'POST',
      path: '/v1/search',
      headers: headersOf(settings),
      body: {
        search_queries: [query.text],
        objective: query.text,
        mode: query.mode ?? 'basic',
        ...(charsMax === undefined && contextSize && { max_chars_total: CHARS_OF_SIZE[contextSize] }),
        advanced_settings: {
          max_results: query.resultsMax,
          ...((charsMax !== undefined || contextSize === undefined) && {
            excerpt_settings: { max_chars_per_result: charsMax ?? CHARS_DEFAULT },
          }),
          ...policyOf(query),
        },
      },
    };
  },
  read: ({ results }) =>
    readHits(results, (result) => ({
      content: readPieces(result['excerpts']),
      ...readPublished(result['publish_date']),
    })),
  page: {
    feeNanoUsd: PAGE_FEE_NANO_USD,
    call: (url, charsMax, settings) => ({
      method: 'POST',
      path: '/v1/extract',
      headers: headersOf(settings),
      body: { urls: [url], advanced_settings: { full_content: { max_chars_per_result: charsMax } } },
    }),
    read({ results }) {
      const [page] =
        readHits(results, (result) => ({ content: readPieces(result['full_content'], result['excerpts']) })) ?? [];
      if (page !== undefined && page.content !== '') return page;
      return { reason: 'url_not_accessible', message: 'Parallel could not read the page.' };
    },
  },
};

function headersOf({ apiKey = '' }: EngineSettings): Readonly<Record<string, string>> {
  return { 'x-api-key': apiKey };
}

/** Plain hosts: what a rule says beyond that is seen to in what was found. */
function policyOf({ includeSites, excludeSites }: EngineQuery): JsonObject {
  const excluded = wholeHosts(excludeSites);
  if (includeSites.length > 0) return { source_policy: { include_domains: includeSites.map(({ host }) => host) } };
  return excluded.length > 0 ? { source_policy: { exclude_domains: excluded } } : {};
}
