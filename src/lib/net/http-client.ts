import { LRUCache } from 'lru-cache';
import { Pool, type Dispatcher } from 'undici';
import { LoopShare } from '../async/loop-share.ts';
import { entriesOf } from '../cache/lru-cache.ts';
import { createByteBudget, type ByteBudget } from '../memory/byte-budget.ts';
import { NoMemoryError } from '../memory/growing-bytes.ts';
import { encodingsOf, inflate, UnknownEncodingError, type Inflating } from './inflate-response.ts';
import { createConnector } from './skip-continue.ts';

export interface OutboundRequest {
  /** `https://host:port`. */
  readonly origin: string;
  /** With the query. */
  readonly path: string;
  readonly method: 'GET' | 'POST';
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: string | Uint8Array;
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
/** What a paused response holds: its queue, the buffer of its socket, and pieces that are not collected yet. */
const PAUSED_BYTES = 192 * 1_024;
/** A paused response may go unread for so long before another one gets its memory. */
const UNREAD_MS = 100;
/** What one read takes of the queue. The events and frames that are made of it stay in memory until the reader has taken them. */
const READ_BYTES_MAX = 16 * 1_024;

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
}

/** The shared memory budget of all inflaters. */
export function createInflateMemory(bytesMax: number): ByteBudget {
  return createByteBudget({ bytesMax, waitMs: INFLATE_WAIT_MS, waitingMax: INFLATE_WAITING_MAX });
}

/**
 * HTTP/1.1 over keep-alive pools, one an origin, through undici's lowest interface: `fetch` costs four times the CPU
 * (docs/decisions/0003). Time limits on headers and bodies belong to the attempt, so undici's own are off.
 */
