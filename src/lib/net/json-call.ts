import { NoMemoryError, type GrowingBytes } from '../memory/growing-bytes.ts';
import type { HttpClient, InboundAnswer } from './http-client.ts';
import { parseJson, type Json } from '../json.ts';

export interface JsonRequest {
  readonly method: 'GET' | 'POST' | 'DELETE';
  readonly url: URL;
  readonly headers: Readonly<Record<string, string>>;
  /** Sent as JSON. */
  readonly body?: Json | undefined;
  /** Instead of `body`, where it is serialized already: JSON in UTF-8. */
  readonly bodyBytes?: Uint8Array | undefined;
}

export interface JsonAnswer {
  readonly status: number;
  /** `undefined`: the response is not JSON. */
  readonly body: Json | undefined;
}

export interface JsonCallLimits {
  /** From the call to the last byte. */
  readonly timeoutMs: number;
  /** Size of the response. */
  readonly bytesMax: number;
  /** The memory budget of the response while it arrives. Absent: no limit. */
  readonly memory?: Pick<GrowingBytes, 'hold'> | undefined;
}

/** The service did not answer in time, or not completely. The message is safe to show and lacks a subject: "did not answer in time". */
export class JsonCallError extends Error {
  constructor(message: string, options?: ErrorOptions) {
    super(message, options);
    this.name = 'JsonCallError';
  }
}

const CONNECT_MS = 5_000;
/** The response exists three times for a moment: in pieces, as text, and parsed. */
const COPIES = 3;

/**
 * Sends JSON to an address of the operator's choice and returns the response, whatever its status.
 * @throws JsonCallError, also when `signal` aborts
 */
export async function callJson(
  http: HttpClient,
  { method, url, headers, body, bodyBytes }: JsonRequest,
  limits: JsonCallLimits,
  signal: AbortSignal,
): Promise<JsonAnswer> {
  if (signal.aborted) throw new JsonCallError('was not called: the request has ended');
  const sent = bodyBytes ?? (body === undefined ? undefined : JSON.stringify(body));
  const call = http.call({
    origin: url.origin,
    path: url.pathname + url.search,
    method,
    headers: {
      accept: 'application/json',
      'user-agent': 'model-gateway',
      ...(sent !== undefined && { 'content-type': 'application/json' }),
      ...headers,
    },
    ...(sent !== undefined && { body: sent }),
    connectTimeoutMs: CONNECT_MS,
  });
  let reason = 'could not be reached';
  const stop = (why: string): void => {
    reason = why;
    call.cancel();
  };
  const onAbort = (): void => stop('was abandoned: the request has ended');
  const timer = setTimeout(stop, limits.timeoutMs, 'did not answer in time');
  signal.addEventListener('abort', onAbort, { once: true });
  try {
    const answer = await call.answer;
    const text = await readText(answer, limits);
    return { status: answer.status, body: parseJson(text) };
  } catch (error) {
    if (error instanceof JsonCallError) throw error;
    if (error instanceof NoMemoryError)
      throw new JsonCallError('answered with more than there is memory for now', { cause: error });
    throw new JsonCallError(reason, { cause: error });
  } finally {
    clearTimeout(timer);
    signal.removeEventListener('abort', onAbort);
    call.cancel();
  }
}

/** @throws JsonCallError, TransportError */
async function readText(answer: InboundAnswer, { bytesMax, memory }: JsonCallLimits): Promise<string> {
  const chunks: Uint8Array[] = [];
  let bytes = 0;
  for (let chunk = await answer.read(); chunk !== undefined; chunk = await answer.read()) {
    bytes += chunk.length;
    if (bytes > bytesMax) throw new JsonCallError('answered with more than is read');
    await memory?.hold(bytes * COPIES);
    chunks.push(chunk);
  }
  return Buffer.concat(chunks).toString('utf8');
}
