import { isAtSite, parseSiteRule, SITES_MAX, type SiteRule } from '../canonical/tools/site-rules.ts';
import type {
  SearchEngineId,
  WebSearch,
  WebSearchHit,
  WebSearchOutcome,
  WebSearchQuery,
} from '../canonical/tools/web-search.ts';
import type { ByteBudget } from '../lib/memory/byte-budget.ts';
import { truncateAtWord } from '../lib/text/truncate.ts';
import type { HttpClient } from '../lib/net/http-client.ts';
import { isJsonObject } from '../lib/json.ts';
import { askEngine, settingsNow } from './ask-engine.ts';
import type { EngineQuery, EngineSettings, SearchEngine } from './contract.ts';
import { ENGINES } from './engines.ts';

export interface SearchDeps {
  readonly http: HttpClient;
  /** The engines that are set up. */
  readonly engines: ReadonlyMap<SearchEngineId, EngineSettings>;
  /** The default engine. Absent: the first configured one. */
  readonly preferred?: SearchEngineId | undefined;
  /** Of all that is fetched. */
  readonly memory?: ByteBudget | undefined;
}

/** A question is a few words; what is longer is no question. */
const QUERY_CHARS_MAX = 2_000;

type Failed = Extract<WebSearchOutcome, { status: 'failed' }>;

/** Searches the web with the engine of the request. @spec web-1 */
export function createWebSearch({ http, engines, preferred, memory }: SearchDeps): WebSearch {
  const ids = Object.values(ENGINES).map(({ id }) => id);
  const usual = preferred ?? ids.find((id) => engines.has(id));

  function engineFor(requested: SearchEngineId | undefined): SearchEngineId | undefined {
    const id = requested ?? usual;
    return id !== undefined && engines.has(id) ? id : undefined;
  }

  return {
    engineFor,
    feeMax(query) {
      const id = engineFor(query.engine);
      if (id === undefined) return 0;
      const engine = ENGINES[id];
      const { mode, resultsMax } = engineQuery(query, engine);
      return engine.fee(mode, resultsMax);
    },
    async search(query, signal) {
      const id = engineFor(query.engine);
      const settings = id && engines.get(id);
      if (id === undefined || settings === undefined) return failed('unavailable', notSetUp(query.engine));
      if (query.text.trim() === '') return failed('invalid_input', 'The query is empty.');
      if (query.text.length > QUERY_CHARS_MAX)
        return failed('query_too_long', `The query is longer than ${QUERY_CHARS_MAX} characters.`);
      const wrong = wrongSite(query);
      if (wrong !== undefined) return failed('invalid_input', wrong);
      return searchAt(ENGINES[id], settings, query, { http, memory, signal });
    },
  };
}

function notSetUp(requested: SearchEngineId | undefined): string {
  if (requested === undefined) return 'No search engine is set up on this gateway.';
  return `The search engine ${requested} is not set up on this gateway.`;
}

function failed(reason: Failed['reason'], message: string): Failed {
  return { status: 'failed', reason, message };
}

function wrongSite({ includeSites = [], excludeSites = [] }: WebSearchQuery): string | undefined {
  if (Math.max(includeSites.length, excludeSites.length) > SITES_MAX) return `At most ${SITES_MAX} sites can be named.`;
  const wrong = [...includeSites, ...excludeSites].find((site) => parseSiteRule(site) === undefined);
  return wrong === undefined ? undefined : `${JSON.stringify(wrong.slice(0, 80))} is no site.`;
}

async function searchAt(
  engine: SearchEngine,
  given: EngineSettings,
  query: WebSearchQuery,
  deps: Pick<SearchDeps, 'http' | 'memory'> & { readonly signal: AbortSignal },
): Promise<WebSearchOutcome> {
  const requested = engineQuery(query, engine);
  const settings = await settingsNow(engine, given);
  if ('missing' in settings) return failed('unavailable', settings.missing);
  const answer = await askEngine({ ...deps, engine, settings, call: engine.call(requested, settings) });
  if (answer.status === 'failed') return answer;
  const hits = isJsonObject(answer.body) ? engine.read(answer.body) : undefined;
  if (hits === undefined) return failed('unavailable', `The search engine ${engine.id} answered with something else.`);
  // The engine has done its work, whatever of it the rules let through.
  const kept = hits.slice(0, requested.resultsMax);
  return {
    status: 'found',
    engine: engine.id,
    hits: withBoundedTexts(allowedHits(kept, query), query),
    feeNanoUsd: engine.fee(requested.mode, kept.length),
  };
}

/** The question as this engine can take it. */
function engineQuery(query: WebSearchQuery, engine: SearchEngine): EngineQuery {
  const { mode, resultsMax, charsMax, contextSize } = query;
  const includeSites = rulesOf(query.includeSites);
  // Where it takes one list, the pages to include win. @spec web-7
  const takesExcluded = engine.takesBothSites || includeSites.length === 0;
  return {
    text: truncateAtWord(query.text.trim(), engine.queryCharsMax),
    resultsMax: Math.max(1, Math.min(resultsMax, engine.resultsMax)),
    mode: mode !== undefined && engine.modes.includes(mode) ? mode : engine.modes[0],
    includeSites,
    excludeSites: takesExcluded ? rulesOf(query.excludeSites) : [],
    charsMax,
    contextSize,
  };
}

function rulesOf(sites: readonly string[] = []): readonly SiteRule[] {
  return sites.flatMap((site) => parseSiteRule(site) ?? []);
}

/** Not every engine knows all that a rule can say: what it let through is looked at again. */
function allowedHits(hits: readonly WebSearchHit[], query: WebSearchQuery): readonly WebSearchHit[] {
  const included = rulesOf(query.includeSites);
  const excluded = rulesOf(query.excludeSites);
  return hits.filter(({ url }) => (included.length === 0 || isAtSite(url, included)) && !isAtSite(url, excluded));
}

/** Above every setting; an engine must not fill a prompt with one page. @spec web-17 */
const CONTENT_CHARS_MAX = 100_000;
const TITLE_CHARS_MAX = 500;
/** Of all results together, which then have an equal share each. */
const CONTENTS_CHARS_MAX = 500_000;

function withBoundedTexts(hits: readonly WebSearchHit[], { charsMax = CONTENT_CHARS_MAX }: WebSearchQuery) {
  const max = Math.min(charsMax, CONTENT_CHARS_MAX, Math.floor(CONTENTS_CHARS_MAX / Math.max(1, hits.length)));
  return hits.map((hit): WebSearchHit => {
    const { url, title, content, published } = hit;
    if (title.length <= TITLE_CHARS_MAX && content.length <= max) return hit;
    const bounded = { url, title: truncateAtWord(title, TITLE_CHARS_MAX), content: truncateAtWord(content, max) };
    return published === undefined ? bounded : { ...bounded, published };
  });
}
