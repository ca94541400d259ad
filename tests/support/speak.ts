import type { FormatId } from '../../src/canonical/extra.ts';
import type { Json, JsonObject } from '../../src/lib/json.ts';
import { encodeMessage } from '../../src/lib/test-event-stream.ts';
import { json, sse, type Arrived, type Script } from './upstream.ts';

/** What a call is, to whoever makes it. */
export interface SpokenCall {
  readonly id: string;
  readonly name: string;
  /** JSON text. */
  readonly input: string;
  /** Gemini's, on the call itself. */
  readonly signature?: string;
}

/** An answer that can be given in every format. */
export interface Spoken {
  readonly text?: string;
  /** Readable reasoning; `sealed` what the format's vendor signs or encrypts it with. */
  readonly thought?: string;
  readonly sealed?: string;
  readonly calls?: readonly SpokenCall[];
  /** Tokens: the prompt counts what was read from the cache and written to it, whatever the format says. */
  readonly usage?: SpokenUsage;
}

export interface SpokenUsage {
  readonly prompt: number;
  readonly completion: number;
  readonly read?: number;
  readonly written?: number;
}

const USAGE: SpokenUsage = { prompt: 10, completion: 5 };

/** The format of a request, by where it was sent. */
export function formatOfPath(path: string): FormatId {
  if (path.endsWith('/chat/completions')) return 'chat';
  if (path.includes('/messages')) return 'messages';
  if (path.endsWith('/responses')) return 'responses';
  if (/:(?:streamGenerateContent|generateContent)\b/.test(path)) return 'gemini';
  if (/\/converse(?:-stream)?$/.test(path)) return 'converse';
  if (path.endsWith('/chat')) return 'cohere';
  throw new Error(`no format is asked at ${path}`);
}

/** Gives the answer in the format of the request, streamed or whole as it was asked for. */
export function speak(spoken: Spoken): Script {
  return (arrived, response, request) => {
    const format = formatOfPath(arrived.path);
    if (!isStreamed(format, arrived)) return json(200, WHOLE[format](spoken))(arrived, response, request);
    const isBinary = format === 'converse';
    response.writeHead(200, {
      'content-type': isBinary ? 'application/vnd.amazon.eventstream' : 'text/event-stream',
    });
    response.end(isBinary ? converseStream(spoken) : STREAM[format](spoken));
  };
}

function isStreamed(format: FormatId, { path, body }: Arrived): boolean {
  if (format === 'gemini') return path.includes(':streamGenerateContent');
  return format === 'converse' ? path.endsWith('-stream') : body['stream'] === true;
}

type Draw<Drawn> = (spoken: Spoken) => Drawn;

const WHOLE: Readonly<Record<FormatId, Draw<JsonObject>>> = {
  chat: ({ text, thought, calls = [], usage }) => ({
    id: 'chatcmpl-1',
    object: 'chat.completion',
    created: 1_700_000_000,
    model: 'one-2026',
    choices: [
      {
        index: 0,
        message: {
          role: 'assistant',
          content: text ?? null,
          ...(thought !== undefined && { reasoning: thought }),
          ...(calls.length > 0 && { tool_calls: calls.map(chatCall) }),
        },
        finish_reason: calls.length > 0 ? 'tool_calls' : 'stop',
      },
    ],
    usage: chatUsage(usage),
  }),
  messages: (spoken) => ({
    id: 'msg_1',
    type: 'message',
    role: 'assistant',
    model: 'claude',
    content: messagesBlocks(spoken),
    stop_reason: stopReason(spoken),
    stop_sequence: null,
    usage: messagesUsage(spoken.usage),
  }),
  responses: (spoken) => responseOf(spoken),
  gemini: (spoken) => geminiChunk(geminiParts(spoken), true, spoken),
  converse: (spoken) => ({
    output: { message: { role: 'assistant', content: converseBlocks(spoken) } },
    stopReason: stopReason(spoken),
    usage: converseUsage(spoken.usage),
    metrics: { latencyMs: 1 },
  }),
  cohere: ({ text, thought, calls = [], usage }) => ({
    id: 'cohere-1',
    message: {
      role: 'assistant',
      ...((text !== undefined || thought !== undefined) && {
        content: [
          ...(thought === undefined ? [] : [{ type: 'thinking', thinking: thought }]),
          ...(text === undefined ? [] : [{ type: 'text', text }]),
        ],
      }),
      ...(calls.length > 0 && { tool_calls: calls.map(chatCall) }),
    },
    finish_reason: calls.length > 0 ? 'TOOL_CALL' : 'COMPLETE',
    usage: cohereUsage(usage),
  }),
};