export function createHttpClient({ inflateMemory, pausedBytesMax = Infinity }: HttpClientOptions = {}): HttpClient {
  // Retires the least recently used pool beyond the bound.
  const shared: Shared = {
    loopShare: new LoopShare(),
    inflateMemory,
    paused: { all: new Set(), max: Math.ceil(pausedBytesMax / PAUSED_BYTES) },
  };
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
      connect: createConnector({ timeout: connectTimeoutMs, allowH2: false }),
    });
    pools.set(key, pool);
    return pool;
  }

  return {
    call(request, onSent) {
      const exchange = new Exchange(onSent, shared);
      poolFor(request.origin, request.connectTimeoutMs).dispatch(
        {
          path: request.path,
          method: request.method,
          headers: request.headers,
          ...(request.body !== undefined && { body: request.body }),
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
  /** The one that was paused first comes first. */
  readonly paused: { readonly all: Set<Exchange>; readonly max: number };
}

interface Waiting<T> {
  readonly resolve: (value: T) => void;
  readonly reject: (error: TransportError) => void;
}

/** Receives one response from undici and passes it on at the reader's pace. */
class Exchange implements Call, InboundAnswer, Dispatcher.DispatchHandler {
  readonly answer: Promise<InboundAnswer>;
  status = 0;
  headers: Readonly<Record<string, string>> = {};
  #answerWaits: Waiting<InboundAnswer> | undefined;
  #readWaits: Waiting<Uint8Array | undefined> | undefined;
  #controller: Dispatcher.DispatchController | undefined;
  #queue: Uint8Array[] = [];
  #queuedBytes = 0;
  #paused = false;
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
    this.#queue = [];
    this.#queuedBytes = 0;
    if (!this.#ended) this.#controller?.abort(error);
    this.#fail(error);
  }

  release(lingerMs: number): void {
    this.#inflating?.close();
    if (this.#cancelled || this.#ended || this.#error !== undefined) return;
    this.#released = true;
    this.#dropQueue();
    this.#linger = setTimeout(() => this.cancel(), lingerMs).unref();
  }

  read(): Promise<Uint8Array | undefined> {
    return this.#inflating === undefined ? this.#readNext() : this.#readInflated(this.#inflating);
  }

  #readNext(): Promise<Uint8Array | undefined> {
    if (this.#queue.length > 0) return this.#readQueue();
    if (this.#error !== undefined) return Promise.reject(this.#error);
    if (this.#ended) return Promise.resolve(undefined);
    return new Promise((resolve, reject) => {
      this.#readWaits = { resolve, reject };
    });
  }

  #readQueue(): Promise<Uint8Array | undefined> {
    if (this.#shared.loopShare.take(Math.min(this.#queuedBytes, READ_BYTES_MAX), this.#passOn))
      return Promise.resolve(this.#takeQueue());
    return new Promise((resolve, reject) => {
      this.#readWaits = { resolve, reject };
    });
  }

  /** In the turn of the event loop that has room for it. */
  readonly #passOn = (): void => {
    const waiting = this.#readWaits;
    if (waiting === undefined) return;
    this.#readWaits = undefined;
    waiting.resolve(this.#takeQueue());
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
    if (this.#released) return;
    const waiting = this.#readWaits;
    // Where there is a queue already, its turn is waited for.
    if (waiting !== undefined && this.#queue.length === 0 && this.#shared.loopShare.take(chunk.length, this.#passOn)) {
      this.#readWaits = undefined;
      waiting.resolve(chunk);
      return;
    }
    this.#queue.push(chunk);
    this.#queuedBytes += chunk.length;
    if (this.#queuedBytes > QUEUED_BYTES_MAX && !this.#paused) this.#pause(controller);
  }

  onResponseEnd(): void {
    this.#ended = true;
    this.#endPause();
    clearTimeout(this.#linger);
    // What waits for its turn comes before the end.
    if (this.#queue.length > 0) return;
    this.#readWaits?.resolve(undefined);
    this.#readWaits = undefined;
  }

  onResponseError(_controller: Dispatcher.DispatchController, error: Error): void {
    this.#fail(error instanceof TransportError ? error : asTransportError(error, this.#connected));
  }

  #takeQueue(): Uint8Array {
    if (this.#paused) this.#readMs = performance.now();
    const taken = this.#queuedBytes <= READ_BYTES_MAX ? this.#queue : this.#takePieces();
    if (taken === this.#queue) this.#dropQueue();
    const [first] = taken;
    return taken.length === 1 && first !== undefined ? first : Buffer.concat(taken);
  }

  /** The first pieces of the queue. One that is too large is divided. */
  #takePieces(): Uint8Array[] {
    const taken: Uint8Array[] = [];
    let bytes = 0;
    for (const piece of this.#queue) {
      if (bytes + piece.length > READ_BYTES_MAX) break;
      bytes += piece.length;
      taken.push(piece);
    }
    this.#queue.splice(0, taken.length);
    const [next] = this.#queue;
    if (taken.length === 0 && next !== undefined) {
      bytes = READ_BYTES_MAX;
      taken.push(next.subarray(0, bytes));
      this.#queue[0] = next.subarray(bytes);
    }
    this.#queuedBytes -= bytes;
    return taken;
  }

  #pause(controller: Dispatcher.DispatchController): void {
    const { all, max } = this.#shared.paused;
    if (!this.isKept && countUnkept(all) >= max && !dropUnread(all)) return this.drop();
    all.add(this);
    this.#paused = true;
    this.#readMs = performance.now();
    // Each piece holds all that was read from the socket with it.
    this.#queue = [Buffer.concat(this.#queue)];
    controller.pause();
  }

  /** Whether it may be dropped for another one. */
  isUnread(): boolean {
    return !this.isKept && this.#readWaits === undefined && performance.now() - this.#readMs >= UNREAD_MS;
  }

  drop(): void {
    const error = new TransportError('no-memory');
    this.#queue = [];
    this.#fail(error);
    this.#controller?.abort(error);
  }

  #dropQueue(): void {
    this.#queue = [];
    this.#queuedBytes = 0;
    if (this.#endPause()) this.#controller?.resume();
  }

  #endPause(): boolean {
    if (!this.#paused) return false;
    this.#paused = false;
    this.#shared.paused.all.delete(this);
    return true;
  }

  #fail(error: TransportError): void {
    clearTimeout(this.#linger);
    this.#endPause();
    if (this.#ended && !this.#cancelled) return;
    this.#error ??= error;
    this.#inflating?.close();
    // What had arrived comes before the error.
    if (this.#queue.length > 0) return;
    this.#answerWaits?.reject(this.#error);
    this.#answerWaits = undefined;
    this.#readWaits?.reject(this.#error);
    this.#readWaits = undefined;
  }
}

function countUnkept(paused: Iterable<Exchange>): number {
  let count = 0;
  for (const { isKept } of paused) if (!isKept) count++;
  return count;
}

/** @returns whether there was one */
function dropUnread(paused: Iterable<Exchange>): boolean {
  for (const one of paused) {
    if (!one.isUnread()) continue;
    one.drop();
    return true;
  }
  return false;
}

function firstValues(headers: Record<string, string | string[] | undefined>): Record<string, string> {
  const first: Record<string, string> = {};
  for (const name in headers) {
    const value = headers[name];
    const text = typeof value === 'string' ? value : value?.[0];
    if (text !== undefined) first[name] = text;
  }
  return first;
}

function asTransportError(cause: Error, connected: boolean): TransportError {
  const code = 'code' in cause ? cause.code : undefined;
  if (code === 'UND_ERR_CONNECT_TIMEOUT') return new TransportError('connect-timeout', { cause });
  // Only some errors of the parser have a code.
  if (cause.name === 'HTTPParserError') return new TransportError('protocol', { cause });
  return new TransportError(connected ? 'reset' : 'connect', { cause });
}
