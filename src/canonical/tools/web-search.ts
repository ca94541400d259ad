/** Search engines that the gateway itself can call. @spec web-1; the last three are ours */
export const SEARCH_ENGINES = ['exa', 'firecrawl', 'parallel', 'perplexity', 'tavily', 'brave', 'searxng'] as const;
export type SearchEngineId = (typeof SEARCH_ENGINES)[number];

/** How much text of its results a search should bring. @spec web-17 */
export type SearchContextSize = 'low' | 'medium' | 'high';

/** One query to a search engine. */
export interface WebSearchQuery {
  readonly text: string;
  /** Absent: the one that the operator chose. */
  readonly engine?: SearchEngineId | undefined;
  /** Cut to what the engine gives. */
  readonly resultsMax: number;
  /** Of any engine: one that this engine does not have is ignored. */
  readonly mode?: string | undefined;
  /** Site rules (`site-rules.ts`). Where an engine takes one of the two lists, this one wins. */
  readonly includeSites?: readonly string[] | undefined;
  readonly excludeSites?: readonly string[] | undefined;
  /** Characters of each result. Wins over `contextSize`. */
  readonly charsMax?: number | undefined;
  readonly contextSize?: SearchContextSize | undefined;
}

/** A page that was found. */
export interface WebSearchHit {
  readonly url: string;
  readonly title: string;
  /** What the engine shows of the page. May be empty. */
  readonly content: string;
  /** As the engine writes it, mostly ISO 8601. */
  readonly published?: string;
}

/** The outcome of a search. A failure costs nothing. */
export type WebSearchOutcome =
  | {
      readonly status: 'found';
      readonly engine: SearchEngineId;
      readonly hits: readonly WebSearchHit[];
      /** Nano-USD. */
      readonly feeNanoUsd: number;
    }
  | {
      readonly status: 'failed';
      readonly reason: 'invalid_input' | 'query_too_long' | 'too_many_requests' | 'unavailable';
      /** For the caller. */
      readonly message: string;
    };

/** Searches the web, for the plugins and tools that need it. */
export interface WebSearch {
  /** The engine that would serve: the requested one, or the operator's choice. `undefined`: it is not set up. */
  engineFor(requested: SearchEngineId | undefined): SearchEngineId | undefined;
  /** The most that the search may cost, nano-USD. */
  feeMax(query: WebSearchQuery): number;
  /** Never rejects. */
  search(query: WebSearchQuery, signal: AbortSignal): Promise<WebSearchOutcome>;
}
