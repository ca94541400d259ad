import { unreachable } from '../lib/assert.ts';
import type { Behaviour } from './models.ts';
import { judgeByCounting } from './judge.ts';
import { instanceOf } from './schema-instance.ts';
import type { OfferedFunction, Prompt } from './prompt.ts';
import { countTokens, splitTokens } from './tokens.ts';
import { readUserOptions } from './user-options.ts';

/** A call that the answer makes. Its arguments are JSON text. */
export interface ScriptedCall {
  readonly name: string;
  readonly input: string;
}

/** Something that goes wrong on purpose. `status` comes instead of an answer, the others in the middle of one. */
export type Fault =
  | { readonly kind: 'cut'; readonly afterTokens: number }
  | { readonly kind: 'stall'; readonly afterTokens: number }
  | { readonly kind: 'error'; readonly afterTokens: number; readonly status: number }
  | { readonly kind: 'status'; readonly status: number };

/** Everything about one response except its wire format. */
export interface Script {
  /** Absent: none was wanted. */
  readonly reasoning?: string;
  /** Only the signature of the reasoning is shown. */
  readonly isReasoningHidden: boolean;
  /** Absent: the answer has calls only. */
  readonly text?: string;
  readonly calls: readonly ScriptedCall[];
  readonly finish: 'stop' | 'stop_sequence' | 'length' | 'tool_calls';
  readonly stopSequence?: string;
  readonly completionTokens: number;
  readonly reasoningTokens: number;
  readonly firstTokenMs: number;
  readonly everyMs: number;
  readonly fault?: Fault;
}

const SLOW_FIRST_TOKEN_MS = 2_000;
const LONG_EVERY_MS = 20;
const ANSWER_MS_MAX = 60 * 60_000;
const PACED: ReadonlySet<Behaviour> = new Set(['slow', 'long', 'cut', 'stall', 'error']);
const CALLS_MAX = 64;
/** For the models that break: a text so short that it has no half. */
const FILLER = 'one two three four five six seven eight';
const NOTHING_STATED = '(no user text)';

/** Determines the model's response. Deterministic: the same prompt gives the same script. */
export function writeScript(prompt: Prompt): Script {
  const { behaviour, choice, userText, toolResults } = prompt;
  const breaks = behaviour === 'cut' || behaviour === 'stall' || behaviour === 'error';
  if (breaks) return scriptFault(prompt, behaviour);
  const mustCall = choice.type === 'required' || choice.type === 'function';
  const callsByItself = behaviour === 'tools' && choice.type === 'auto' && toolResults.length === 0;
  if (prompt.functions.length > 0 && (mustCall || callsByItself)) return scriptCalls(prompt);
  switch (behaviour) {
    case 'json':
      return scriptText(prompt, JSON.stringify(instanceOf(prompt.jsonSchema ?? { const: { text: userText } })));
    case 'judge':
      return scriptText(prompt, judgeByCounting(userText));
    case 'long': {
      const { tokens } = optionsOf(prompt);
      return scriptText(prompt, Array.from({ length: tokens }, (_, index) => index + 1).join(' '));
    }
    case 'echo':
    case 'reasoning':
    case 'slow':
    case 'tools':
      return scriptText(prompt, echoOf(prompt));
    default:
      return unreachable(behaviour);
  }
}

/** What the tools said, then what the user said. */
function echoOf({ toolResults, userText }: Prompt): string {
  const lines = toolResults.map(({ name, text }) => `tool ${name} said: ${text}`);
  const text = (toolResults.length > 0 ? lines : [userText]).join('\n');
  return text.trim() === '' ? NOTHING_STATED : text;
}

function optionsOf(prompt: Prompt): ReturnType<typeof readUserOptions> {
  return readUserOptions(prompt.userText, {
    everyMs: prompt.behaviour === 'long' ? LONG_EVERY_MS : 0,
    firstTokenMs: prompt.behaviour === 'slow' ? SLOW_FIRST_TOKEN_MS : 0,
  });
}

/**
 * Only models that document it have a pace: an echo of `ms=500` is not slow. However long the requested pause, a
 * response ends within the limit.
 */
function paceOf(prompt: Prompt, tokens: number): Pick<Script, 'firstTokenMs' | 'everyMs'> {
  if (!PACED.has(prompt.behaviour)) return { firstTokenMs: 0, everyMs: 0 };
  const { firstTokenMs, everyMs } = optionsOf(prompt);
  return { firstTokenMs, everyMs: Math.min(everyMs, Math.floor(ANSWER_MS_MAX / Math.max(1, tokens))) };
}

