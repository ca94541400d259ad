import { TransportError } from '../../lib/net/http-client.ts';
import type { HttpClient, InboundAnswer } from '../../lib/net/http-client.ts';
import { parseJsonObject } from '../../lib/json.ts';
import { createSseParser } from '../../lib/net/sse.ts';
import { CHAT_FORMATS, messageOf, type ChatFormatId, type ChatMessage } from './chat-formats.ts';

export interface ChatTarget {
  /** With or without `/v1` at its end. */
  readonly url: URL;
  readonly key: string;
  readonly model: string;
  readonly format: ChatFormatId;
  /** The response comes in pieces. */
  readonly streams: boolean;
}

export interface ChatSink {
  onText(text: string): void;
  onReasoning(text: string): void;
}

/** How an answer ended, with the text that had come. `message` is a sentence. */
export type ChatOutcome =
  | { readonly kind: 'done' | 'aborted'; readonly text: string }
  | { readonly kind: 'failed'; readonly text: string; readonly message: string };

export interface AskOptions {
  readonly client: HttpClient;
  readonly target: ChatTarget;
  readonly messages: readonly ChatMessage[];
  readonly sink: ChatSink;
  /** Stops the answer at once. */
  readonly signal: AbortSignal;
}

const CONNECT_TIMEOUT_MS = 5_000;
const ERROR_BODY_BYTES_MAX = 1_048_576;
/** Of a response that is not streamed. Texts are far smaller; pictures and sealed reasoning are in it, too. */
const WHOLE_BYTES_MAX = 64 * 1_048_576;

/** Sends one conversation and hands on what comes back. Never throws for what the gateway or the network does. */
export async function callGateway(options: AskOptions): Promise<ChatOutcome> {
  const { client, target, messages, signal } = options;
  const format = CHAT_FORMATS[target.format];
  const call = client.call({
    origin: target.url.origin,
    path: `${target.url.pathname.replace(/\/(?:v1\/?)?$/, '')}/v1${format.path}`,
    method: 'POST',
    headers: { authorization: `Bearer ${target.key}`, 'content-type': 'application/json' },
    body: JSON.stringify({ ...format.body(target.model, messages), stream: target.streams }),
    connectTimeoutMs: CONNECT_TIMEOUT_MS,
  });
  const stop = (): void => call.cancel();
  signal.addEventListener('abort', stop, { once: true });
  const reader = (target.streams ? createReader : createWholeReader)(target.format, options.sink);
  try {
    const answer = await call.answer;
    if (answer.status !== 200) return { kind: 'failed', text: '', message: await readRefusal(answer) };
    for (let bytes = await answer.read(); bytes !== undefined; bytes = await answer.read()) reader.push(bytes);
    return reader.end();
  } catch (error) {
    if (signal.aborted) return { kind: 'aborted', text: reader.text() };
    if (error instanceof TransportError || error instanceof RangeError)
      return { kind: 'failed', text: reader.text(), message: formatTransportError(error, target.url) };
    throw error;
  } finally {
    signal.removeEventListener('abort', stop);
  }
}

interface Reader {
  push(bytes: Uint8Array): void;
  end(): ChatOutcome;
  text(): string;
}

function createReader(format: ChatFormatId, sink: ChatSink): Reader {
  let text = '';
  let isComplete = false;
  let failure: string | undefined;
  const parser = createSseParser({
    onEvent(data) {
      if (data === '[DONE]') isComplete = true;
      const chunk = parseJsonObject(data);
      if (chunk === undefined) return;
      const piece = CHAT_FORMATS[format].read(chunk);
      if (piece.failure !== undefined) failure = `The response broke off: ${piece.failure}`;
      if (piece.reasoning !== undefined) sink.onReasoning(piece.reasoning);
      if (piece.text === undefined) return;
      text += piece.text;
      sink.onText(piece.text);
    },
  });
  return {
    push: (bytes) => parser.push(bytes),
    text: () => text,
    end() {
      parser.end();
      if (failure === undefined && !isComplete) failure = 'The response broke off before its end.';
      return failure === undefined ? { kind: 'done', text } : { kind: 'failed', text, message: failure };
    },
  };
}

function createWholeReader(format: ChatFormatId, sink: ChatSink): Reader {
  const parts: Uint8Array[] = [];
  let bytes = 0;
  return {
    push(part) {
      bytes += part.length;
      if (bytes > WHOLE_BYTES_MAX) throw new RangeError('the response is too large');
      parts.push(part);
    },
    text: () => '',
    end() {
      const response = parseJsonObject(Buffer.concat(parts).toString('utf8'));
      if (response === undefined) return { kind: 'failed', text: '', message: 'The response is not complete.' };
      const { text = '', reasoning, failure } = CHAT_FORMATS[format].readWhole(response);
      if (reasoning !== undefined) sink.onReasoning(reasoning);
      if (text !== '') sink.onText(text);
      if (failure === undefined) return { kind: 'done', text };
      return { kind: 'failed', text, message: `The response broke off: ${failure}` };
    },
  };
}

async function readRefusal(answer: InboundAnswer): Promise<string> {
  const parts: Uint8Array[] = [];
  let bytes = 0;
  for (let part = await answer.read(); part !== undefined; part = await answer.read()) {
    bytes += part.length;
    if (bytes > ERROR_BODY_BYTES_MAX) break;
    parts.push(part);
  }
  const message = messageOf(parseJsonObject(Buffer.concat(parts).toString('utf8')));
  return `The gateway answered ${answer.status}: ${message ?? 'no reason given'}`;
}

function formatTransportError(error: Error, url: URL): string {
  if (error instanceof RangeError) return 'The response broke off: it, or one event of it, was too large.';
  const isUnreachable = error instanceof TransportError && error.kind.startsWith('connect');
  if (isUnreachable) return `No gateway responds at ${url.origin}. Start one with: npm start`;
  return 'The response broke off: the connection was lost.';
}
