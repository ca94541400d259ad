import { Readable } from 'node:stream';
import { LRUCache } from 'lru-cache';
import { Pool, type Dispatcher } from 'undici';
import { LoopShare } from '../async/loop-share.ts';
import { entriesOf } from '../cache/lru-cache.ts';
import type { ByteSource } from '../files/spool.ts';
import { createByteBudget, type ByteBudget } from '../memory/byte-budget.ts';
import { NoMemoryError } from '../memory/growing-bytes.ts';
import { encodeUtf8 } from '../text/encode-utf8.ts';
import { encodingsOf, inflate, UnknownEncodingError, type Inflating } from './inflate-response.ts';
import { PausedResponses, type PausedResponse } from './paused-responses.ts';
import { PieceQueue } from './piece-queue.ts';
import type { ProxyOf } from './proxy/proxies.ts';
import { createConnector } from './skip-continue.ts';

export interface OutboundRequest {
  /** `https://host:port`. */
  readonly origin: string;
  /** With the query. */
  readonly path: string;
  readonly method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: string | Uint8Array;
  /** In place of a body: read while it is sent, from its beginning with each call. */
  readonly source?: ByteSource;
  readonly connectTimeoutMs: number;
}

export interface InboundAnswer {
  readonly status: number;
  /** Lower-case names; of a repeated header the first. */
  readonly headers: Readonly<Record<string, string>>;
  /**
   * The bytes of the next network read, inflated where the server encoded them; `undefined` at the end. One reader at a time.
   * @throws TransportError when the connection breaks
   */
  read(): Promise<Uint8Array | undefined>;
  /**
   * All that is left to read, where it has arrived with its end and is small: a short response mostly comes with its headers.
   * `undefined`: it is to be read.
   */
  takeRest?(): Uint8Array | undefined;
  /** Whether it stays although nothing reads it: it waits for memory itself. */
  isKept?: boolean;
}

/** One request under way. */
export interface Call {
  /** Settles when the headers have arrived. @throws TransportError */
  readonly answer: Promise<InboundAnswer>;
  /** Drops the connection at once; a pending read fails as `aborted`. May be called at any time, more than once. */
  cancel(): void;
  /**
   * Ends reading. The rest of the response is discarded. The connection is kept for the next request if the response ends
   * in time, and dropped otherwise.
   */
  release(lingerMs: number): void;
}

export interface HttpClient {
  /** @param onSent called when the request goes out on a connection: from then on the server may have received it */
  call(request: OutboundRequest, onSent?: () => void): Call;
  close(): Promise<void>;
}

/** A connection failed. Never shown to callers: an attempt turns it into an `UpstreamFailure`. */
export class TransportError extends Error {
  readonly kind: 'connect' | 'connect-timeout' | 'reset' | 'aborted' | 'protocol' | 'encoding' | 'no-memory';

  constructor(kind: TransportError['kind'], options?: ErrorOptions) {
    super(`The connection failed: ${kind}`, options);
    this.name = 'TransportError';
    this.kind = kind;
  }
}

/** Each stream holds a connection, so this bounds the requests under way to one origin; more wait in the pool. */
const CONNECTIONS_PER_ORIGIN_MAX = 1_024;
const POOLS_MAX = 256;
const KEEP_ALIVE_MS = 30_000;
/**
 * Bytes that may wait for a slow reader before the upstream is paused. No fewer: undici puts back what it has parsed too much
 * of and reads 64 KB more each time it goes on, so that a smaller queue makes its socket's buffer grow without a bound.
 */
const QUEUED_BYTES_MAX = 64 * 1_024;
/** A paused response may go unread for so long before another one gets its memory. */
const UNREAD_MS = 100;
/** What one read takes of the queue. The events and frames that are made of it stay in memory until the reader has taken them. */
const READ_BYTES_MAX = 16 * 1_024;
/** So little is passed on at once in any turn of the event loop. */
const REST_BYTES_MAX = 4_096;

