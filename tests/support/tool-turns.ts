import { setTimeout as wait } from 'node:timers/promises';
import { z } from 'zod';
import type { ServerTool, ToolCall, ToolContext, ToolOutcome } from '../../src/tools/contract.ts';
import { startGateway, type GatewayOptions, type RunningGateway } from './gateway.ts';
import { readReported, type Reported } from './reported.ts';
import {
  chatChunk,
  json,
  sse,
  startUpstream,
  stream,
  type Arrived,
  type Script,
  type ScriptedUpstream,
} from './upstream.ts';

/** What a scripted model says with one turn. */
export interface Stated {
  readonly thinking?: string;
  readonly text?: string;
  readonly calls?: readonly { readonly id?: string; readonly name: string; readonly input?: string }[];
  readonly finish?: string;
  readonly promptTokens?: number;
  readonly completionTokens?: number;
}

/** What the model says to the request with this number, from 0. */
export type Model = (arrived: Arrived, at: number) => Stated | Script;

export interface ToolTurns {
  readonly gateway: RunningGateway;
  /** Behind `acme/chat`. */
  readonly chat: ScriptedUpstream;
  /** Behind `acme/messages`. */
  readonly messages: ScriptedUpstream;
}

/** Per million tokens: a turn of 10 and 5 tokens costs 20 micro-USD. */
const PROMPT_USD = 1;
const COMPLETION_USD = 2;

const price = `{ prompt: ${PROMPT_USD}, completion: ${COMPLETION_USD} }`;
const policy = 'data_policy: { training: false, retention_days: 0 }';

/** A gateway in front of one model of each format, both of which say what `model` says. */
export async function startToolTurns(
  t: { after(close: () => Promise<void>): void },
  model: Model,
  { yaml = '', providers = '', ...options }: GatewayOptions & { readonly providers?: string } = {},
): Promise<ToolTurns> {
  const chat = await startUpstream((...exchange) => speak('chat', model, chat, exchange));
  const messages = await startUpstream((...exchange) => speak('messages', model, messages, exchange));
  const gateway = await startGateway({
    ...options,
    yaml: `
providers:
  chatty: { adapter: openai-compatible, name: Chatty, base_url: "${chat.baseUrl}", api_key: upstream-secret-1, ${policy} }
  wordy: { adapter: anthropic, name: Wordy, base_url: "${messages.baseUrl}", api_key: upstream-secret-2, ${policy} }
  ${providers}
models:
  acme/chat: { endpoints: [{ provider: chatty, model: one-2026, price: ${price} }] }
  acme/messages: { endpoints: [{ provider: wordy, model: claude-sonnet-4-6, price: ${price} }] }
${yaml}`,
  });
  t.after(async () => {
    await gateway.close();
    await chat.close();
    await messages.close();
  });
  return { gateway, chat, messages };
}

async function speak(
  format: 'chat' | 'messages',
  model: Model,
  { arrived: all }: ScriptedUpstream,
  [arrived, response, request]: Parameters<Script>,
): Promise<void> {
  const stated = model(arrived, all.length - 1);
  const script = typeof stated === 'function' ? stated : emit(format, stated, arrived.body['stream'] === true);
  await script(arrived, response, request);
}

/** One turn in a wire format, streamed or whole. */
export function emit(format: 'chat' | 'messages', stated: Stated, isStream: boolean): Script {
  if (format === 'chat') return isStream ? stream(chatTurnStream(stated)) : json(200, chatTurn(stated));
  return isStream ? stream(messagesTurnStream(stated)) : json(200, messagesTurn(stated));
}

function chatCalls({ calls = [] }: Stated): readonly object[] {
  return calls.map(({ id, name, input = '{}' }, index) => ({
    index,
    id: id ?? `call_${index}`,
    type: 'function',
    function: { name, arguments: input },
  }));
}

function chatUsage({ promptTokens = 10, completionTokens = 5 }: Stated): object {
  return {
    prompt_tokens: promptTokens,
    completion_tokens: completionTokens,
    total_tokens: promptTokens + completionTokens,
  };
}

function chatFinish({ calls = [], finish }: Stated): string {
  return finish ?? (calls.length > 0 ? 'tool_calls' : 'stop');
}

function chatTurn(stated: Stated): object {
  const calls = chatCalls(stated);
  const message = {
    role: 'assistant',
    content: stated.text ?? null,
    ...(stated.thinking !== undefined && { reasoning_content: stated.thinking }),
    ...(calls.length > 0 && { tool_calls: calls }),
  };
  return {
    id: 'chatcmpl-1',
    object: 'chat.completion',
    created: 1_700_000_000,
    model: 'one-2026',
    choices: [{ index: 0, message, finish_reason: chatFinish(stated) }],
    usage: chatUsage(stated),
  };
}

function chatTurnStream(stated: Stated): string {
  return sse([
    chatChunk({ role: 'assistant', content: '' }),
    ...(stated.thinking === undefined ? [] : [chatChunk({ reasoning_content: stated.thinking })]),
    ...(stated.text ?? '').split(/(?<= )/).map((word) => chatChunk({ content: word })),
    ...chatCalls(stated).map((call) => chatChunk({ tool_calls: [call] })),
    chatChunk({}, chatFinish(stated)),
    { ...chatChunk({}), choices: [], usage: chatUsage(stated) },
    '[DONE]',
  ]);
}

