import { isJsonObject, type JsonObject } from '../../lib/json.ts';

export interface ChatMessage {
  readonly role: 'user' | 'assistant';
  readonly content: string;
}

/** What one event of a stream holds. */
export interface ChatPiece {
  readonly text?: string;
  readonly reasoning?: string;
  /** Why the response broke off. */
  readonly failure?: string;
}

/** A format in which the command line talks to a gateway. */
interface ChatFormat {
  /** Below the version of the API. */
  readonly path: string;
  body(model: string, messages: readonly ChatMessage[]): JsonObject;
  read(event: JsonObject): ChatPiece;
  /** Of a response that came as a whole. */
  readWhole(response: JsonObject): ChatPiece;
}

export const CHAT_FORMATS = {
  chat: {
    path: '/chat/completions',
    body: (model, messages) => ({ model, messages: messages.map((message) => ({ ...message })) }),
    read: readChunk,
    readWhole: readCompletion,
  },
  responses: {
    path: '/responses',
    // The conversation is sent with every turn: nothing need be kept.
    body: (model, messages) => ({
      model,
      input: messages.map((message) => ({ ...message })),
      store: false,
    }),
    read: readEvent,
    readWhole: readResponse,
  },
} as const satisfies Readonly<Record<string, ChatFormat>>;
export type ChatFormatId = keyof typeof CHAT_FORMATS;

function readChunk(chunk: JsonObject): ChatPiece {
  return readMessage(chunk, 'delta');
}

function readCompletion(response: JsonObject): ChatPiece {
  return readMessage(response, 'message');
}

function readMessage(chunk: JsonObject, member: 'delta' | 'message'): ChatPiece {
  const choices = chunk['choices'];
  const choice: unknown = Array.isArray(choices) ? choices[0] : undefined;
  const delta = isJsonObject(choice) && isJsonObject(choice[member]) ? choice[member] : {};
  // Ours is `reasoning`; the other spelling is for a provider that is called without the gateway.
  const reasoning = delta['reasoning'] ?? delta['reasoning_content'];
  return {
    ...textAs('text', delta['content']),
    ...textAs('reasoning', reasoning),
    ...(isJsonObject(chunk['error']) && { failure: messageOf(chunk) ?? 'no reason given' }),
  };
}

function readEvent(event: JsonObject): ChatPiece {
  const { type, delta, response } = event;
  if (type === 'response.output_text.delta' || type === 'response.refusal.delta') return textAs('text', delta);
  if (type === 'response.reasoning_text.delta' || type === 'response.reasoning_summary_text.delta')
    return textAs('reasoning', delta);
  if (type !== 'response.failed') return {};
  return { failure: messageOf(isJsonObject(response) ? response : undefined) ?? 'no reason given' };
}

function readResponse(response: JsonObject): ChatPiece {
  const { output, status } = response;
  const items = objectsOf(output);
  const textsOf = (type: string, member: string): string =>
    items.flatMap((item) => (item['type'] === type ? objectsOf(item[member]).map(textOfPart) : [])).join('');
  return {
    ...textAs('reasoning', textsOf('reasoning', 'summary') || textsOf('reasoning', 'content')),
    ...textAs('text', textsOf('message', 'content')),
    ...(status === 'failed' && { failure: messageOf(response) ?? 'no reason given' }),
  };
}

function objectsOf(value: unknown): readonly JsonObject[] {
  return Array.isArray(value) ? value.filter(isJsonObject) : [];
}

function textOfPart({ text, refusal }: JsonObject): string {
  return typeof text === 'string' ? text : typeof refusal === 'string' ? refusal : '';
}

function textAs(name: 'text' | 'reasoning', value: unknown): ChatPiece {
  return typeof value === 'string' && value !== '' ? { [name]: value } : {};
}

/** The sentence of an error, in the body of any format. */
export function messageOf(body: JsonObject | undefined): string | undefined {
  const error = body?.['error'];
  const message = isJsonObject(error) ? error['message'] : undefined;
  return typeof message === 'string' ? message : undefined;
}
