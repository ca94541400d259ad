import type { PageFailure } from '../canonical/tools/web-page.ts';
import type { SearchContextSize, SearchEngineId, WebSearchHit } from '../canonical/tools/web-search.ts';
import type { SiteRule } from '../canonical/tools/site-rules.ts';
import type { Json, JsonObject } from '../lib/json.ts';

/** The address and the settings of an engine. */
export interface EngineSettings {
  /** Without a slash at its end. */
  readonly baseUrl: string;
  readonly apiKey?: string;
  /** The key names a secret of the vault: the settings with its value. Absent: the key is there. @throws VaultError */
  readonly fill?: (() => Promise<EngineSettings>) | undefined;
}

/** One HTTP call, below the engine's base address. */
export interface EngineCall {
  readonly method: 'GET' | 'POST';
  /** With the query. */
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: Json;
}

/** A question as one engine can take it: its mode is one of the engine's, and one list of sites is empty where it takes one. */
export interface EngineQuery {
  readonly text: string;
  readonly resultsMax: number;
  readonly mode: string | undefined;
  readonly includeSites: readonly SiteRule[];
  readonly excludeSites: readonly SiteRule[];
  readonly charsMax: number | undefined;
  readonly contextSize: SearchContextSize | undefined;
}

/** A page as an engine gives it. */
export interface EnginePage {
  readonly url: string;
  readonly title: string;
  readonly content: string;
}

export interface PageRefusal {
  readonly reason: PageFailure;
  readonly message: string;
}

/** Reads one page at an engine. */
export interface PageService {
  readonly feeNanoUsd: number;
  /** @param charsMax about how much of the text is wanted */
  call(url: string, charsMax: number, settings: EngineSettings): EngineCall;
  read(answer: JsonObject): EnginePage | PageRefusal;
}

/** What sets one engine apart. Nothing in it talks to the network. */
export interface SearchEngine {
  readonly id: SearchEngineId;
  /** Absent: the operator must name one. */
  readonly baseUrl?: string;
  readonly needsKey: boolean;
  /** Variables of the environment that hold the key (or the address, where no key is needed), best first. */
  readonly envNames: readonly string[];
  /** The first is the default. Empty: it has none. */
  readonly modes: readonly string[];
  readonly resultsMax: number;
  /** Longer questions are cut, at a word. */
  readonly queryCharsMax: number;
  /** Whether it takes sites to include and sites to leave out at once. */
  readonly takesBothSites: boolean;
  /** Nano-USD, for so many results. */
  fee(mode: string | undefined, results: number): number;
  call(query: EngineQuery, settings: EngineSettings): EngineCall;
  /** `undefined`: the answer is not what the engine answers with. */
  read(answer: JsonObject): readonly WebSearchHit[] | undefined;
  readonly page?: PageService;
}
