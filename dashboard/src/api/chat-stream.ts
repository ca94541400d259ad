import { ApiError, asApiError, isRecord } from './errors.ts';
import { readServerSentEvents } from './sse.ts';
import { API_ROOT, openStream } from './transport.ts';

export interface ChatMessage {
  readonly role: 'system' | 'user' | 'assistant' | 'tool';
  readonly content: string | readonly unknown[] | null;
  readonly tool_calls?: readonly ToolCall[];
  readonly tool_call_id?: string;
}

export interface ToolCall {
  readonly id: string;
  readonly type: 'function';
  readonly function: { readonly name: string; readonly arguments: string };
}

/** What has arrived of one response so far. */
export interface ChatResponse {
  readonly id: string | undefined;
  readonly text: string;
  readonly reasoning: string;
  readonly toolCalls: readonly ToolCall[];
  /** Addresses of pictures that the model made. */
  readonly images: readonly string[];
  readonly finish: string | undefined;
  readonly usage: ChatUsage | undefined;
  readonly model: string | undefined;
  readonly provider: string | undefined;
  /** From the click to the first token, and to the end. */
  readonly firstMs: number | undefined;
  readonly totalMs: number | undefined;
  readonly error: ApiError | undefined;
  readonly metadata: unknown;
  /** The body that was sent. */
  readonly sent: Readonly<Record<string, unknown>> | undefined;
  /** What the gateway sent on, for each attempt, in their order. */
  readonly upstream: readonly UpstreamBody[];
}

interface UpstreamBody {
  readonly provider: string | undefined;
  readonly body: unknown;
}

interface ChatUsage {
  readonly promptTokens: number;
  readonly completionTokens: number;
  readonly costUsd: number | undefined;
}

export const NO_RESPONSE: ChatResponse = {
  id: undefined,
  text: '',
  reasoning: '',
  toolCalls: [],
  images: [],
  finish: undefined,
  usage: undefined,
  model: undefined,
  provider: undefined,
  firstMs: undefined,
  totalMs: undefined,
  error: undefined,
  metadata: undefined,
  sent: undefined,
  upstream: [],
};

/**
 * Sends one request, and reports the response as it grows.
 * @param onChange is called with each event; the view decides how often it renders
 */
export async function streamChat(
  body: Readonly<Record<string, unknown>>,
  signal: AbortSignal,
  onChange: (response: ChatResponse) => void,
): Promise<void> {
  const beginMs = performance.now();
  let response: ChatResponse = { ...NO_RESPONSE, sent: body };
  const change = (patch: Partial<ChatResponse>): void => {
    response = { ...response, ...patch };
    onChange(response);
  };
  try {
    const stream = await openStream(`${API_ROOT}/chat/completions`, {
      method: 'POST',
      signal,
      headers: { 'Content-Type': 'application/json', 'X-Service-Metadata': 'enabled' },
      body: JSON.stringify({
        ...body,
        stream: true,
        stream_options: { include_usage: true },
        debug: { echo_upstream_body: true },
      }),
    });
    for await (const event of readChunks(stream)) {
      const isFirst = response.firstMs === undefined && hasContent(event);
      change({ ...readChunk(event, response), ...(isFirst && { firstMs: performance.now() - beginMs }) });
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

async function* readChunks({ body }: Response): AsyncGenerator<Readonly<Record<string, unknown>>> {
  if (body === null) return;
  for await (const { data } of readServerSentEvents(body)) {
    if (data === '[DONE]') continue;
    const value: unknown = JSON.parse(data);
    if (isRecord(value)) yield value;
  }
}

function hasContent(event: Readonly<Record<string, unknown>>): boolean {
  const delta = deltaOf(event);
  return ['content', 'reasoning', 'tool_calls', 'images'].some(
    (name) => delta[name] !== undefined && delta[name] !== null && delta[name] !== '',
  );
}

function deltaOf(event: Readonly<Record<string, unknown>>): Readonly<Record<string, unknown>> {
  const [choice] = Array.isArray(event['choices']) ? event['choices'] : [];
  return isRecord(choice) && isRecord(choice['delta']) ? choice['delta'] : {};
}

function readChunk(event: Readonly<Record<string, unknown>>, before: ChatResponse): Partial<ChatResponse> {
  if (isRecord(event['error']))
    throw new ApiError(
      Number(event['error']['code']) || 502,
      textOf(event['error']['message']) ?? 'The stream broke off.',
    );
  const delta = deltaOf(event);
  const [choice] = Array.isArray(event['choices']) ? event['choices'] : [];
  const finish = isRecord(choice) ? textOf(choice['finish_reason']) : undefined;
  return {
    id: textOf(event['id']) ?? before.id,
    model: textOf(event['model']) ?? before.model,
    provider: textOf(event['provider']) ?? before.provider,
    text: before.text + (textOf(delta['content']) ?? ''),
    reasoning: before.reasoning + (textOf(delta['reasoning']) ?? textOf(delta['reasoning_content']) ?? ''),
    toolCalls: Array.isArray(delta['tool_calls']) ? addCalls(before.toolCalls, delta['tool_calls']) : before.toolCalls,
    finish: finish ?? before.finish,
    usage: readUsage(event['usage']) ?? before.usage,
    metadata: event['service_metadata'] ?? before.metadata,
    images: [...before.images, ...imagesOf(delta['images'])],
    upstream: isRecord(event['debug'])
      ? [...before.upstream, { provider: textOf(event['provider']), body: event['debug']['echo_upstream_body'] }]
      : before.upstream,
  };
}

function imagesOf(value: unknown): readonly string[] {
  if (!Array.isArray(value)) return [];
  return value
    .filter(isRecord)
    .flatMap(({ image_url: image }) => (isRecord(image) ? (textOf(image['url']) ?? []) : []));
}

/** Calls come in pieces: each names its place in the list. */
function addCalls(before: readonly ToolCall[], pieces: readonly unknown[]): readonly ToolCall[] {
  const calls = [...before];
  for (const piece of pieces.filter(isRecord)) {
    const at = typeof piece['index'] === 'number' ? piece['index'] : calls.length;
    const part = isRecord(piece['function']) ? piece['function'] : {};
    const known = calls[at];
    calls[at] = {
      id: textOf(piece['id']) ?? known?.id ?? '',
      type: 'function',
      function: {
        name: (known?.function.name ?? '') + (textOf(part['name']) ?? ''),
        arguments: (known?.function.arguments ?? '') + (textOf(part['arguments']) ?? ''),
      },
    };
  }
  return calls;
}

function readUsage(value: unknown): ChatUsage | undefined {
  if (!isRecord(value)) return undefined;
  return {
    promptTokens: Number(value['prompt_tokens']) || 0,
    completionTokens: Number(value['completion_tokens']) || 0,
    costUsd: typeof value['cost'] === 'number' ? value['cost'] : undefined,
  };
}

function textOf(value: unknown): string | undefined {
  return typeof value === 'string' && value !== '' ? value : undefined;
}
