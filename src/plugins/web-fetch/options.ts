import { z } from 'zod';
import { isSiteRule, SITES_MAX } from '../../canonical/tools/site-rules.ts';

const sites = z.array(z.string().refine(isSiteRule, { error: 'names no site' })).max(SITES_MAX);

/** @spec web-20 */
export const webFetchOptions = z.object({
  max_uses: z.int().min(0).optional(),
  allowed_domains: sites.optional(),
  blocked_domains: sites.nullish(),
  /** Approximate: longer pages are cut. */
  max_content_tokens: z.int().min(1).nullish(),
});