/** How long an encoded response waits for memory, and how many wait. */
const INFLATE_WAIT_MS = 10_000;
const INFLATE_WAITING_MAX = 256;

export interface HttpClientOptions {
  /**
   * Bound on what all paused responses hold, bytes: beyond it one that nothing reads fails as `no-memory`, or else the new
   * one. Absent: none.
   */
  readonly pausedBytesMax?: number;
  /** The memory of all inflaters together. Absent: no limit. */
  readonly inflateMemory?: ByteBudget;
  /** Absent: everything is called directly. */
  readonly proxyOf?: ProxyOf | undefined;
}

/** The shared memory budget of all inflaters. */
export function createInflateMemory(bytesMax: number): ByteBudget {
  return createByteBudget({ bytesMax, waitMs: INFLATE_WAIT_MS, waitingMax: INFLATE_WAITING_MAX });
}

/** Shorter texts fit into the shared memory of Node's buffers, from which undici takes them. */
const ENCODED_CHARS_MIN = 1_000;

/**
 * HTTP/1.1 over keep-alive pools, one an origin, through undici's lowest interface: `fetch` costs four times the CPU
 * (docs/decisions/0003). Time limits on headers and bodies belong to the attempt, so undici's own are off.
 */
export function createHttpClient({
  inflateMemory,
  pausedBytesMax = Infinity,
  proxyOf,
}: HttpClientOptions = {}): HttpClient {
  const shared: Shared = { loopShare: new LoopShare(), inflateMemory, paused: new PausedResponses(pausedBytesMax) };
  // Retires the least recently used pool beyond the bound.
  const pools = new LRUCache<string, Pool>({ max: POOLS_MAX, dispose: (pool) => void retire(pool) });

  function poolFor(origin: string, connectTimeoutMs: number): Pool {
    const key = `${origin} ${connectTimeoutMs}`;
    const known = pools.get(key);
    if (known !== undefined) return known;
    const pool = new Pool(origin, {
      connections: CONNECTIONS_PER_ORIGIN_MAX,
      pipelining: 1,
      allowH2: false,
      headersTimeout: 0,
      bodyTimeout: 0,
      keepAliveTimeout: KEEP_ALIVE_MS,
      connect: createConnector({ timeout: connectTimeoutMs, allowH2: false }, proxyOf),
    });
    pools.set(key, pool);
    return pool;
  }

  return {
    call(request, onSent) {
      const exchange = new Exchange(onSent, shared);
      const { source } = request;
      const { body: text } = request;
      const whole = typeof text === 'string' && text.length > ENCODED_CHARS_MIN ? encodeUtf8(text) : text;
      const body = source === undefined ? whole : Readable.from(source.chunks(), { objectMode: false });
      poolFor(request.origin, request.connectTimeoutMs).dispatch(
        {
          path: request.path,
          method: request.method,
          // Without its length it would be sent in chunks, which some servers of models do not read.
          headers:
            source === undefined ? request.headers : { ...request.headers, 'content-length': String(source.bytes) },
          body: body ?? null,
        },
        exchange,
      );
      return exchange;
    },
    async close() {
      const closing = entriesOf(pools).map(([, pool]) => pool.destroy());
      pools.clear();
      await Promise.all(closing);
    },
  };
}

/** Lets what is under way finish. */
async function retire(pool: Pool): Promise<void> {
  try {
    await pool.close();
  } catch {
    // The pool was being destroyed already.
  }
}

/** What all calls of a client have in common. */
interface Shared {
  readonly loopShare: LoopShare;
  readonly inflateMemory: ByteBudget | undefined;
  readonly paused: PausedResponses;
}

interface Waiting<T> {
  readonly resolve: (value: T) => void;
  readonly reject: (error: TransportError) => void;
}

