/**
 * First line of the system prompt of a terminal agent. It changes with every request, and only Anthropic itself reads it:
 * Bedrock refuses it as "a reserved keyword" (anthropics/claude-code-action#928, 2026-02). @spec prompt-cache-9
 */
const ATTRIBUTION_PREFIX = 'x-anthropic-billing-header:';

/**
 * A system prompt without that line, which would keep every prefix out of the prompt cache of any model but its vendor's
 * own; the same text where there is none. A prompt of one string goes on below the line.
 */
export function withoutAttribution(text: string): string {
  if (!text.startsWith(ATTRIBUTION_PREFIX)) return text;
  const lineEnd = text.indexOf('\n');
  return lineEnd < 0 ? '' : text.slice(lineEnd + 1).trimStart();
}
