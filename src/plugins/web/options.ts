import { z } from 'zod';
import { isSiteRule, SITES_MAX } from '../../canonical/tools/site-rules.ts';
import { SEARCH_ENGINES } from '../../canonical/tools/web-search.ts';

const place = z.string().nullish();
const sites = z.array(z.string().refine(isSiteRule, { error: 'names no site' })).max(SITES_MAX);

/** @spec web-12 */
export const webOptions = z.object({
  /** Unset: the endpoint's own search where it has one, else the engine that the operator chose. */
  engine: z.enum(['native', ...SEARCH_ENGINES]).optional(),
  /** 5 when absent. The engines have caps of their own, to which more is cut. */
  max_results: z.int().min(1).optional(),
  max_uses: z.int().min(0).optional(),
  /** Modes of all engines in one list: one that the engine does not have is ignored. */
  mode: z
    .enum(['instant', 'fast', 'auto', 'deep-lite', 'deep', 'deep-reasoning', 'turbo', 'basic', 'advanced'])
    .optional(),
  search_prompt: z.string().optional(),
  include_domains: sites.optional(),
  exclude_domains: sites.optional(),
  user_location: z
    .object({ type: z.literal('approximate').nullish(), city: place, country: place, region: place, timezone: place })
    .nullish(),
  /** An invalid filter is dropped without a word, so no shape can be wrong: `post-filter.ts` reads it. */
  x_search: z.unknown().optional(),
});
