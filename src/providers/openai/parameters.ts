import { PARAMETERS } from '../../wire/chat/parameters.ts';
import type { Dialect } from '../../wire/format.ts';

/** Words of the format that this vendor never had: its SDK, openai 7.55 (2026-11), `ChatCompletionCreateParamsBase`. */
const UNKNOWN_HERE: ReadonlySet<string> = new Set([
  'top_k',
  'top_a',
  'min_p',
  'repetition_penalty',
  'grammar',
  'python',
]);

const KNOWN_HERE: ReadonlySet<string> = PARAMETERS.difference(UNKNOWN_HERE);

// What reasoning models refuse: learn.microsoft.com "Azure OpenAI reasoning models" (2026-05) for the same models. From
// GPT-5.1 on the first group is taken with effort `none`, and until GPT-6: platform.openai.com "GPT-5.1 parameter
// compatibility" as read by vercel/ai, packages/openai/src/openai-language-model-capabilities.ts (2026-11).
const SAMPLING: readonly string[] = ['temperature', 'top_p', 'logprobs', 'top_logprobs'];
const PENALTIES: readonly string[] = ['presence_penalty', 'frequency_penalty', 'logit_bias'];

const O_SERIES = /^(?:ft:)?o(\d+)(-mini)?/;
const GPT = /^(?:ft:)?gpt-(\d+)(?:\.(\d+))?(.*)$/;
const FIRST_REASONING_GPT = 5;
const FIRST_GPT_THAT_ALWAYS_REASONS = 6;
// Up to 5.4 the default effort is `none`, but for the `pro` and `codex` variants; later models reason unless told not to:
// learn.microsoft.com "ReasoningEffort" and developers.openai.com "Reasoning models", read 2026-11.
const LAST_MINOR_WITHOUT_REASONING = 4;
const ALWAYS_REASONING_VARIANT = /-(?:pro|codex|chat)/;

type Facts = Pick<Dialect, 'parameters' | 'refused' | 'refusedWhileReasoning' | 'reasonsByDefault'>;

/** Which parameters a model of this vendor takes: it answers 400 to any other. */
export function parametersOf(model: string): Facts {
  return { parameters: KNOWN_HERE, ...(factsOfOSeries(model) ?? factsOfGpt(model)) };
}

function factsOfOSeries(model: string): Facts | undefined {
  const [name, series, mini] = O_SERIES.exec(model) ?? [];
  if (name === undefined) return undefined;
  // The vendor's SDK says of `stop`: "Not supported with latest reasoning models `o3` and `o4-mini`".
  const stops = Number(series) < 3 || (Number(series) === 3 && mini !== undefined);
  // run-llama/llama_index#20865 (2026-03): `parallel_tool_calls` is refused by all of them, whatever its value.
  const refused = [...SAMPLING, ...PENALTIES, 'parallel_tool_calls', ...(stops ? [] : ['stop'])];
  return { refused: new Set(refused), reasonsByDefault: true };
}

function factsOfGpt(model: string): Facts | undefined {
  const [, major, minor, variant = ''] = GPT.exec(model) ?? [];
  const generation = Number(major ?? 0);
  if (generation < FIRST_REASONING_GPT || (minor === undefined && variant.startsWith('-chat'))) return undefined;
  // huggingface/smolagents#1868 (2025-11): from GPT-5 on `stop` is refused, GPT-5.1 included.
  const refused = [...PENALTIES, 'stop'];
  if (generation >= FIRST_GPT_THAT_ALWAYS_REASONS || minor === undefined)
    return { refused: new Set([...refused, ...SAMPLING]), reasonsByDefault: true };
  return {
    refused: new Set(refused),
    refusedWhileReasoning: new Set(SAMPLING),
    reasonsByDefault: Number(minor) > LAST_MINOR_WITHOUT_REASONING || ALWAYS_REASONING_VARIANT.test(variant),
  };
}
