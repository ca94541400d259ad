import type { Dialect } from '../../wire/format.ts';

// `claude-opus-4-6`, `claude-3-5-sonnet-20241022`, `claude-sonnet-4-20250514`, `claude-instant-1.2`, `claude-2.1`:
// at most two digits each, because a date may follow.
const VERSION = /claude-(?:[a-z]+-)?v?(\d{1,2})(?!\d)(?:[-.](\d{1,2})(?!\d))?/;

/** 4.6 is 406, so that 4.10 would come after 4.9. A name without a version counts as newer than all. */
function versionOf(model: string): number {
  const [, major, minor] = VERSION.exec(model) ?? [];
  return major === undefined ? Number.POSITIVE_INFINITY : Number(major) * 100 + Number(minor ?? 0);
}

const THINKING_SINCE = 307;
const ADAPTIVE_SINCE = 406;
// "Prefilling assistant messages returns a 400 error" from Claude 4.6 on: platform.claude.com, migration guide, read 2026-11.
const CONTINUES_UNTIL = 405;
const ADAPTIVE_ONLY_SINCE = 407;
// platform.claude.com "Structured outputs", read 2026-11: Opus 4.1, the 4.5 family, and later.
const STRUCTURED_OUTPUT_SINCE = 401;
// "`temperature` and `top_p` cannot both be specified for this model", say Opus 4.1, the 4.5 family, and later:
// cloud-apim/otoroshi-llm-extension#140 (2025-10), anomalyco/opencode#28930 (2026-05).
const ONE_SAMPLER_SINCE = 401;

/** How thinking is requested from a Claude model, and its other features. @spec reasoning-8, translate-22 */
export function dialectOf(model: string): Dialect {
  const version = versionOf(model);
  return {
    vendor: true,
    readsAttribution: true,
    thinking: thinkingOf(version),
    efforts: version >= ADAPTIVE_ONLY_SINCE ? ['xhigh', 'max'] : version >= ADAPTIVE_SINCE ? ['max'] : [],
    structuredOutput: version >= STRUCTURED_OUTPUT_SINCE,
    oneSampler: version >= ONE_SAMPLER_SINCE,
    continuesResponses: version <= CONTINUES_UNTIL,
  };
}

function thinkingOf(version: number): NonNullable<Dialect['thinking']> {
  if (version >= ADAPTIVE_ONLY_SINCE) return 'adaptive-only';
  if (version >= ADAPTIVE_SINCE) return 'adaptive';
  return version >= THINKING_SINCE ? 'budget' : 'none';
}
