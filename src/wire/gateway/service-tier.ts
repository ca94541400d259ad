/** Words of other formats, and of single upstreams, for the base tier. @spec chat-response-4, messages-33 */
const BASE_TIER_WORDS: ReadonlySet<string> = new Set(['standard', 'standard_only']);

/** The gateway's name of a tier, which OpenAI's formats share. */
export function gatewayTier(tier: string): string {
  return BASE_TIER_WORDS.has(tier) ? 'default' : tier;
}