function scriptText(prompt: Prompt, text: string): Script {
  const reasoning = reasoningOf(prompt);
  const reasoningTokens = reasoning === undefined ? 0 : countTokens(reasoning);
  const common = { calls: [], isReasoningHidden: prompt.thinking.isHidden };
  if (reasoning !== undefined && reasoningTokens >= prompt.maxTokens) {
    const cut = splitTokens(reasoning).slice(0, prompt.maxTokens);
    const tokens = { reasoningTokens: cut.length, completionTokens: cut.length };
    return { ...common, ...tokens, ...paceOf(prompt, cut.length), reasoning: cut.join(''), finish: 'length' };
  }
  const limited = limitText(text, prompt.stop, prompt.maxTokens - reasoningTokens);
  return {
    ...common,
    ...(reasoning !== undefined && { reasoning }),
    text: limited.text,
    finish: limited.finish,
    ...(limited.stopSequence !== undefined && { stopSequence: limited.stopSequence }),
    completionTokens: reasoningTokens + limited.tokens,
    reasoningTokens,
    ...paceOf(prompt, reasoningTokens + limited.tokens),
  };
}

/** Calls are never cut by the token limit, which only counts: half a call is useless in a test. */
function scriptCalls(prompt: Prompt): Script {
  const reasoning = reasoningOf(prompt);
  const calls = chosenFunctions(prompt).map(({ name, schema }) => ({
    name,
    input: JSON.stringify(schema === undefined ? {} : instanceOf(schema)),
  }));
  const reasoningTokens = reasoning === undefined ? 0 : countTokens(reasoning);
  return {
    ...(reasoning !== undefined && { reasoning }),
    isReasoningHidden: prompt.thinking.isHidden,
    calls,
    finish: 'tool_calls',
    completionTokens: calls.reduce(
      (sum, call) => sum + countTokens(call.name) + countTokens(call.input),
      reasoningTokens,
    ),
    reasoningTokens,
    firstTokenMs: 0,
    everyMs: 0,
  };
}

function chosenFunctions({ functions, choice, userText, mayCallInParallel }: Prompt): readonly OfferedFunction[] {
  if (choice.type === 'function') return functions.filter(({ name }) => name === choice.name).slice(0, 1);
  const isParallel = mayCallInParallel && /parallel/i.test(userText);
  return functions.slice(0, isParallel ? CALLS_MAX : 1);
}

function scriptFault(prompt: Prompt, behaviour: 'cut' | 'stall' | 'error'): Script {
  const echoed = echoOf(prompt);
  const script = scriptText({ ...prompt, stop: [] }, countTokens(echoed) < 4 ? FILLER : echoed);
  return { ...script, fault: faultOf(prompt, behaviour, script.completionTokens) };
}

function faultOf(prompt: Prompt, behaviour: 'cut' | 'stall' | 'error', tokens: number): Fault {
  const requestedCount = optionsOf(prompt).faultAfterTokens;
  const status = prompt.errorStatus ?? 500;
  switch (behaviour) {
    case 'cut':
      return { kind: 'cut', afterTokens: requestedCount ?? Math.max(1, Math.floor(tokens / 2)) };
    case 'stall':
      return { kind: 'stall', afterTokens: requestedCount ?? 0 };
    case 'error':
      return requestedCount === undefined || !prompt.isStream
        ? { kind: 'status', status }
        : { kind: 'error', afterTokens: requestedCount, status };
    default:
      return unreachable(behaviour);
  }
}

/** The model `reasoning` reasons by default; `tools` on request. */
function reasoningOf({ behaviour, thinking, userText, functions, toolResults }: Prompt): string | undefined {
  const byItself = behaviour === 'reasoning' && thinking.requested !== 'off';
  const asAsked = behaviour === 'tools' && thinking.requested === 'on';
  if (!byItself && !asAsked) return undefined;
  if (toolResults.length > 0) return `I have ${toolResults.length} results, so I report them.`;
  if (behaviour === 'tools' && functions.length > 0) return `I am offered ${functions.length} functions, so I call.`;
  return `The user wrote ${countTokens(userText)} tokens, so I answer with the same words.`;
}

interface LimitedText {
  readonly text: string;
  readonly tokens: number;
  readonly finish: 'stop' | 'stop_sequence' | 'length';
  readonly stopSequence?: string;
}

/** Ends a text at the limit, or at the first stop sequence before it, which is left out. */
function limitText(text: string, stop: readonly string[], maxTokens: number): LimitedText {
  const tokens = splitTokens(text);
  const generated = tokens.slice(0, maxTokens).join('');
  let end = generated.length;
  let stopSequence: string | undefined;
  for (const sequence of stop) {
    const at = generated.indexOf(sequence);
    if (at >= 0 && at < end) [end, stopSequence] = [at, sequence];
  }
  if (stopSequence !== undefined) {
    const kept = generated.slice(0, end);
    return { text: kept, tokens: countTokens(kept), finish: 'stop_sequence', stopSequence };
  }
  const isCut = tokens.length > maxTokens;
  return { text: generated, tokens: Math.min(tokens.length, maxTokens), finish: isCut ? 'length' : 'stop' };
}
