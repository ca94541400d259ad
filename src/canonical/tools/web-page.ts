/** Engines that can fetch a page: the gateway itself (`service`), or a vendor. @spec web-22 */
export const PAGE_ENGINES = ['service', 'exa', 'firecrawl', 'parallel'] as const;
export type PageEngineId = (typeof PAGE_ENGINES)[number];

export interface WebPageQuery {
  readonly url: string;
  readonly engine: PageEngineId;
  /** Approximate: a longer text is cut. */
  readonly contentTokensMax?: number | undefined;
  /** Site rules (`site-rules.ts`), of redirects too. Absent: all. */
  readonly allowedSites?: readonly string[] | undefined;
  readonly blockedSites?: readonly string[] | undefined;
  /** The key whose request it serves, for the record of released secrets. Absent: none. */
  readonly keyHash?: string | undefined;
}

/** Why a page could not be read. @spec web-22 */
export type PageFailure =
  | 'invalid_tool_input'
  | 'url_too_long'
  | 'url_not_allowed'
  | 'url_not_accessible'
  | 'unsupported_content_type'
  | 'too_many_requests'
  | 'unavailable';

/** The outcome of reading a page. A failure costs nothing. */
export type WebPageOutcome =
  | {
      readonly status: 'completed';
      /** The address of the text, behind all redirects. */
      readonly url: string;
      readonly title: string;
      /** Markdown, or plain text. */
      readonly content: string;
      /** Something was cut off. */
      readonly isCut: boolean;
      /** ISO 8601. */
      readonly retrievedAt: string;
      /** Nano-USD. */
      readonly feeNanoUsd: number;
    }
  | { readonly status: 'failed'; readonly reason: PageFailure; readonly message: string };

/** Reads pages of the web, for the plugins and tools that need it. */
export interface WebPages {
  /** Whether the engine is set up. The gateway's own always is. */
  has(engine: PageEngineId): boolean;
  /** Nano-USD. */
  feeOf(engine: PageEngineId): number;
  /** Never rejects. */
  read(query: WebPageQuery, signal: AbortSignal): Promise<WebPageOutcome>;
}
