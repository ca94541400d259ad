import type { ServerResponse } from 'node:http';
import type { GatewayError } from '../../canonical/gateway-error.ts';
import { errorHeaders } from '../problem.ts';
import type { Caller } from '../../pipeline/caller.ts';
import type { ClientFormat, ErrorContext } from '../../wire/format.ts';
import { CORS_HEADERS } from '../cors.ts';

const STREAM_HEADERS = {
  ...CORS_HEADERS,
  'content-type': 'text/event-stream',
  'cache-control': 'no-cache',
  'x-accel-buffering': 'no',
} as const;

/** An answer that is complete waits so long for a caller that takes nothing of it; then its connection is dropped. */
const UNTAKEN_MS = 60_000;

type CallerFormat = Pick<ClientFormat, 'encodeError' | 'requestIdHeader'>;

/** A caller at the other end of a `node:http` response. Every method is safe after the caller has gone. */
export function createNodeCaller(response: ServerResponse, format: CallerFormat, untakenMs = UNTAKEN_MS): Caller {
  return new NodeCaller(response, format, untakenMs);
}

/** A class for the same reason as pipeline/watch.ts: one for each request, with a getter. */
class NodeCaller implements Caller {
  readonly #response: ServerResponse;
  readonly #format: CallerFormat;
  readonly #untakenMs: number;
  #ended = false;
  #announced: Readonly<Record<string, string>> | undefined;

  constructor(response: ServerResponse, format: CallerFormat, untakenMs: number) {
    this.#response = response;
    this.#format = format;
    this.#untakenMs = untakenMs;
  }

  get started(): boolean {
    return this.#response.headersSent;
  }

  onGone(listener: () => void): void {
    const response = this.#response;
    if (response.destroyed) {
      listener();
      return;
    }
    response.once('close', () => {
      if (!response.writableFinished) listener();
    });
  }

  announce(headers: Readonly<Record<string, string>>): void {
    this.#announced = headers;
  }

  startStream(generationId: string): void {
    const response = this.#response;
    if (response.headersSent || response.destroyed) return;
    response.writeHead(200, { ...STREAM_HEADERS, ...this.#announced, ...this.#idHeaders(generationId) });
  }

  write(frames: string): boolean {
    // A response that is destroyed never drains: waiting for it would hold the upstream for ever.
    return this.#response.destroyed || this.#response.write(frames);
  }

  drained(signal: AbortSignal): Promise<void> {
    const response = this.#response;
    if (signal.aborted || response.destroyed || !response.writableNeedDrain) return Promise.resolve();
    return new Promise((resolve) => {
      const done = (): void => {
        response.off('drain', done);
        response.off('close', done);
        signal.removeEventListener('abort', done);
        resolve();
      };
      response.once('drain', done);
      response.once('close', done);
      signal.addEventListener('abort', done);
    });
  }

  end(frames: string): void {
    if (this.#ended || this.#response.destroyed) return;
    this.#ended = true;
    this.#response.end(frames);
    this.#dropUntaken();
  }

  answer(generationId: string, json: string): void {
    this.#sendJson(200, { ...CORS_HEADERS, ...this.#announced, ...this.#idHeaders(generationId) }, json);
  }

  refuse(error: GatewayError, context: ErrorContext): void {
    if (this.#response.headersSent) return;
    const { generationId } = context;
    const headers = {
      ...CORS_HEADERS,
      ...errorHeaders(error, generationId),
      ...(generationId !== null && this.#idHeaders(generationId)),
    };
    this.#sendJson(error.status, headers, JSON.stringify(this.#format.encodeError(error, context)));
  }

  #idHeaders(id: string): Record<string, string> {
    return { 'x-generation-id': id, [this.#format.requestIdHeader]: id };
  }

  #sendJson(status: number, headers: Record<string, string>, json: string): void {
    if (this.#ended || this.#response.destroyed) return;
    this.#ended = true;
    this.#response.writeHead(status, {
      ...headers,
      'content-type': 'application/json; charset=utf-8',
      'content-length': Buffer.byteLength(json),
    });
    // As a string it leaves in one write with the headers.
    this.#response.end(json);
    this.#dropUntaken();
  }

  /** What the kernel has taken is out of our hands. The rest must not stay in memory for a caller who never reads. */
  #dropUntaken(): void {
    const response = this.#response;
    if (response.writableLength > 0) response.setTimeout(this.#untakenMs, () => response.destroy());
  }
}
