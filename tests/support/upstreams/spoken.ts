import type { JsonObject } from '../../../src/lib/json.ts';
import { encodeMessage } from '../wire/aws-event-stream.ts';

/** A piece of an answer, in the order in which it is given. */
export type SpokenPart =
  | { readonly type: 'text'; readonly text: string }
  | {
      readonly type: 'thought';
      /** Readable; absent: it is encrypted altogether. */
      readonly text?: string;
      /** What the format's vendor signs or encrypts it with. */
      readonly seal?: string;
      /** Of the item that it came as, where the format has ids for that. */
      readonly id?: string;
    }
  | {
      readonly type: 'call';
      readonly id: string;
      readonly name: string;
      /** JSON text, which goes out as it stands. */
      readonly input: string;
      /** Gemini's, on the call itself. */
      readonly signature?: string;
      /** Of the responses format: without it the name is a tool's outside all namespaces. */
      readonly namespace?: string;
      /** Of a tool that takes a text, in the responses format: that text is the member `input` of the JSON. */
      readonly isCustom?: boolean;
    };

/** An answer that can be given in every format. */
export interface Spoken {
  readonly parts: readonly SpokenPart[];
  readonly usage?: SpokenUsage;
}

/** Tokens. The prompt counts what was read from the cache and written to it, whatever the format says. */
export interface SpokenUsage {
  readonly prompt: number;
  readonly completion: number;
  readonly read?: number;
  readonly written?: number;
}

const USAGE: SpokenUsage = { prompt: 10, completion: 5 };

const RAW = '@raw:';

/** Stands for JSON text that must not be parsed on its way out: that would lose digits. */
function raw(input: string): string {
  return RAW + input;
}

export function withRawInputs(text: string): Buffer {
  const inputs = /"@raw:((?:[^"\\]|\\.)*)"/g;
  return Buffer.from(text.replaceAll(inputs, (_match, input: string) => JSON.parse(`"${input}"`) as string));
}

type Part<Type extends SpokenPart['type']> = Extract<SpokenPart, { readonly type: Type }>;
type Call = Part<'call'>;

export function partsOf<Type extends SpokenPart['type']>({ parts }: Spoken, type: Type): readonly Part<Type>[] {
  return parts.filter((part): part is Part<Type> => part.type === type);
}

export function textsOf(spoken: Spoken, type: 'text' | 'thought'): string | undefined {
  const texts = partsOf(spoken, type).flatMap(({ text }) => text ?? []);
  return texts.length === 0 ? undefined : texts.join('');
}

function calls(spoken: Spoken): boolean {
  return partsOf(spoken, 'call').length > 0;
}

export const CHAT_HEAD = { id: 'chatcmpl-1', created: 1_700_000_000, model: 'one-2026' };

export function chatChunk(delta: JsonObject, finish: string | null = null): JsonObject {
  return { ...CHAT_HEAD, object: 'chat.completion.chunk', choices: [{ index: 0, delta, finish_reason: finish }] };
}

export function chatCall({ id, name, input }: Call): JsonObject {
  return { id, type: 'function', function: { name, arguments: input } };
}

export function chatUsage({ prompt, completion, read = 0, written = 0 } = USAGE): JsonObject {
  return {
    prompt_tokens: prompt,
    completion_tokens: completion,
    total_tokens: prompt + completion,
    prompt_tokens_details: { cached_tokens: read, ...(written > 0 && { cache_write_tokens: written }) },
  };
}

/** Of the messages and the converse format. */
export function stopReason(spoken: Spoken): string {
  return calls(spoken) ? 'tool_use' : 'end_turn';
}

export const MESSAGE_HEAD = { id: 'msg_1', type: 'message', role: 'assistant', model: 'claude', stop_sequence: null };

/** @param opened as a stream opens it: without what its deltas bring */
export function messagesBlock(part: SpokenPart, opened = false): JsonObject {
  if (part.type === 'text') return { type: 'text', text: opened ? '' : part.text };
  if (part.type === 'call')
    return { type: 'tool_use', id: part.id, name: part.name, input: opened ? {} : raw(part.input) };
  const { text, seal = '' } = part;
  if (text === undefined) return { type: 'redacted_thinking', data: seal };
  return { type: 'thinking', thinking: opened ? '' : text, signature: opened ? '' : seal };
}

export function messagesDeltas(part: SpokenPart): readonly JsonObject[] {
  if (part.type === 'text') return [{ type: 'text_delta', text: part.text }];
  if (part.type === 'call') return [{ type: 'input_json_delta', partial_json: part.input }];
  const { text, seal } = part;
  if (text === undefined) return [];
  return [
    ...(text === '' ? [] : [{ type: 'thinking_delta', thinking: text }]),
    ...(seal === undefined ? [] : [{ type: 'signature_delta', signature: seal }]),
  ];
}

export function messagesUsage({ prompt, completion, read = 0, written = 0 } = USAGE): JsonObject {
  return {
    input_tokens: prompt - read - written,
    output_tokens: completion,
    cache_creation_input_tokens: written,
    cache_read_input_tokens: read,
  };
}

export function responseOf(spoken: Spoken): JsonObject {
  const { prompt, completion, read = 0, written = 0 } = spoken.usage ?? USAGE;
  return {
    id: 'resp_1',
    object: 'response',
    created_at: 1_700_000_000,
    model: 'one-2026',
    status: 'completed',
    output: spoken.parts.map(responseItem),
    usage: {
      input_tokens: prompt,
      input_tokens_details: { cached_tokens: read, ...(written > 0 && { cache_write_tokens: written }) },
      output_tokens: completion,
      output_tokens_details: { reasoning_tokens: 0 },
      total_tokens: prompt + completion,
    },
  };
}

