import { GatewayError } from '../../canonical/gateway-error.ts';
import type { LeftOut } from '../../canonical/model-choice.ts';

/** Suffixes of a router's slug apply to the chosen models: `service/auto:nitro`. */
export function withSuffixes(slug: string, chosen: readonly string[]): readonly string[] {
  const colon = slug.indexOf(':');
  return colon < 0 ? chosen : chosen.map((model) => model + slug.slice(colon));
}

/** Reasons that one error names: a catalog has hundreds of models, but few ways to leave one out. */
const REASONS_MAX = 8;

/**
 * The error when restrictions leave no model, with their counts. @param slug of the router
 * @spec router-4
 */
export function noModelLeft(slug: string, leftOut: readonly LeftOut[]): GatewayError {
  const counts = new Map<string, number>();
  for (const { reason, lacks } of leftOut) {
    const word = lacks === undefined ? reason : `${reason} (${lacks})`;
    counts.set(word, (counts.get(word) ?? 0) + 1);
  }
  const reasons = [...counts].toSorted(([, left], [, right]) => right - left).slice(0, REASONS_MAX);
  const words = reasons.map(([word, count]) => `${count} by ${word}`).join(', ');
  return new GatewayError(
    'not_found',
    `No models match your request and model restrictions${words === '' ? '' : `: left out were ${words}`}.`,
    {
      availability: {
        code: 'constraint_filtered',
        retryable: false,
        requestedModels: [slug],
        excludedBy: [...new Set(leftOut.map(({ reason }) => reason))],
      },
    },
  );
}
