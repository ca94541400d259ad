import type { OutgoingHttpHeader, ServerResponse } from 'node:http';
import type { GatewayError } from '../../canonical/gateway-error.ts';
import { errorHeaders } from '../problem.ts';
import type { ClientFormat, ErrorContext } from '../../wire/format.ts';
import type { UnreadResponses } from '../unread-responses.ts';
import { CORS_HEADERS } from '../cors.ts';
import { encodeUtf8 } from '../../lib/text/encode-utf8.ts';
import type { AnswerWriter } from '../../pipeline/operation/operation-request.ts';
import type { ResponseWriter } from '../../pipeline/request.ts';

/** Names and values in turn, as Node takes them without a copy. */
type Head = readonly OutgoingHttpHeader[];

const STREAM_HEAD = headOf({
  ...CORS_HEADERS,
  'content-type': 'text/event-stream',
  'cache-control': 'no-cache',
  'x-accel-buffering': 'no',
});
const JSON_HEAD = headOf({ ...CORS_HEADERS, 'content-type': 'application/json; charset=utf-8' });
const CORS = headOf(CORS_HEADERS);
const NOTHING: Head = [];

function headOf(headers: Readonly<Record<string, string>>): Head {
  return Object.entries(headers).flat();
}

/** A longer text is handed over as bytes: as a string it would wait for a slow reader twice. */
const TEXT_CHARS_MAX = 65_536;

/** What a caller's format says of errors and headers. */
export type CallerFormat = Pick<ClientFormat, 'encodeError' | 'requestIdHeader' | 'streamHeaders'>;

/** A larger answer is written at the pace of its reader. */
const AT_ONCE_BYTES_MAX = 1_048_576;
const TURN_BYTES = 262_144;
/** Nothing of it is taken for so long: the connection is dropped. */
const UNTAKEN_MS = 60_000;
const NEVER = new AbortController().signal;

type Unread = Pick<UnreadResponses, 'waitForReader'>;

/**
 * A caller at the other end of a `node:http` response. Every method is safe after the caller has gone. A class for the same
 * reason as pipeline/attempt/watchdog.ts: one for each request, with a getter.
 */
export class NodeCaller implements ResponseWriter, AnswerWriter {
  readonly #response: ServerResponse;
  readonly #format: CallerFormat;
  readonly #unread: Unread | undefined;
  #ended = false;
  #announced = NOTHING;

  /** @param unread absent: nothing is streamed */
  constructor(response: ServerResponse, format: CallerFormat, unread?: Unread) {
    this.#response = response;
    this.#format = format;
    this.#unread = unread;
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
    // It comes once.
    response.on('close', () => {
      if (!response.writableFinished) listener();
    });
  }

  announce(headers: Readonly<Record<string, string>>): void {
    this.#announced = [...this.#announced, ...headOf(headers)];
  }

  startStream(generationId: string): void {
    const response = this.#response;
    if (response.headersSent || response.destroyed) return;
    const { streamHeaders } = this.#format;
    const own = streamHeaders === undefined ? NOTHING : headOf(streamHeaders);
    response.writeHead(200, [...STREAM_HEAD, ...own, ...this.#announced, ...this.#idHead(generationId)]);
  }

  write(frames: string): boolean {
    // A response that is destroyed never drains: waiting for it would hold the upstream for ever.
    return this.#response.destroyed || this.#response.write(frames);
  }

  drained(signal: AbortSignal): Promise<void> {
    const response = this.#response;
    if (signal.aborted || response.destroyed || !response.writableNeedDrain) return Promise.resolve();
    this.#unread?.waitForReader(response);
    // It was dropped for that.
    if (response.destroyed) return Promise.resolve();
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
  }

  answer(generationId: string, json: string): void {
    this.#sendJson(200, [...JSON_HEAD, ...this.#announced, ...this.#idHead(generationId)], json);
  }

  startBytes(generationId: string, type: string): void {
    const response = this.#response;
    if (response.headersSent || response.destroyed) return;
    const head = [...CORS, 'content-type', type, 'cache-control', 'no-cache', 'x-accel-buffering', 'no'];
    response.writeHead(200, [...head, ...this.#announced, ...this.#idHead(generationId)]);
  }

  writeBytes(chunk: Uint8Array): boolean {
    return this.#response.destroyed || this.#response.write(chunk);
  }

  endBytes(): void {
    if (this.#ended || this.#response.destroyed) return;
    this.#ended = true;
    this.#response.end();
  }

  breakOff(): void {
    this.#ended = true;
    // What was written before still goes out, and no end of the body does.
    if (this.#response.socket === null) this.#response.destroy();
    else this.#response.socket.destroySoon();
  }

  async answerPieces(generationId: string, pieces: readonly Uint8Array[], type?: string, status = 200): Promise<void> {
    const response = this.#response;
    if (this.#ended || response.destroyed) return;
    this.#ended = true;
    const bytes = pieces.reduce((sum, piece) => sum + piece.length, 0);
    const head = type === undefined ? JSON_HEAD : [...CORS, 'content-type', type];
    response.writeHead(status, [...head, ...this.#announced, ...this.#idHead(generationId), 'content-length', bytes]);
    if (bytes > AT_ONCE_BYTES_MAX) {
      response.setTimeout(UNTAKEN_MS, () => response.destroy());
      for (const piece of pieces) await this.#writeInTurn(piece);
      response.end();
      return;
    }
    response.cork();
    for (const piece of pieces) response.write(piece);
    response.end();
  }

  /** At the pace of its reader: pieces of many answers that wait in sockets count for none of them. */
  async #writeInTurn(piece: Uint8Array): Promise<void> {
    for (let from = 0; from < piece.length; from += TURN_BYTES)
      if (!this.writeBytes(piece.subarray(from, from + TURN_BYTES))) await this.drained(NEVER);
  }

  refuse(error: GatewayError, context: ErrorContext): void {
    if (this.#response.headersSent) return;
    const { generationId } = context;
    const ids = generationId === null ? NOTHING : this.#idHead(generationId);
    const head = [...JSON_HEAD, ...headOf(errorHeaders(error)), ...ids];
    this.#sendJson(error.status, head, JSON.stringify(this.#format.encodeError(error, context)));
  }

  #idHead(id: string): Head {
    return ['x-generation-id', id, this.#format.requestIdHeader, id];
  }

  #sendJson(status: number, head: Head, json: string): void {
    if (this.#ended || this.#response.destroyed) return;
    this.#ended = true;
    const large = json.length > TEXT_CHARS_MAX ? encodeUtf8(json) : undefined;
    this.#response.writeHead(status, [...head, 'content-length', large?.length ?? Buffer.byteLength(json)]);
    // As a string it leaves in one write with the headers.
    this.#response.end(large ?? json);
  }
}
