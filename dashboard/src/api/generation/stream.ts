import { asApiError, isRecord } from '../errors.ts';
import { readServerSentEvents } from '../sse.ts';
import { API_ROOT, openStream } from '../transport.ts';
import { readChatEvent } from './read-chat.ts';
import { readMessagesEvent } from './read-messages.ts';
import { readResponsesEvent } from './read-responses.ts';
import { NO_RESPONSE, type ChatResponse, type Format, type ReadEvent, type StreamEvent } from './response.ts';

interface Route {
  readonly path: string;
  readonly open: (init: RequestInit) => Promise<Response>;
  /** What the body of a stream has beside. */
  readonly more: object;
  readonly read: ReadEvent;
}

const ROUTES: Readonly<Record<Format, Route>> = {
  chat: {
    path: '/chat/completions',
    open: (init) => openStream(`${API_ROOT}/chat/completions`, { method: 'POST', ...init }),
    more: { stream_options: { include_usage: true } },
    read: readChatEvent,
  },
  messages: {
    path: '/messages',
    open: (init) => openStream(`${API_ROOT}/messages`, { method: 'POST', ...init }),
    more: {},
    read: readMessagesEvent,
  },
  responses: {
    path: '/responses',
    open: (init) => openStream(`${API_ROOT}/responses`, { method: 'POST', ...init }),
    more: {},
    read: readResponsesEvent,
  },
};

export function pathOf(format: Format): string {
  return ROUTES[format].path;
}

/**
 * Sends one request, and reports the response as it grows.
 * @param body in its format
 * @param onChange is called with each event; the view decides how often it renders
 */
export async function streamGeneration(
  format: Format,
  body: Readonly<Record<string, unknown>>,
  signal: AbortSignal,
  onChange: (response: ChatResponse) => void,
): Promise<void> {
  const { open, more, read } = ROUTES[format];
  const beginMs = performance.now();
  let response: ChatResponse = { ...NO_RESPONSE, sent: body };
  const change = (patch: Partial<ChatResponse>): void => {
    response = { ...response, ...patch };
    onChange(response);
  };
  try {
    const stream = await open({
      signal,
      headers: { 'Content-Type': 'application/json', 'X-Service-Metadata': 'enabled' },
      body: JSON.stringify({ ...body, stream: true, ...more, debug: { echo_upstream_body: true } }),
    });
    change({ id: stream.headers.get('x-generation-id') ?? undefined });
    for await (const event of readEvents(stream)) {
      const patch = read(event, response);
      const isFirst = response.firstMs === undefined && addsContent(patch, response);
      change({ ...patch, ...(isFirst && { firstMs: performance.now() - beginMs }) });
    }
    change({ totalMs: performance.now() - beginMs });
  } catch (error) {
    const isStopped = signal.aborted;
    change({
      totalMs: performance.now() - beginMs,
      ...(isStopped ? { finish: 'stopped' } : { error: asApiError(error) }),
    });
  }
}

async function* readEvents({ body }: Response): AsyncGenerator<StreamEvent> {
  if (body === null) return;
  for await (const { data } of readServerSentEvents(body)) {
    if (data === '[DONE]') continue;
    const value: unknown = JSON.parse(data);
    if (isRecord(value)) yield value;
  }
}

function addsContent(patch: Partial<ChatResponse>, before: ChatResponse): boolean {
  return (['text', 'reasoning', 'toolCalls', 'images'] as const).some(
    (name) => (patch[name]?.length ?? 0) > before[name].length,
  );
}
