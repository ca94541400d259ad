import { once } from 'node:events';
import type { ServerResponse } from 'node:http';
import { setTimeout as wait } from 'node:timers/promises';

import {
  chatAnswer,
  chatChunk,
  json,
  messagesAnswer,
  sse,
  startUpstream,
  type Arrived,
  type Script,
} from '../../tests/support/upstream.ts';
import { FRAMES_OF } from '../servers/mock-formats.ts';

const TALK_EVENTS = 30;
const PACED_EVENTS = 20;
const PACED_GAP_MS = 40;
/** A stream longer than the buffers of sockets on loopback, so that a reader that does not read has an effect. */
const LONG_EVENTS = 12_000;
const LONG_EVENTS_A_WRITE = 64;
const FILLER = 'the quick brown fox jumps over the lazy dog and looks back at the same old fence '.repeat(2);
const USAGE = { prompt_tokens: 20, completion_tokens: 30, total_tokens: 50 };
const CALL = { name: 'get_weather', arguments: '{"city":"Oslo"}' };
const CALL_PIECES = CALL.arguments.split('');

/** The upstream's models, each with a way of its own to answer. */
const SCRIPTS: Readonly<Record<string, Script>> = {
  talk,
  paced,
  long,
  tools,
  cut,
  down: json(500, { error: { message: 'out of order' } }),
  busy: json(429, { error: { message: 'slow down' } }, { 'retry-after': '1' }),
  odd: (_arrived, response) => void response.writeHead(200, { 'content-type': 'text/html' }).end('<h1>Hello</h1>'),
  // Until the caller hangs up.
  silent: () => undefined,
};
export const UPSTREAM_MODELS = Object.keys(SCRIPTS);

export interface SoakUpstream {
  readonly baseUrl: string;
  /** Settles when a request arrives whose text holds this word. */
  arrival(word: string): Promise<void>;
  close(): Promise<void>;
}

/** A provider of both formats that also fails in the ways in which providers fail. */
export async function startSoakUpstream(): Promise<SoakUpstream> {
  const awaited = new Map<string, () => void>();
  const upstream = await startUpstream(async (arrived, response, request) => {
    // A run of half an hour keeps no list of requests.
    upstream.arrived.length = 0;
    response.on('error', () => undefined);
    for (const [word, notify] of awaited) {
      if (!arrived.text.includes(word)) continue;
      awaited.delete(word);
      notify();
    }
    const script = SCRIPTS[String(arrived.body['model'])];
    if (script === undefined) response.writeHead(404, { 'content-type': 'application/json' }).end('{}');
    else await script(arrived, response, request);
  });
  return {
    baseUrl: upstream.baseUrl,
    arrival: (word) => new Promise((resolve) => void awaited.set(word, resolve)),
    close: () => upstream.close(),
  };
}

function isStream({ body }: Arrived): boolean {
  return body['stream'] === true;
}

function isChat({ path }: Arrived): boolean {
  return path.endsWith('/chat/completions');
}

function framesOf(arrived: Arrived, events: number) {
  return (isChat(arrived) ? FRAMES_OF.chat : FRAMES_OF.messages)(events);
}

function openStream(response: ServerResponse): void {
  response.writeHead(200, { 'content-type': 'text/event-stream' });
}

function talk(arrived: Arrived, response: ServerResponse): void {
  if (!isStream(arrived)) {
    const answer = isChat(arrived) ? chatAnswer(FILLER, { usage: USAGE }) : messagesAnswer(FILLER);
    response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(answer));
    return;
  }
  const { opening, delta, closing } = framesOf(arrived, TALK_EVENTS);
  openStream(response);
  const stated = Array.from({ length: TALK_EVENTS }, (_, at) => delta(` w${at}`));
  response.end(Buffer.concat([...opening, ...stated, ...closing]));
}