const STREAM: Readonly<Record<Exclude<FormatId, 'converse'>, Draw<string>>> = {
  chat: ({ text, thought, calls = [], usage }) => {
    const chunk = (delta: JsonObject, finish: string | null = null): JsonObject => ({
      id: 'chatcmpl-1',
      object: 'chat.completion.chunk',
      created: 1_700_000_000,
      model: 'one-2026',
      choices: [{ index: 0, delta, finish_reason: finish }],
    });
    return sse([
      chunk({ role: 'assistant', content: '' }),
      ...(thought === undefined ? [] : [chunk({ reasoning: thought })]),
      ...(text === undefined ? [] : [chunk({ content: text })]),
      ...calls.map((call, index) => chunk({ tool_calls: [{ index, ...chatCall(call) }] })),
      chunk({}, calls.length > 0 ? 'tool_calls' : 'stop'),
      { ...chunk({}), choices: [], usage: chatUsage(usage) },
      '[DONE]',
    ]);
  },
  messages: messagesStream,
  responses: (spoken) => {
    const response = responseOf(spoken);
    const items = response['output'] as readonly JsonObject[];
    return sse(
      [
        { type: 'response.created', response: { ...response, status: 'in_progress', output: [], usage: null } },
        ...items.flatMap((item, index) => [
          { type: 'response.output_item.added', output_index: index, item: { ...item, content: [], arguments: '' } },
          { type: 'response.output_item.done', output_index: index, item },
        ]),
        { type: 'response.completed', response },
      ],
      { named: true },
    );
  },
  gemini: (spoken) => {
    const parts = geminiParts(spoken);
    return sse(parts.map((part, at) => geminiChunk([part], at === parts.length - 1, spoken)));
  },
  cohere: cohereStream,
};

function chatCall({ id, name, input }: SpokenCall): JsonObject {
  return { id, type: 'function', function: { name, arguments: input } };
}

function chatUsage({ prompt, completion, read = 0, written = 0 } = USAGE): JsonObject {
  return {
    prompt_tokens: prompt,
    completion_tokens: completion,
    total_tokens: prompt + completion,
    prompt_tokens_details: { cached_tokens: read, ...(written > 0 && { cache_write_tokens: written }) },
  };
}

function stopReason({ calls = [] }: Spoken): string {
  return calls.length > 0 ? 'tool_use' : 'end_turn';
}

/** @param opened as a stream opens them: without what its deltas bring */
function messagesBlocks({ text, thought, sealed, calls = [] }: Spoken, opened = false): readonly JsonObject[] {
  const thinking = thought === undefined ? [] : [{ type: 'thinking', thinking: thought, signature: sealed ?? '' }];
  const redacted = thought === undefined && sealed !== undefined ? [{ type: 'redacted_thinking', data: sealed }] : [];
  return [
    ...(opened ? thinking.map((block) => ({ ...block, thinking: '', signature: '' })) : thinking),
    ...redacted,
    ...(text === undefined ? [] : [{ type: 'text', text: opened ? '' : text }]),
    ...calls.map(({ id, name, input }) => ({
      type: 'tool_use',
      id,
      name,
      input: opened ? {} : (JSON.parse(input) as Json),
    })),
  ];
}

function messagesUsage({ prompt, completion, read = 0, written = 0 } = USAGE): JsonObject {
  return {
    input_tokens: prompt - read - written,
    output_tokens: completion,
    cache_creation_input_tokens: written,
    cache_read_input_tokens: read,
  };
}

