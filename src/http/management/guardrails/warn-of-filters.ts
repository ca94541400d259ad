import { z } from 'zod';
import type { GuardrailRules } from '../../../canonical/guardrail-rules.ts';
import type { TryFilters } from '../../../pipeline/content-filters/try-filters.ts';

export const warningsSchema = z
  .array(z.string())
  .describe('Warnings about filters that scan responses, such as patterns that delay streams.');

/** Returns warnings for the operator who has just stored these rules. */
export async function warnOfFilters(tryFilters: TryFilters, rules: GuardrailRules): Promise<string[]> {
  // The warnings do not depend on the text.
  const { warnings } = await tryFilters(rules, { text: ' ', side: 'answer', byUser: false });
  return [...warnings];
}