async function paced(arrived: Arrived, response: ServerResponse): Promise<void> {
  const { opening, delta, closing } = framesOf(arrived, PACED_EVENTS);
  openStream(response);
  response.write(Buffer.concat([...opening]));
  for (let at = 0; at < PACED_EVENTS && !response.destroyed; at++) {
    response.write(delta(` w${at}`));
    await wait(PACED_GAP_MS);
  }
  response.end(Buffer.concat([...closing]));
}

async function long(arrived: Arrived, response: ServerResponse): Promise<void> {
  const { opening, delta, closing } = framesOf(arrived, LONG_EVENTS);
  const piece = Buffer.concat(Array.from({ length: LONG_EVENTS_A_WRITE }, () => delta(FILLER)));
  openStream(response);
  response.write(Buffer.concat([...opening]));
  for (let at = 0; at < LONG_EVENTS && !response.destroyed; at += LONG_EVENTS_A_WRITE) {
    if (response.write(piece)) continue;
    const over = new AbortController();
    await Promise.race([
      once(response, 'drain', { signal: over.signal }),
      once(response, 'close', { signal: over.signal }),
    ]).finally(() => over.abort());
  }
  response.end(Buffer.concat([...closing]));
}

/** Half of a stream, and then the connection breaks. */
async function cut(arrived: Arrived, response: ServerResponse): Promise<void> {
  const { opening, delta } = framesOf(arrived, TALK_EVENTS);
  openStream(response);
  const stated = Array.from({ length: TALK_EVENTS / 2 }, (_, at) => delta(` w${at}`));
  response.write(Buffer.concat([...opening, ...stated]));
  // What was written has left by then.
  await wait(20);
  response.destroy();
}

function tools(arrived: Arrived, response: ServerResponse): void {
  if (isStream(arrived)) {
    openStream(response);
    response.end(isChat(arrived) ? chatToolStream() : messagesToolStream());
    return;
  }
  response.writeHead(200, { 'content-type': 'application/json' });
  response.end(JSON.stringify(isChat(arrived) ? chatToolAnswer() : messagesToolAnswer()));
}

function chatToolAnswer(): object {
  const message = {
    role: 'assistant',
    content: null,
    tool_calls: [{ id: 'call_1', type: 'function', function: CALL }],
  };
  return chatAnswer('', { choices: [{ index: 0, message, finish_reason: 'tool_calls' }], usage: USAGE });
}

function chatToolStream(): string {
  const call = (more: object): object => chatChunk({ tool_calls: [{ index: 0, ...more }] });
  return sse([
    chatChunk({ role: 'assistant', content: null }),
    call({ id: 'call_1', type: 'function', function: { name: CALL.name, arguments: '' } }),
    ...CALL_PIECES.map((piece) => call({ function: { arguments: piece } })),
    chatChunk({}, 'tool_calls'),
    chatChunk({}, null, { choices: [], usage: USAGE }),
    '[DONE]',
  ]);
}

function messagesToolAnswer(): object {
  const content = [{ type: 'tool_use', id: 'toolu_1', name: CALL.name, input: JSON.parse(CALL.arguments) as object }];
  return messagesAnswer('', { content, stop_reason: 'tool_use' });
}

function messagesToolStream(): string {
  const usage = { input_tokens: 20, output_tokens: 1, cache_creation_input_tokens: 0, cache_read_input_tokens: 0 };
  const delta = (text: string): object => ({
    type: 'content_block_delta',
    index: 0,
    delta: { type: 'input_json_delta', partial_json: text },
  });
  return sse(
    [
      { type: 'message_start', message: { ...messagesAnswer('', { content: [], stop_reason: null }), usage } },
      {
        type: 'content_block_start',
        index: 0,
        content_block: { type: 'tool_use', id: 'toolu_1', name: CALL.name, input: {} },
      },
      ...CALL_PIECES.map(delta),
      { type: 'content_block_stop', index: 0 },
      { type: 'message_delta', delta: { stop_reason: 'tool_use', stop_sequence: null }, usage: { output_tokens: 30 } },
      { type: 'message_stop' },
    ],
    { named: true },
  );
}
