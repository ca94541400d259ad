/** Words of other formats, and of single upstreams, for the base tier. @source generation.md 3.5, 7.9 */
const BASE_TIER_WORDS: ReadonlySet<string> = new Set(['standard', 'standard_only']);

/** A tier in the seed's words, which OpenAI's formats share. */
export function gatewayTier(tier: string): string {
  return BASE_TIER_WORDS.has(tier) ? 'default' : tier;
}
