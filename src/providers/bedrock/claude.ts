import type { ConverseFacts } from '../../wire/converse/dialect.ts';
import type { Dialect } from '../../wire/format.ts';

// `claude-opus-4-6-v1`, `claude-3-5-sonnet-20241022-v2:0`, `claude-sonnet-4-20250514-v1:0`, `claude-v2:1`: at most two
// digits each, because a date may follow.
const VERSION = /claude-(?:[a-z]+-)?v?(\d{1,2})(?!\d)(?:[-.](\d{1,2})(?!\d))?/;

/** 4.6 is 406, so that 4.10 would come after 4.9. A name without a version counts as newer than all. */
function versionOf(model: string): number {
  const [, major, minor] = VERSION.exec(model) ?? [];
  return major === undefined ? Number.POSITIVE_INFINITY : Number(major) * 100 + Number(minor ?? 0);
}

/** Models before it know neither tools nor images. */
const CLAUDE_3 = 300;
const CLAUDE_3_7 = 307;
const CLAUDE_4 = 400;
const CLAUDE_4_1 = 401;
const CLAUDE_4_5 = 405;
const CLAUDE_4_6 = 406;
const CLAUDE_4_7 = 407;

/** How a Claude behind the converse format thinks, and what it takes. @spec reasoning-8, translate-22; dialect.ts */
export function claudeDialect(model: string): Dialect {
  const version = versionOf(model);
  // Newer ones refuse it, unlike at their own vendor: docs.aws.amazon.com "Get validated JSON results from models";
  // github.com/anthropics/anthropic-sdk-python issue 1759; read 2026-11.
  const binds = version === CLAUDE_4_5 || version === CLAUDE_4_6;
  return {
    thinking: thinkingOf(version),
    efforts: version >= CLAUDE_4_7 ? ['xhigh', 'max'] : version === CLAUDE_4_6 ? ['max'] : [],
    ...(binds && { structuredOutput: true }),
    // As at their own vendor: strands-agents/sdk-python issue 1694, with Bedrock's words (2026-02).
    ...(version < CLAUDE_4_6 && { continuesResponses: true }),
    converse: factsOf(model, version, binds),
  };
}

function factsOf(model: string, version: number, binds: boolean): ConverseFacts {
  const caches = version >= CLAUDE_3_7 || model.includes('3-5-haiku');
  return {
    claude: true,
    topK: 'top_k',
    leadingAssistant: true,
    media: mediaOf(model, version),
    mediaInResults: ['image', 'document'],
    besideResults: ['text', 'image'],
    betas: betasOf(model, version),
    ...(version < CLAUDE_3 && { refusesTools: true }),
    ...(binds && { strictTools: true }),
    ...(version >= CLAUDE_4_1 && { oneSampler: true }),
    ...(caches && { cachePoints: 'everywhere' as const }),
    // github.com/earendil-works/pi pull request 1570, with the service's own words; read 2026-11.
    ...(version >= CLAUDE_4_5 && { cacheTtl: true }),
    // github.com/promptfoo/promptfoo pull request 10631, read 2026-11.
    ...(/claude-(?:fable|mythos)/.test(model) && { alwaysThinks: true }),
  };
}

function mediaOf(model: string, version: number): NonNullable<ConverseFacts['media']> {
  return version < CLAUDE_3 || model.includes('3-5-haiku') ? ['document'] : ['image', 'document'];
}

/**
 * A feature that the model does not have is refused ("invalid beta flag"), so that only those go through that change
 * nothing but how it works. @source github.com/anthropics/claude-code issue 49370, read 2026-11; @spec request-29
 */
function betasOf(model: string, version: number): readonly string[] {
  const longContext = model.includes('sonnet') && version >= CLAUDE_4 && version <= CLAUDE_4_5;
  return [...(version >= CLAUDE_4 ? ['interleaved-thinking'] : []), ...(longContext ? ['context-1m'] : [])];
}

function thinkingOf(version: number): NonNullable<Dialect['thinking']> {
  if (version >= CLAUDE_4_7) return 'adaptive-only';
  if (version >= CLAUDE_4_6) return 'adaptive';
  return version >= CLAUDE_3_7 ? 'budget' : 'none';
}
