import { messagesStream, chatChunk, sse, type Script } from '../upstream.ts';

/** How a stream breaks off. */
export const BREAKS = ['cut', 'error event', 'early end', 'silence', 'garbage'] as const;
export type Break = (typeof BREAKS)[number];

/** To be set as `idle_ms`, so that a silence is noticed. */
export const IDLE_MS = 500;

function words(text: string): readonly string[] {
  return text.split(/(?<=\s)/);
}

/** The beginning of a chat stream that has said `text`. */
export function chatBeginning(text: string): string {
  return sse([chatChunk({ role: 'assistant', content: '' }), ...words(text).map((content) => chatChunk({ content }))]);
}

/** The beginning of a messages stream that has said `text`. */
export function messagesBeginning(text: string): string {
  return messagesStream(text).split('event: content_block_stop')[0] ?? '';
}

const ERROR_EVENTS = {
  chat: sse([{ error: { message: 'internal detail', code: 500 } }]),
  messages: sse([{ type: 'error', error: { type: 'overloaded_error', message: 'internal detail' } }], { named: true }),
};

/** Says `beginning` and then breaks off. */
export function breakingOff(beginning: string, kind: Break, format: 'chat' | 'messages'): Script {
  return (_arrived, response) => {
    response.writeHead(200, { 'content-type': 'text/event-stream' });
    response.write(beginning);
    if (kind === 'error event') response.end(ERROR_EVENTS[format]);
    else if (kind === 'early end') response.end();
    else if (kind === 'cut') setTimeout(() => response.socket?.destroy(), 20);
    else if (kind === 'garbage') setTimeout(() => response.socket?.end('no chunk of HTTP\r\n\r\n'), 20);
  };
}
