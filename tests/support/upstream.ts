import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

/** What arrived at an upstream. */
export interface Arrived {
  readonly path: string;
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  /** The parsed JSON body. */
  readonly body: Record<string, unknown>;
  readonly text: string;
}

export type Script = (arrived: Arrived, response: ServerResponse, request: IncomingMessage) => void | Promise<void>;

export interface ScriptedUpstream {
  /** `http://127.0.0.1:PORT/v1`. */
  readonly baseUrl: string;
  /** Everything that arrived, oldest first. */
  readonly arrived: Arrived[];
  /** What the next requests get. */
  script: Script;
  close(): Promise<void>;
}

/** A real HTTP server on loopback that answers as the test says. */
export async function startUpstream(script: Script): Promise<ScriptedUpstream> {
  const arrived: Arrived[] = [];
  const server = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () => {
      const text = Buffer.concat(chunks).toString('utf8');
      const one: Arrived = {
        path: request.url ?? '',
        headers: request.headers,
        body: JSON.parse(text) as Record<string, unknown>,
        text,
      };
      arrived.push(one);
      void upstream.script(one, response, request);
    });
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const upstream: ScriptedUpstream = {
    baseUrl: `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1`,
    arrived,
    script,
    async close() {
      server.closeAllConnections();
      await new Promise((closed) => server.close(closed));
    },
  };
  return upstream;
}

/** Answers with JSON. */
export function json(status: number, body: unknown, headers: Record<string, string> = {}): Script {
  return (_arrived, response) => {
    response.writeHead(status, { 'content-type': 'application/json', ...headers });
    response.end(JSON.stringify(body));
  };
}

/** Answers with an event stream: each entry is written as one `data:` event, with `event:` where its JSON has a `type`. */
export function sse(events: readonly (object | string)[], { named = false } = {}): string {
  return events
    .map((event) => {
      const data = typeof event === 'string' ? event : JSON.stringify(event);
      const name = named && typeof event === 'object' && 'type' in event ? `event: ${String(event.type)}\n` : '';
      return `${name}data: ${data}\n\n`;
    })
    .join('');
}

export function stream(text: string): Script {
  return (_arrived, response) => {
    response.writeHead(200, { 'content-type': 'text/event-stream' });
    response.end(text);
  };
}

/** A chunk of the chat format. */
export function chatChunk(delta: object, finish: string | null = null, more: object = {}): object {
  return {
    id: 'chatcmpl-1',
    object: 'chat.completion.chunk',
    created: 1_700_000_000,
    model: 'one-2026',
    choices: [{ index: 0, delta, finish_reason: finish }],
    ...more,
  };
}

/** A complete chat stream that says `text`. */
export function chatStream(text: string): string {
  return sse([
    chatChunk({ role: 'assistant', content: '' }),
    ...text.split(/(?<= )/).map((word) => chatChunk({ content: word })),
    chatChunk({}, 'stop'),
    {
      id: 'chatcmpl-1',
      object: 'chat.completion.chunk',
      created: 1_700_000_000,
      model: 'one-2026',
      choices: [],
      usage: { prompt_tokens: 10, completion_tokens: 5, total_tokens: 15 },
    },
    '[DONE]',
  ]);
}

/** A whole chat answer that says `text`. */
export function chatAnswer(text: string, more: object = {}): object {
  return {
    id: 'chatcmpl-1',
    object: 'chat.completion',
    created: 1_700_000_000,
    model: 'one-2026',
    choices: [{ index: 0, message: { role: 'assistant', content: text }, finish_reason: 'stop' }],
    usage: { prompt_tokens: 10, completion_tokens: 5, total_tokens: 15 },
    ...more,
  };
}

/** A complete messages stream that says `text`. */
export function messagesStream(text: string): string {
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
          usage: { input_tokens: 10, output_tokens: 1, cache_creation_input_tokens: 0, cache_read_input_tokens: 0 },
        },
      },
      { type: 'ping' },
      { type: 'content_block_start', index: 0, content_block: { type: 'text', text: '' } },
      ...text
        .split(/(?<= )/)
        .map((word) => ({ type: 'content_block_delta', index: 0, delta: { type: 'text_delta', text: word } })),
      { type: 'content_block_stop', index: 0 },
      { type: 'message_delta', delta: { stop_reason: 'end_turn', stop_sequence: null }, usage: { output_tokens: 5 } },
      { type: 'message_stop' },
    ],
    { named: true },
  );
}

/** A whole messages answer that says `text`. */
export function messagesAnswer(text: string, more: object = {}): object {
  return {
    id: 'msg_1',
    type: 'message',
    role: 'assistant',
    model: 'claude',
    content: [{ type: 'text', text }],
    stop_reason: 'end_turn',
    stop_sequence: null,
    usage: { input_tokens: 10, output_tokens: 5, cache_creation_input_tokens: 0, cache_read_input_tokens: 0 },
    ...more,
  };
}
