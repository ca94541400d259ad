import type { Effort } from '../../canonical/request.ts';
import type { Dialect } from '../../wire/format.ts';

/** What a model's name says of it. */
interface Name {
  readonly series: 'gpt' | 'o';
  /** One number that grows with the generations: 5.04 for GPT-5.4, 5.1 would be GPT-5.10. */
  readonly generation: number;
  /** What follows: `-mini-2026-03-17`. */
  readonly variant: string;
}

const NAME = /^(?:ft:)?(?:(o)|gpt-)(\d+)(?:\.(\d+))?(.*)$/;
const MINORS_MAX = 100;

const UP_TO_HIGH: readonly Effort[] = ['low', 'medium', 'high'];
const UP_TO_XHIGH: readonly Effort[] = [...UP_TO_HIGH, 'xhigh'];
const UP_TO_MAX: readonly Effort[] = [...UP_TO_XHIGH, 'max'];

/**
 * What is particular to a model of this vendor in its responses format, beside what holds for chat, too. A name that is
 * not known gets the plainest spelling: a parameter that a model does not know is answered with a 400.
 */
export function responsesDialectOf(model: string): Dialect {
  const name = readName(model);
  const reasons = name !== undefined && doesReason(name);
  return {
    reasoningFamily: 'openai-responses-v1',
    // "Whether to store the generated model response": on unless told otherwise. Vendor's SDK, openai 7.55 (2026-11).
    storesAnswers: true,
    // "Invalid 'max_output_tokens': integer below minimum value. Expected a value >= 16": the vendor's own 400, 2026-11.
    outputTokensMin: 16,
    // A result of a call is "a string or an list of output content": the same SDK, `FunctionCallOutput`.
    toolOutputParts: true,
    // Others answer "Encrypted content is not supported with this model." (pydantic/pydantic-ai#2865, 2025-09).
    encryptedReasoning: reasons,
    ...(name !== undefined && factsOfServing(name)),
    ...(name !== undefined && (reasons ? factsOfReasoning(name) : { textVerbosity: false })),
  };
}

function readName(model: string): Name | undefined {
  const [whole, o, major = '0', minor = '0', variant = ''] = NAME.exec(model) ?? [];
  if (whole === undefined) return undefined;
  return { series: o === undefined ? 'gpt' : 'o', generation: Number(major) + Number(minor) / MINORS_MAX, variant };
}

/** `gpt-5-chat-latest` does not, later chat models do: pydantic-ai, profiles/openai.py, tried live 2026-07. */
function doesReason({ series, generation, variant }: Name): boolean {
  return series === 'o' || generation > 5 || (generation === 5 && !isChat(variant));
}

function factsOfReasoning(name: Name): Dialect {
  const { variant } = name;
  const gpt = name.series === 'gpt' ? name.generation : 0;
  return {
    reasoningEfforts: effortsOf(name),
    // "`concise` is supported for ... all reasoning models after `gpt-5`": vendor's SDK, openai 7.55 (2026-11).
    ...(gpt <= 5 && { reasoningSummaries: ['auto', 'detailed'] }),
    // Which models take `mode` and `all_turns` was tried live: pydantic-ai, profiles/openai.py, 2026-07.
    reasoningModes: gpt >= 5.06,
    reasoningContexts: gpt >= 5.04 ? ['auto', 'current_turn', 'all_turns'] : ['auto', 'current_turn'],
    // GPT-5 brought it; codex models answer "Supported values are: 'medium'" (openai/codex#19188, 2026-04).
    textVerbosity: gpt >= 5 && !isCodex(variant) && !isChat(variant),
    // "For models like `gpt-5.3-codex` and beyond ... preserve and resend phase": vendor's SDK, openai 7.55 (2026-11).
    messagePhases: gpt >= 5.04 || (gpt === 5.03 && isCodex(variant)),
  };
}

/**
 * GPT-5.6 and 6: developers.openai.com "Deployment checklist", read 2026-11. Before: learn.microsoft.com
 * "ReasoningEffort", read 2026-11, and the vendor's own "Supported values are ..." (anomalyco/opencode#4451, 2025-11).
 */
function effortsOf({ series, generation, variant }: Name): readonly Effort[] {
  // Fixed: pydantic-ai, profiles/openai.py, tried live 2026-07.
  if (isChat(variant) || variant.includes('-deep-research')) return ['medium'];
  if (series === 'o') return UP_TO_HIGH;
  if (generation >= 6) return generation === 6 && /^-(?:sol|luna)/.test(variant) ? ['none', ...UP_TO_MAX] : UP_TO_MAX;
  if (generation >= 5.06) return ['none', ...UP_TO_MAX];
  if (variant.startsWith('-pro')) return generation === 5 ? ['high'] : ['medium', 'high', 'xhigh'];
  if (generation >= 5.03) return ['none', ...UP_TO_XHIGH];
  if (generation === 5.02) return isCodex(variant) ? UP_TO_XHIGH : ['none', ...UP_TO_XHIGH];
  if (isCodex(variant)) return variant.startsWith('-codex-max') ? UP_TO_XHIGH : UP_TO_HIGH;
  return generation === 5 ? ['minimal', ...UP_TO_HIGH] : ['none', ...UP_TO_HIGH];
}

/**
 * Tiers: vercel/ai, openai-language-model-capabilities.ts, 2026-08. Tools: pydantic-ai, profiles/openai.py, 2026-08; of
 * the small models of the fourth generation nobody says that they have them.
 */
function factsOfServing({ series, generation, variant }: Name): Dialect {
  const isNew = series === 'o' ? generation >= 3 : generation >= 5 && !isChat(variant);
  const isFast = isNew ? !variant.includes('-nano') : series === 'gpt' && Math.floor(generation) === 4;
  const isFourth = series === 'gpt' && (variant.startsWith('o') || generation === 4.01) && !variant.includes('-nano');
  return {
    serviceTiers: ['auto', 'default', 'scale', ...(isNew ? ['flex'] : []), ...(isFast ? ['priority'] : [])],
    webSearchTool: isNew || isFourth,
    imageTool: (isNew && (series === 'gpt' || !variant.startsWith('-mini'))) || isFourth,
  };
}

function isChat(variant: string): boolean {
  return variant.startsWith('-chat');
}

function isCodex(variant: string): boolean {
  return variant.startsWith('-codex');
}