/** Receives one response from undici and passes it on at the reader's pace. */
class Exchange implements Call, InboundAnswer, PausedResponse, Dispatcher.DispatchHandler {
  readonly answer: Promise<InboundAnswer>;
  status = 0;
  headers: Readonly<Record<string, string>> = {};
  #answerWaits: Waiting<InboundAnswer> | undefined;
  #readWaits: Waiting<Uint8Array | undefined> | undefined;
  #controller: Dispatcher.DispatchController | undefined;
  readonly #queue = new PieceQueue();
  isKept = false;
  /** When it was paused, or read last since. */
  #readMs = 0;
  #ended = false;
  #cancelled = false;
  #connected = false;
  #error: TransportError | undefined;
  #released = false;
  #inflating: Inflating | undefined;
  #linger: NodeJS.Timeout | undefined;
  readonly #onSent: (() => void) | undefined;
  readonly #shared: Shared;

  constructor(onSent: (() => void) | undefined, shared: Shared) {
    this.#onSent = onSent;
    this.#shared = shared;
    this.answer = new Promise((resolve, reject) => {
      this.#answerWaits = { resolve, reject };
    });
    // It may fail before a caller waits for it, and a rejection without a listener ends the process.
    this.answer.catch(() => undefined);
  }

  cancel(): void {
    // Also after all bytes of the response have arrived.
    this.#inflating?.close();
    if (this.#cancelled) return;
    this.#cancelled = true;
    const error = new TransportError('aborted');
    this.#queue.clear();
    if (!this.#ended) this.#controller?.abort(error);
    this.#fail(error);
  }

  release(lingerMs: number): void {
    this.#inflating?.close();
    if (this.#cancelled || this.#ended || this.#error !== undefined) return;
    this.#released = true;
    this.#queue.clear();
    this.#resume();
    this.#linger = setTimeout(() => this.cancel(), lingerMs).unref();
  }

  read(): Promise<Uint8Array | undefined> {
    return this.#inflating === undefined ? this.#readNext() : this.#readInflated(this.#inflating);
  }

  takeRest(): Uint8Array | undefined {
    const { bytes } = this.#queue;
    const isHere = this.#ended && this.#error === undefined && bytes > 0 && bytes <= REST_BYTES_MAX;
    return isHere && this.#inflating === undefined ? this.#takeQueue() : undefined;
  }

  #readNext(): Promise<Uint8Array | undefined> {
    if (this.#queue.bytes > 0) return this.#readQueue();
    if (this.#error !== undefined) return Promise.reject(this.#error);
    if (this.#ended) return Promise.resolve(undefined);
    return new Promise((resolve, reject) => {
      this.#readWaits = { resolve, reject };
    });
  }

  #readQueue(): Promise<Uint8Array | undefined> {
    if (this.#shared.loopShare.take(Math.min(this.#queue.bytes, READ_BYTES_MAX), this.#passOn))
      return Promise.resolve(this.#takeQueue());
    return new Promise((resolve, reject) => {
      this.#readWaits = { resolve, reject };
    });
  }

  /** In the turn of the event loop that has room for it. @returns whether a read still waits for it */
  readonly #passOn = (): boolean => {
    const waiting = this.#readWaits;
    if (waiting === undefined) return false;
    this.#readWaits = undefined;
    waiting.resolve(this.#takeQueue());
    return true;
  };

  async #readInflated(inflating: Inflating): Promise<Uint8Array | undefined> {
    const piece = await inflating.read().catch((error: unknown) => {
      if (error instanceof TransportError) throw error;
      if (error instanceof NoMemoryError) {
        this.cancel();
        throw new TransportError('no-memory', { cause: error });
      }
      throw new TransportError(error instanceof UnknownEncodingError ? 'encoding' : 'protocol', { cause: error });
    });
    // A response that was closed because of an error ends with that error.
    if (piece === undefined && this.#error !== undefined) throw this.#error;
    return piece;
  }

  onRequestStart(controller: Dispatcher.DispatchController): void {
    this.#controller = controller;
    this.#connected = true;
    // Cancelled while it waited in the pool: without a reader it would hold the connection for ever.
    if (this.#cancelled) controller.abort(new TransportError('aborted'));
    else this.#onSent?.();
  }

  onResponseStart(
    _controller: Dispatcher.DispatchController,
    status: number,
    headers: Record<string, string | string[] | undefined>,
  ): void {
    if (status < 200) return;
    this.status = status;
    this.headers = firstValues(headers);
    const encodings = encodingsOf(this.headers['content-encoding']);
    if (encodings.length > 0) this.#inflating = inflate(() => this.#readNext(), encodings, this.#shared.inflateMemory);
    this.#answerWaits?.resolve(this);
    this.#answerWaits = undefined;
  }

  onResponseData(controller: Dispatcher.DispatchController, chunk: Uint8Array): void {
    // What comes after a failure would follow a gap.
    if (this.#released || this.#error !== undefined) return;
    const waiting = this.#readWaits;
    // Where there is a queue already, its turn is waited for.
    if (waiting !== undefined && this.#queue.bytes === 0 && this.#shared.loopShare.take(chunk.length, this.#passOn)) {
      this.#readWaits = undefined;
      waiting.resolve(chunk);
      return;
    }
    this.#queue.push(chunk);
    if (this.#queue.bytes > QUEUED_BYTES_MAX && !this.#shared.paused.has(this)) this.#pause(controller);
  }

  onResponseEnd(): void {
    this.#ended = true;
    this.#shared.paused.delete(this);
    clearTimeout(this.#linger);
    // What waits for its turn comes before the end.
    if (this.#queue.bytes > 0) return;
    this.#readWaits?.resolve(undefined);
    this.#readWaits = undefined;
  }

  onResponseError(_controller: Dispatcher.DispatchController, error: Error): void {
    this.#fail(error instanceof TransportError ? error : asTransportError(error, this.#connected));
  }

  #takeQueue(): Uint8Array {
    this.#readMs = performance.now();
    const taken = this.#queue.take(READ_BYTES_MAX);
    if (this.#queue.bytes === 0) this.#resume();
    return taken;
  }

  #pause(controller: Dispatcher.DispatchController): void {
    if (!this.#shared.paused.add(this)) return this.drop();
    this.#readMs = performance.now();
    this.#queue.compact();
    controller.pause();
  }

  #resume(): void {
    if (this.#shared.paused.delete(this)) this.#controller?.resume();
  }

  isUnread(): boolean {
    return this.#readWaits === undefined && performance.now() - this.#readMs >= UNREAD_MS;
  }

  drop(): void {
    const error = new TransportError('no-memory');
    this.#queue.clear();
    this.#fail(error);
    this.#controller?.abort(error);
  }

  #fail(error: TransportError): void {
    clearTimeout(this.#linger);
    this.#shared.paused.delete(this);
    if (this.#ended && !this.#cancelled) return;
    this.#error ??= error;
    this.#inflating?.close();
    // What had arrived comes before the error.
    if (this.#queue.bytes > 0) return;
    this.#answerWaits?.reject(this.#error);
    this.#answerWaits = undefined;
    this.#readWaits?.reject(this.#error);
    this.#readWaits = undefined;
  }
}

function firstValues(headers: Record<string, string | string[] | undefined>): Record<string, string> {
  if (isOfTexts(headers)) return headers;
  const first: Record<string, string> = {};
  for (const name in headers) {
    const value = headers[name];
    const text = typeof value === 'string' ? value : value?.[0];
    if (text !== undefined) first[name] = text;
  }
  return first;
}

function isOfTexts(headers: Record<string, string | string[] | undefined>): headers is Record<string, string> {
  for (const name in headers) if (typeof headers[name] !== 'string') return false;
  return true;
}

function asTransportError(cause: Error, connected: boolean): TransportError {
  const code = 'code' in cause ? cause.code : undefined;
  if (code === 'UND_ERR_CONNECT_TIMEOUT') return new TransportError('connect-timeout', { cause });
  // Only some errors of the parser have a code.
  if (cause.name === 'HTTPParserError') return new TransportError('protocol', { cause });
  return new TransportError(connected ? 'reset' : 'connect', { cause });
}
