import { PARAMETERS } from '../../wire/chat/parameters.ts';
import type { Dialect } from '../../wire/format.ts';
import { doesReason, effortsOf, isCodex, readName, type ModelName } from './model-name.ts';

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
// GPT-5.1 on the first group is taken with effort `none`, by the models that have it: developers.openai.com "Deployment
// checklist", read 2026-11.
const SAMPLING: readonly string[] = ['temperature', 'top_p', 'logprobs', 'top_logprobs'];
const PENALTIES: readonly string[] = ['presence_penalty', 'frequency_penalty', 'logit_bias'];

// Up to 5.4 the default effort is `none`, except for the `pro` and `codex` variants; later models reason by default:
// learn.microsoft.com "ReasoningEffort" and developers.openai.com "Reasoning models", read 2026-11.
const LAST_WITHOUT_REASONING = 5.04;

type Facts = Pick<Dialect, 'parameters' | 'refused' | 'refusedWhileReasoning' | 'reasonsByDefault'>;

/** Which parameters a model of this vendor takes: it answers 400 to any other. */
export function parametersOf(model: string): Facts {
  const name = readName(model);
  const reasons = name !== undefined && doesReason(name);
  return { parameters: KNOWN_HERE, ...(reasons && (name.series === 'o' ? factsOfOSeries(name) : factsOfGpt(name))) };
}

function factsOfOSeries({ generation, variant }: ModelName): Facts {
  // The vendor's SDK says of `stop`: "Not supported with latest reasoning models `o3` and `o4-mini`".
  const stops = generation < 3 || (generation === 3 && variant.startsWith('-mini'));
  // run-llama/llama_index#20865 (2026-03): `parallel_tool_calls` is refused by all of them, whatever its value.
  const refused = [...SAMPLING, ...PENALTIES, 'parallel_tool_calls', ...(stops ? [] : ['stop'])];
  return { refused: new Set(refused), reasonsByDefault: true };
}

function factsOfGpt(name: ModelName): Facts {
  // huggingface/smolagents#1868 (2025-11): from GPT-5 on `stop` is refused, GPT-5.1 included.
  const refused = [...PENALTIES, 'stop'];
  if (!effortsOf(name).includes('none')) return { refused: new Set([...refused, ...SAMPLING]), reasonsByDefault: true };
  return {
    refused: new Set(refused),
    refusedWhileReasoning: new Set(SAMPLING),
    reasonsByDefault: name.generation > LAST_WITHOUT_REASONING || isCodex(name.variant),
  };
}