function responseItem(part: SpokenPart): JsonObject {
  if (part.type === 'call') {
    const { id, name, input, namespace, isCustom } = part;
    const called = { call_id: id, name, ...(namespace !== undefined && { namespace }), status: 'completed' };
    if (isCustom !== true) return { type: 'function_call', id: `fc_${id}`, ...called, arguments: input };
    const { input: text = '' } = JSON.parse(input) as JsonObject;
    return { type: 'custom_tool_call', id: `ctc_${id}`, ...called, input: text };
  }
  const { text } = part;
  if (part.type === 'text') {
    const content = [{ type: 'output_text', text: part.text, annotations: [] }];
    return { type: 'message', id: 'msg_1', role: 'assistant', status: 'completed', content };
  }
  return {
    type: 'reasoning',
    id: part.id ?? 'rs_1',
    summary: text === undefined ? [] : [{ type: 'summary_text', text }],
    ...(part.seal !== undefined && { encrypted_content: part.seal }),
  };
}

export function geminiPart(part: SpokenPart): JsonObject {
  if (part.type === 'text') return { text: part.text };
  if (part.type === 'thought')
    return { text: part.text ?? '', thought: true, ...(part.seal !== undefined && { thoughtSignature: part.seal }) };
  const { id, name, input, signature } = part;
  return {
    functionCall: { id, name, args: raw(input) },
    ...(signature !== undefined && { thoughtSignature: signature }),
  };
}

export function geminiChunk(parts: readonly JsonObject[], isLast: boolean, { usage = USAGE }: Spoken): JsonObject {
  const { prompt, completion, read = 0 } = usage;
  return {
    responseId: 'gemini-1',
    modelVersion: 'gemini-3-pro-preview',
    candidates: [{ index: 0, content: { role: 'model', parts }, ...(isLast && { finishReason: 'STOP' }) }],
    usageMetadata: {
      promptTokenCount: prompt,
      candidatesTokenCount: completion,
      totalTokenCount: prompt + completion,
      ...(read > 0 && { cachedContentTokenCount: read }),
    },
  };
}

export function converseBlock(part: SpokenPart): JsonObject {
  if (part.type === 'text') return { text: part.text };
  if (part.type === 'call') return { toolUse: { toolUseId: part.id, name: part.name, input: raw(part.input) } };
  const { text, seal } = part;
  if (text === undefined) return { reasoningContent: { redactedContent: seal ?? '' } };
  return { reasoningContent: { reasoningText: { text, ...(seal !== undefined && { signature: seal }) } } };
}

export function converseUsage({ prompt, completion, read = 0, written = 0 } = USAGE): JsonObject {
  return {
    inputTokens: prompt - read - written,
    outputTokens: completion,
    totalTokens: prompt + completion,
    cacheReadInputTokens: read,
    cacheWriteInputTokens: written,
  };
}

type ConverseEvent = readonly [type: string, payload: JsonObject];

export function converseEvents(spoken: Spoken): readonly ConverseEvent[] {
  return [
    ['messageStart', { role: 'assistant' }],
    ...spoken.parts.flatMap((part, contentBlockIndex): readonly ConverseEvent[] => {
      const start = part.type === 'call' ? { toolUse: { toolUseId: part.id, name: part.name } } : undefined;
      return [
        ...(start === undefined ? [] : [['contentBlockStart', { contentBlockIndex, start }] as const]),
        ...converseDeltas(part).map((delta) => ['contentBlockDelta', { contentBlockIndex, delta }] as const),
        ['contentBlockStop', { contentBlockIndex }],
      ];
    }),
    ['messageStop', { stopReason: stopReason(spoken) }],
    ['metadata', { usage: converseUsage(spoken.usage), metrics: { latencyMs: 1 } }],
  ];
}

function converseDeltas(part: SpokenPart): readonly JsonObject[] {
  if (part.type === 'text') return [{ text: part.text }];
  if (part.type === 'call') return [{ toolUse: { input: part.input } }];
  const { text, seal } = part;
  if (text === undefined) return [{ reasoningContent: { redactedContent: seal ?? '' } }];
  return [{ reasoningContent: { text } }, ...(seal === undefined ? [] : [{ reasoningContent: { signature: seal } }])];
}

/** The binary messages of a stream. */
export function frameConverse(events: readonly ConverseEvent[]): Buffer {
  return Buffer.concat(
    events.map(([type, payload]) =>
      encodeMessage(
        { ':event-type': type, ':content-type': 'application/json', ':message-type': 'event' },
        JSON.stringify(payload),
      ),
    ),
  );
}

export function cohereContent(part: Part<'text' | 'thought'>): JsonObject {
  return part.type === 'text' ? { type: 'text', text: part.text } : { type: 'thinking', thinking: part.text ?? '' };
}

export function cohereEvent(type: string, index: number, message: JsonObject): JsonObject {
  return { type, index, delta: { message } };
}

export function cohereUsage({ prompt, completion, read = 0 } = USAGE): JsonObject {
  const tokens = { input_tokens: prompt, output_tokens: completion };
  return { billed_units: tokens, tokens, cached_tokens: read };
}
