/** Words of other formats, and of single upstreams, for the base tier. @spec chat-response-4, messages-33 */
const BASE_TIER_WORDS: ReadonlySet<string> = new Set(['standard', 'standard_only']);

/** Tiers that all formats know, or have words for. */
const KNOWN_TIERS: ReadonlySet<string> = new Set(['auto', 'default', 'flex', 'priority', 'scale', 'batch']);

/** Whether a tier is none that only one vendor may know. */
export function isKnownTier(tier: string): boolean {
  return KNOWN_TIERS.has(gatewayTier(tier));
}

/** The gateway's name of a tier, which OpenAI's formats share. */
export function gatewayTier(tier: string): string {
  return BASE_TIER_WORDS.has(tier) ? 'default' : tier;
}