function messagesBlocks(stated: Stated): readonly Record<string, unknown>[] {
  const { thinking, text, calls = [] } = stated;
  return [
    ...(thinking === undefined ? [] : [{ type: 'thinking', thinking, signature: `signed(${thinking})` }]),
    ...(text === undefined ? [] : [{ type: 'text', text }]),
    ...calls.map(({ id, name, input = '{}' }, index) => ({
      type: 'tool_use',
      id: id ?? `toolu_${index}`,
      name,
      input: JSON.parse(input) as unknown,
    })),
  ];
}

function messagesUsage({ promptTokens = 10, completionTokens = 5 }: Stated): object {
  return {
    input_tokens: promptTokens,
    output_tokens: completionTokens,
    cache_creation_input_tokens: 0,
    cache_read_input_tokens: 0,
  };
}

function messagesTurn(stated: Stated): object {
  return {
    id: 'msg_1',
    type: 'message',
    role: 'assistant',
    model: 'claude-sonnet-4-6',
    content: messagesBlocks(stated),
    stop_reason: stated.finish ?? ((stated.calls ?? []).length > 0 ? 'tool_use' : 'end_turn'),
    stop_sequence: null,
    usage: messagesUsage(stated),
  };
}

function messagesTurnStream(stated: Stated): string {
  const { content: _content, stop_reason: stop, usage, ...message } = messagesTurn(stated) as Record<string, unknown>;
  const start = { ...message, content: [], stop_reason: null, usage: { ...(usage as object), output_tokens: 1 } };
  return sse(
    [
      { type: 'message_start', message: start },
      ...messagesBlocks(stated).flatMap((block, index) => streamedBlock(block, index)),
      { type: 'message_delta', delta: { stop_reason: stop, stop_sequence: null }, usage },
      { type: 'message_stop' },
    ],
    { named: true },
  );
}

function streamedBlock(block: Record<string, unknown>, index: number): readonly object[] {
  const delta = (value: object): object => ({ type: 'content_block_delta', index, delta: value });
  const open = (content: object): object => ({ type: 'content_block_start', index, content_block: content });
  const stop = { type: 'content_block_stop', index };
  const { type, text, thinking, signature, input, ...rest } = block;
  if (type === 'text') return [open({ type, text: '' }), delta({ type: 'text_delta', text }), stop];
  if (type === 'thinking')
    return [
      open({ type, thinking: '', signature: '' }),
      delta({ type: 'thinking_delta', thinking }),
      delta({ type: 'signature_delta', signature }),
      stop,
    ];
  const json_ = JSON.stringify(input);
  return [
    open({ type, ...rest, input: {} }),
    delta({ type: 'input_json_delta', partial_json: json_.slice(0, 3) }),
    delta({ type: 'input_json_delta', partial_json: json_.slice(3) }),
    stop,
  ];
}

export interface Asking {
  /** Of the caller. */
  readonly format: 'chat' | 'messages';
  readonly stream: boolean;
  /** `acme/chat` or `acme/messages`. */
  readonly model: string;
}

/** Every format of the caller with every format of the upstream, streamed and whole. */
export const ASKINGS: readonly Asking[] = (['chat', 'messages'] as const).flatMap((format) =>
  ['acme/chat', 'acme/messages'].flatMap((model) =>
    [true, false].map((isStream) => ({ format, model, stream: isStream })),
  ),
);

export function nameOf({ format, stream: isStream, model }: Asking): string {
  return `${format} caller, ${model}, ${isStream ? 'stream' : 'whole'}`;
}

/** Asks as a caller does, and reads the answer as a client does. */
export async function ask(
  { gateway }: Pick<ToolTurns, 'gateway'>,
  { format, stream: isStream, model }: Asking,
  body: object,
  headers: Record<string, string> = {},
): Promise<Reported & { readonly id: string; readonly status: number }> {
  const path = format === 'chat' ? '/chat/completions' : '/messages';
  const answer = await gateway.post(
    path,
    {
      model,
      stream: isStream,
      messages: [{ role: 'user', content: 'Go.' }],
      ...(format === 'messages' && { max_tokens: 1_000 }),
      ...body,
    },
    headers,
  );
  const text = await answer.text();
  const reported = readReported(
    { text, contentType: answer.headers.get('content-type') ?? '', status: answer.status } as Parameters<
      typeof readReported
    >[0],
    { format, stream: isStream },
  );
  return { ...reported, id: answer.headers.get('x-generation-id') ?? '', status: answer.status };
}

/** The record of a generation, which may be stored a moment after its answer. */
export async function recordOf({ app }: RunningGateway, id: string) {
  for (let tries = 0; tries < 100; tries++) {
    const record = await app.generations.find(id);
    if (record !== undefined) return record;
    await wait(20);
  }
  throw new Error(`no record of ${id}`);
}

const anything = z.looseObject({});

/** A server tool that does what the test says. */
export function testTool(
  name: string,
  run: (call: ToolCall<Readonly<Record<string, unknown>>>, context: ToolContext) => Promise<ToolOutcome>,
  more: Partial<ServerTool> = {},
): ServerTool {
  return {
    type: `service:${name}`,
    summary: 'Of a test.',
    parameters: anything,
    describe: () => ({ description: `Does what ${name} does.`, arguments: anything }),
    open: (_parameters, context) => ({ run: (call) => run(call, context) }),
    ...more,
  };
}
