import type { SearchEngineId } from '../canonical/tools/web-search.ts';
import type { SearchEngine } from './contract.ts';
import { brave } from './engines/brave.ts';
import { exa } from './engines/exa.ts';
import { firecrawl } from './engines/firecrawl.ts';
import { parallel } from './engines/parallel.ts';
import { perplexity } from './engines/perplexity.ts';
import { searxng } from './engines/searxng.ts';
import { tavily } from './engines/tavily.ts';

/** Every engine. By default the first configured one is used. */
export const ENGINES: Readonly<Record<SearchEngineId, SearchEngine>> = {
  exa,
  parallel,
  perplexity,
  tavily,
  brave,
  firecrawl,
  searxng,
};