function messagesStream(spoken: Spoken): string {
  const opened = messagesBlocks(spoken, true);
  const { thought, sealed, text = '', calls = [] } = spoken;
  const deltasOf = (block: JsonObject): readonly JsonObject[] => {
    if (block['type'] === 'text') return [{ type: 'text_delta', text }];
    if (block['type'] === 'thinking')
      return [
        ...(thought === '' ? [] : [{ type: 'thinking_delta', thinking: thought ?? '' }]),
        { type: 'signature_delta', signature: sealed ?? '' },
      ];
    const call = calls.find(({ id }) => id === block['id']);
    return call === undefined ? [] : [{ type: 'input_json_delta', partial_json: call.input }];
  };
  const usage = messagesUsage(spoken.usage);
  return sse(
    [
      {
        type: 'message_start',
        message: {
          id: 'msg_1',
          type: 'message',
          role: 'assistant',
          model: 'claude',
          content: [],
          stop_reason: null,
          stop_sequence: null,
          usage: { ...usage, output_tokens: 1 },
        },
      },
      ...opened.flatMap((block, index) => [
        { type: 'content_block_start', index, content_block: block },
        ...deltasOf(block).map((delta) => ({ type: 'content_block_delta', index, delta })),
        { type: 'content_block_stop', index },
      ]),
      {
        type: 'message_delta',
        delta: { stop_reason: stopReason(spoken), stop_sequence: null },
        usage: { output_tokens: usage['output_tokens'] },
      },
      { type: 'message_stop' },
    ],
    { named: true },
  );
}

function responseOf({ text, thought, sealed, calls = [], usage = USAGE }: Spoken): JsonObject {
  const { prompt, completion, read = 0, written = 0 } = usage;
  const isReasoned = thought !== undefined || sealed !== undefined;
  const reasoning = {
    type: 'reasoning',
    id: `rs_${sealed?.length ?? 0}`,
    summary: thought === undefined ? [] : [{ type: 'summary_text', text: thought }],
    ...(sealed !== undefined && { encrypted_content: sealed }),
  };
  const message = {
    type: 'message',
    id: 'msg_1',
    role: 'assistant',
    status: 'completed',
    content: [{ type: 'output_text', text, annotations: [] }],
  };
  return {
    id: 'resp_1',
    object: 'response',
    created_at: 1_700_000_000,
    model: 'one-2026',
    status: 'completed',
    output: [
      ...(isReasoned ? [reasoning] : []),
      ...(text === undefined ? [] : [message]),
      ...calls.map(({ id, name, input }) => ({
        type: 'function_call',
        id: `fc_${id}`,
        call_id: id,
        name,
        arguments: input,
        status: 'completed',
      })),
    ] as Json[],
    usage: {
      input_tokens: prompt,
      input_tokens_details: { cached_tokens: read, ...(written > 0 && { cache_write_tokens: written }) },
      output_tokens: completion,
      output_tokens_details: { reasoning_tokens: 0 },
      total_tokens: prompt + completion,
    },
  };
}

function geminiParts({ text, thought, sealed, calls = [] }: Spoken): readonly JsonObject[] {
  return [
    ...(thought === undefined ? [] : [{ text: thought, thought: true }]),
    ...(text === undefined ? [] : [{ text, ...(sealed !== undefined && { thoughtSignature: sealed }) }]),
    ...calls.map(({ id, name, input, signature }) => ({
      functionCall: { id, name, args: JSON.parse(input) as Json },
      ...(signature !== undefined && { thoughtSignature: signature }),
    })),
  ];
}

function geminiChunk(parts: readonly JsonObject[], isLast: boolean, { usage = USAGE }: Spoken): JsonObject {
  const { prompt, completion, read = 0 } = usage;
  return {
    responseId: 'gemini-1',
    modelVersion: 'gemini-3-pro-preview',
    candidates: [{ index: 0, content: { role: 'model', parts: parts as Json }, ...(isLast && { finishReason: 'STOP' }) }],
    usageMetadata: {
      promptTokenCount: prompt,
      candidatesTokenCount: completion,
      totalTokenCount: prompt + completion,
      ...(read > 0 && { cachedContentTokenCount: read }),
    },
  };
}

