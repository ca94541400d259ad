import { createServer, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

/** A dot. */
export const PICTURE =
  'data:image/png;base64,iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==';
const LONG_CHARS = 200_000;

export interface Upstream {
  readonly port: number;
  readonly close: () => void;
  /** When each response that never ends was cut. */
  readonly cuts: number[];
}

/** A provider whose models are named by what they do. */
export async function startUpstream(): Promise<Upstream> {
  const cuts: number[] = [];
  const server = createServer((request, response) => {
    let body = '';
    request.setEncoding('utf8').on('data', (text: string) => (body += text));
    request.on('end', () => {
      response.writeHead(200, { 'content-type': 'text/event-stream' });
      const model = /"model":"(\w+)"/.exec(body)?.[1] ?? '';
      if (request.url?.endsWith('/messages') === true) sayHello(response);
      else if (model === 'endless') {
        write(response, { content: 'On and on' });
        response.on('close', () => cuts.push(Date.now()));
      } else if (model === 'draws')
        finish(response, [{ images: [{ type: 'image_url', image_url: { url: PICTURE } }] }]);
      else finish(response, model === 'long' ? longPieces() : [{ content: `I am ${model}.` }]);
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  return { port, close: () => server.close(), cuts };
}

function write(response: ServerResponse, delta: object, more: object = {}): void {
  const choices = [{ index: 0, delta, ...more }];
  response.write(`data: ${JSON.stringify({ id: 'c', object: 'chat.completion.chunk', choices })}\n\n`);
}

function finish(response: ServerResponse, deltas: readonly object[]): void {
  for (const delta of deltas) write(response, delta);
  write(response, {}, { finish_reason: 'stop' });
  const usage = { prompt_tokens: 100, completion_tokens: 10, total_tokens: 110 };
  response.end(
    `data: ${JSON.stringify({ id: 'c', object: 'chat.completion.chunk', choices: [], usage })}\n\ndata: [DONE]\n\n`,
  );
}

/** Markdown of many blocks, in the small pieces of a stream. */
function longPieces(): readonly object[] {
  const block = '## A heading\n\nSome **bold** text with `code` and a [link](https://example.com).\n\n- one\n- two\n\n';
  const text = block.repeat(Math.ceil(LONG_CHARS / block.length)) + 'The very end.';
  return (text.match(/[\s\S]{1,40}/g) ?? []).map((content) => ({ content }));
}

function sayHello(response: ServerResponse): void {
  const events = [
    {
      type: 'message_start',
      message: {
        id: 'm',
        type: 'message',
        role: 'assistant',
        model: 'one',
        content: [],
        stop_reason: null,
        usage: { input_tokens: 100, output_tokens: 1 },
      },
    },
    { type: 'content_block_start', index: 0, content_block: { type: 'text', text: '' } },
    { type: 'content_block_delta', index: 0, delta: { type: 'text_delta', text: 'Hello' } },
    { type: 'content_block_stop', index: 0 },
    { type: 'message_delta', delta: { stop_reason: 'end_turn' }, usage: { output_tokens: 10 } },
    { type: 'message_stop' },
  ];
  response.end(events.map((event) => `event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`).join(''));
}
