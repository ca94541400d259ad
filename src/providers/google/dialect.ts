import type { Dialect } from '../../wire/format.ts';
import type { GeminiFacts, GeminiThinking } from '../../wire/gemini/dialect.ts';

// `gemini-2.5-pro`, `gemini-3-flash-preview`, `gemini-3.1-pro-preview-customtools`, `gemini-4-argon`. Other names of the
// vendor hold numbers of another kind: `gemini-robotics-er-2-preview`, `gemma-4-31b-it`.
const VERSION = /^gemini-(?:live-)?(\d{1,2})(?:\.(\d{1,2}))?(?![\d.])/;
/** Names that move on to the newest model: `gemini-flash-latest`, `gemini-pro-latest`. */
const NEWEST = /^gemini-[a-z-]*latest$/;

/** 2.5 is 205, so that 3.10 would come after 3.9. `undefined`: no model of the family. */
function versionOf(model: string): number | undefined {
  const [, major, minor] = VERSION.exec(model) ?? [];
  if (major !== undefined) return Number(major) * 100 + Number(minor ?? 0);
  return NEWEST.test(model) ? Number.POSITIVE_INFINITY : undefined;
}

const BUDGETS_SINCE = 205;
const LEVELS_SINCE = 300;
/** ai.google.dev "Thinking", read 2026-11: flash models from 3.7 on have no `minimal`, and Pro never had it. */
const NO_MINIMAL_SINCE = 307;
/** "Gemini 4 Argon", read 2026-11: `thinking_budget` and penalties are 400, sampling parameters are not heeded. */
const LEVELS_ONLY_SINCE = 400;

/** What a Gemini model at AI Studio can do. @spec reasoning-12; the vendor's pages named at each fact */
export function geminiDialectOf(model: string): Dialect {
  return { gemini: { ...factsOf(familyName(model)), tierIn: 'body', youTube: true } };
}

/** The same model at Vertex. @spec translate-13: no videos at YouTube there */
export function vertexDialectOf(model: string): Dialect {
  const name = familyName(model);
  const version = versionOf(name) ?? 0;
  return {
    gemini: {
      ...factsOf(name),
      // GoogleCloudPlatform/generative-ai#2947 (2026-06): refused for 3.5; 2.5 has them, there only.
      refusesLogprobs: version >= LEVELS_SINCE,
      tierIn: 'header',
    },
  };
}

/** `models/gemini-2.5-pro` and `google/gemini-2.5-pro` are `gemini-2.5-pro`. */
function familyName(model: string): string {
  return model.slice(model.lastIndexOf('/') + 1).toLowerCase();
}

function factsOf(name: string): GeminiFacts {
  // 0xPlaygrounds/rig#788, BerriAI/litellm#10313, stackblitz-labs/bolt.diy#1824 (2025): "Developer instruction", "Function
  // calling" and "JSON mode is not enabled for models/gemma-3-27b-it".
  if (/^gemma-3(?:n|-|$)/.test(name)) return { refusesSystem: true, refusesTools: true, refusesJson: true };
  const version = versionOf(name);
  if (version === undefined) return {};
  const thinking = thinkingOf(name, version);
  // The features of version 3 apply to all newer ones.
  const third = version >= LEVELS_SINCE;
  return {
    ...(thinking !== undefined && { thinking }),
    // ai.google.dev "Structured outputs", read 2026-11: JSON Schema from 2.5 on.
    jsonSchema: version >= BUDGETS_SINCE,
    // googleapis/python-genai#867: "Function calling with a response mime type ... is unsupported" before 3.
    jsonBesideTools: third,
    // Both hosts make and take ids for 3 and later; Vertex refused the member until 2026-09 (anomalyco/opencode#50504).
    callIds: third,
    // ai.google.dev "Thought signatures", read 2026-11.
    signedCalls: third,
    // ai.google.dev "Function calling", "Multimodal function responses", read 2026-11.
    resultMedia: third,
    // pydantic/pydantic-ai, profiles/google.py (2026-08): from 2.5 on.
    validatedCalls: version >= BUDGETS_SINCE,
    // vercel/ai#8943, google-gemini/cookbook#1290 (2026-07): "Penalty is not enabled for this model" since 2.5.
    refusesPenalties: version >= BUDGETS_SINCE,
    // googleapis/python-genai#1921 (2026-01): "Logprobs is not enabled" since 2.5.
    refusesLogprobs: version >= BUDGETS_SINCE,
    // ai.google.dev "Grounding with Google Search", read 2026-11. @spec web-2
    searchTool: third && !/image|tts|audio|live|embedding/.test(name),
    // A name that moves on may mean one that heeds them.
    fixedSampling: version >= LEVELS_ONLY_SINCE && Number.isFinite(version),
  };
}

/** @source ai.google.dev "Thinking", cloud.google.com "Thinking", read 2026-11; ranges: @spec reasoning-12 */
function thinkingOf(name: string, version: number): GeminiThinking | undefined {
  // They generate images or speech, and accept no thinking settings.
  if (version < BUDGETS_SINCE || /image|tts|audio|embedding/.test(name)) return undefined;
  if (version < LEVELS_SINCE) return budgetOf(name);
  const hasMedium = version > LEVELS_SINCE || !isPro(name);
  const hasMinimal =
    version < NO_MINIMAL_SINCE ? !isPro(name) : name.includes('flash-lite') && version < LEVELS_ONLY_SINCE;
  return {
    by: 'level',
    levels: [...(hasMinimal ? (['minimal'] as const) : []), 'low', ...(hasMedium ? (['medium'] as const) : []), 'high'],
    takesBudget: version < LEVELS_ONLY_SINCE,
  };
}

function budgetOf(name: string): GeminiThinking {
  if (isPro(name)) return { by: 'budget', tokensMin: 128, tokensMax: 32_768, canBeOff: false };
  if (!name.includes('lite')) return { by: 'budget', tokensMin: 1, tokensMax: 24_576, canBeOff: true };
  return { by: 'budget', tokensMin: 512, tokensMax: 24_576, canBeOff: true, offByDefault: true };
}

function isPro(name: string): boolean {
  return name.includes('-pro');
}
