import type { HttpClient, InboundAnswer } from './http-client.ts';
import { parseJson, type Json } from './json.ts';

export interface JsonRequest {
  readonly method: 'GET' | 'POST';
  readonly url: URL;
  readonly headers: Readonly<Record<string, string>>;
  /** Sent as JSON. */
  readonly body?: Json | undefined;
  /** In its place, where it is drawn already: JSON in UTF-8. */
  readonly bodyBytes?: Uint8Array | undefined;
}

export interface JsonAnswer {
  readonly status: number;
  /** `undefined`: what came is no JSON. */
  readonly body: Json | undefined;
}

export interface JsonCallLimits {
  /** From the call to the last byte. */
  readonly timeoutMs: number;
  /** Of the answer. */
  readonly bytesMax: number;
}

/** Nobody answered in time, or in full. Its message is a half sentence that is safe to show: "did not answer in time". */
export class JsonCallError extends Error {
  constructor(message: string, options?: ErrorOptions) {
    super(message, options);
    this.name = 'JsonCallError';
  }
}

const CONNECT_MS = 5_000;

/**
 * One exchange of JSON with an address of the operator's choice, whatever its status.
 * @throws JsonCallError, also when `signal` aborts
 */
export async function callJson(
  http: HttpClient,
  { method, url, headers, body, bodyBytes }: JsonRequest,
  limits: JsonCallLimits,
  signal: AbortSignal,
): Promise<JsonAnswer> {
  if (signal.aborted) throw new JsonCallError('was not asked: nobody waits any more');
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
  const onAbort = (): void => stop('was left: nobody waits any more');
  const timer = setTimeout(stop, limits.timeoutMs, 'did not answer in time');
  signal.addEventListener('abort', onAbort, { once: true });
  try {
    const answer = await call.answer;
    const text = await readText(answer, limits.bytesMax);
    return { status: answer.status, body: parseJson(text) };
  } catch (error) {
    if (error instanceof JsonCallError) throw error;
    throw new JsonCallError(reason, { cause: error });
  } finally {
    clearTimeout(timer);
    signal.removeEventListener('abort', onAbort);
    call.cancel();
  }
}

/** @throws JsonCallError, TransportError */
async function readText(answer: InboundAnswer, bytesMax: number): Promise<string> {
  const chunks: Uint8Array[] = [];
  let bytes = 0;
  for (let chunk = await answer.read(); chunk !== undefined; chunk = await answer.read()) {
    bytes += chunk.length;
    if (bytes > bytesMax) throw new JsonCallError('answered with more than is read');
    chunks.push(chunk);
  }
  return Buffer.concat(chunks).toString('utf8');
}