function converseBlocks({ text, thought, sealed, calls = [] }: Spoken): readonly JsonObject[] {
  const reasoning =
    thought === undefined
      ? { redactedContent: sealed }
      : { reasoningText: { text: thought, ...(sealed !== undefined && { signature: sealed }) } };
  return [
    ...(thought === undefined && sealed === undefined ? [] : [{ reasoningContent: reasoning as JsonObject }]),
    ...(text === undefined ? [] : [{ text }]),
    ...calls.map(({ id, name, input }) => ({ toolUse: { toolUseId: id, name, input: JSON.parse(input) as Json } })),
  ];
}

function converseUsage({ prompt, completion, read = 0, written = 0 } = USAGE): JsonObject {
  return {
    inputTokens: prompt - read - written,
    outputTokens: completion,
    totalTokens: prompt + completion,
    cacheReadInputTokens: read,
    cacheWriteInputTokens: written,
  };
}

function converseStream(spoken: Spoken): Buffer {
  const { text = '', thought, sealed, calls = [] } = spoken;
  const deltasOf = (block: JsonObject): readonly JsonObject[] => {
    if ('text' in block) return [{ text }];
    if ('toolUse' in block) {
      const { toolUseId } = block['toolUse'] as JsonObject;
      return [{ toolUse: { input: calls.find(({ id }) => id === toolUseId)?.input ?? '' } }];
    }
    if (thought === undefined) return [{ reasoningContent: { redactedContent: sealed ?? '' } }];
    return [
      { reasoningContent: { text: thought } },
      ...(sealed === undefined ? [] : [{ reasoningContent: { signature: sealed } }]),
    ];
  };
  const events: (readonly [string, JsonObject])[] = [['messageStart', { role: 'assistant' }]];
  for (const [contentBlockIndex, block] of converseBlocks(spoken).entries()) {
    const call = block['toolUse'] as JsonObject | undefined;
    if (call !== undefined) {
      const { toolUseId, name } = call;
      events.push(['contentBlockStart', { contentBlockIndex, start: { toolUse: { toolUseId, name } } }]);
    }
    for (const delta of deltasOf(block)) events.push(['contentBlockDelta', { contentBlockIndex, delta }]);
    events.push(['contentBlockStop', { contentBlockIndex }]);
  }
  events.push(
    ['messageStop', { stopReason: stopReason(spoken) }],
    ['metadata', { usage: converseUsage(spoken.usage), metrics: { latencyMs: 1 } }],
  );
  return Buffer.concat(
    events.map(([type, payload]) =>
      encodeMessage(
        { ':event-type': type, ':content-type': 'application/json', ':message-type': 'event' },
        JSON.stringify(payload),
      ),
    ),
  );
}

function cohereUsage({ prompt, completion, read = 0 } = USAGE): JsonObject {
  const tokens = { input_tokens: prompt, output_tokens: completion };
  return { billed_units: tokens, tokens, cached_tokens: read };
}

function cohereStream({ text, thought, calls = [], usage }: Spoken): string {
  const contents = [
    ...(thought === undefined ? [] : [{ type: 'thinking', member: 'thinking', said: thought }]),
    ...(text === undefined ? [] : [{ type: 'text', member: 'text', said: text }]),
  ];
  return sse(
    [
      { id: 'cohere-1', type: 'message-start', delta: { message: { role: 'assistant', content: [] } } },
      ...contents.flatMap(({ type, member, said }, index) => [
        { type: 'content-start', index, delta: { message: { content: { type, [member]: '' } } } },
        { type: 'content-delta', index, delta: { message: { content: { [member]: said } } } },
        { type: 'content-end', index },
      ]),
      ...calls.flatMap((call, index) => [
        { type: 'tool-call-start', index, delta: { message: { tool_calls: chatCall({ ...call, input: '' }) } } },
        {
          type: 'tool-call-delta',
          index,
          delta: { message: { tool_calls: { function: { arguments: call.input } } } },
        },
        { type: 'tool-call-end', index },
      ]),
      {
        type: 'message-end',
        delta: { finish_reason: calls.length > 0 ? 'TOOL_CALL' : 'COMPLETE', usage: cohereUsage(usage) },
      },
    ],
    { named: true },
  );
}
