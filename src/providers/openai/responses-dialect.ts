import type { Dialect } from '../../wire/format.ts';
import { doesReason, effortsOf, isChat, isCodex, readName, type ModelName } from './model-name.ts';

/**
 * The facts about a model of this vendor in its responses format, beyond those that apply to chat, too. An unknown name
 * gets the most common form, since the vendor rejects a parameter that a model does not know with 400.
 */
export function responsesDialectOf(model: string): Dialect {
  const name = readName(model);
  const reasons = name !== undefined && doesReason(name);
  return {
    reasoningFamily: 'openai-responses-v1',
    // "Whether to store the generated model response": on by default. Vendor's SDK, openai 7.55 (2026-11).
    storesResponses: true,
    // "Invalid 'max_output_tokens': integer below minimum value. Expected a value >= 16": the vendor's own 400, 2026-11.
    outputTokensMin: 16,
    // A result of a call is "a string or an list of output content": the same SDK, `FunctionCallOutput`.
    toolOutputParts: true,
    // Others answer "Encrypted content is not supported with this model." (pydantic/pydantic-ai#2865, 2025-09).
    encryptedReasoning: reasons,
    openTools: true,
    inputTokensRoute: true,
    ...(name !== undefined && factsOfServing(name)),
    ...(name !== undefined && (reasons ? factsOfReasoning(name) : { textVerbosity: false })),
  };
}

function factsOfReasoning(name: ModelName): Dialect {
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
 * Tiers: vercel/ai, openai-language-model-capabilities.ts, 2026-08. Tools: pydantic-ai, profiles/openai.py, 2026-08; no
 * source lists them for the small models of the fourth generation. `tool_choice` accepts the types of hosted tools,
 * including `web_search`: vercel/ai, openai-responses-prepare-tools.ts, 2026-08.
 */
function factsOfServing({ series, generation, variant }: ModelName): Dialect {
  const isGpt = series === 'gpt';
  const isNew = series === 'o' ? generation >= 3 : generation >= 5 && !isChat(variant);
  const isFast = isNew ? !variant.includes('-nano') : series === 'gpt' && Math.floor(generation) === 4;
  const isFourth = series === 'gpt' && (variant.startsWith('o') || generation === 4.01) && !variant.includes('-nano');
  return {
    serviceTiers: ['auto', 'default', 'scale', ...(isNew ? ['flex'] : []), ...(isFast ? ['priority'] : [])],
    webSearchTool: isNew || isFourth,
    forcesOwnTools: true,
    // Custom tools came with GPT-5, namespaces and searches of tools with GPT-5.4: developers.openai.com "Function
    // calling", "Tool search", read 2026-11.
    customTools: isGpt && generation >= 5,
    namespaces: isGpt && generation >= 5.04,
    toolSearchItems: isGpt && generation >= 5.04,
    // `context_management`, and items of type `compaction`: vendor's SDK, openai 7.55 (2026-11).
    compaction: isGpt && generation >= 5.02,
    imageTool: (isNew && (series === 'gpt' || !variant.startsWith('-mini'))) || isFourth,
  };
}
