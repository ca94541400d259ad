import { Pool, type Dispatcher } from 'undici';

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
   * The bytes of the next network read, `undefined` at the end. One reader at a time.
   * @throws TransportError when the connection breaks
   */
  read(): Promise<Uint8Array | undefined>;
}

/** One request under way. */
export interface Call {
  /** Settles at the headers. @throws TransportError */
  readonly answer: Promise<InboundAnswer>;
  /** Drops the connection at once. May be called at any time, again too; a pending read then fails as `aborted`. */
  cancel(): void;
  /**
   * Nobody reads on. What still comes is thrown away, and the connection is kept for the next request if the answer
   * ends in time, and dropped otherwise.
   */
  release(lingerMs: number): void;
}

export interface HttpClient {
  /** @param onSent called when the request goes out on a connection: from then on the other side may have it */
  call(request: OutboundRequest, onSent?: () => void): Call;
  close(): Promise<void>;
}

/** How a connection failed. Never shown to callers: an attempt turns it into an `UpstreamFailure`. */
export class TransportError extends Error {
  readonly kind: 'connect' | 'connect-timeout' | 'reset' | 'aborted' | 'protocol';

  constructor(kind: TransportError['kind'], options?: ErrorOptions) {
    super(`The connection failed: ${kind}`, options);
    this.name = 'TransportError';
    this.kind = kind;
  }
}

/** Streams hold a connection each, so this bounds the requests under way to one origin; more wait in the pool. */
const CONNECTIONS_PER_ORIGIN_MAX = 1_024;
const POOLS_MAX = 256;
const KEEP_ALIVE_MS = 30_000;
/** Bytes that may wait for a slow reader before the upstream is paused. */
const QUEUED_BYTES_MAX = 256 * 1_024;

/**
 * HTTP/1.1 over keep-alive pools, one an origin, through undici's lowest interface: `fetch` costs four times the CPU
 * (docs/decisions/0003). Time limits on headers and bodies belong to the attempt, so undici's own are off.
 */
export function createHttpClient(): HttpClient {
  const pools = new Map<string, Pool>();

  function poolFor(origin: string, connectTimeoutMs: number): Pool {
    const key = `${origin} ${connectTimeoutMs}`;
    const known = pools.get(key);
    if (known !== undefined) return known;
    for (const [oldest, idle] of pools) {
      if (pools.size < POOLS_MAX) break;
      pools.delete(oldest);
      void retire(idle);
    }
    const pool = new Pool(origin, {
      connections: CONNECTIONS_PER_ORIGIN_MAX,
      pipelining: 1,
      allowH2: false,
      headersTimeout: 0,
      bodyTimeout: 0,
      keepAliveTimeout: KEEP_ALIVE_MS,
      connect: { timeout: connectTimeoutMs },
    });
    pools.set(key, pool);
    return pool;
  }

  return {
    call(request, onSent) {
      const exchange = new Exchange(onSent);
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
      const closing = [...pools.values()].map((pool) => pool.destroy());
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
    // It was being destroyed already: nothing is left to close.
  }
}

interface Waiting<T> {
  readonly resolve: (value: T) => void;
  readonly reject: (error: TransportError) => void;
}

/** Receives one answer from undici and hands it on at the reader's pace. */
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
  #ended = false;
  #cancelled = false;
  #connected = false;
  #error: TransportError | undefined;
  #released = false;
  #linger: NodeJS.Timeout | undefined;
  readonly #onSent: (() => void) | undefined;

  constructor(onSent: (() => void) | undefined) {
    this.#onSent = onSent;
    this.answer = new Promise((resolve, reject) => {
      this.#answerWaits = { resolve, reject };
    });
    // Nobody may be waiting yet when it fails: a rejection without a listener would end the process.
    this.answer.catch(() => undefined);
  }

  cancel(): void {
    if (this.#cancelled || this.#ended) return;
    this.#cancelled = true;
    const error = new TransportError('aborted');
    this.#controller?.abort(error);
    this.#fail(error);
  }

  release(lingerMs: number): void {
    if (this.#cancelled || this.#ended || this.#error !== undefined) return;
    this.#released = true;
    this.#takeQueue();
    this.#linger = setTimeout(() => this.cancel(), lingerMs).unref();
  }

  read(): Promise<Uint8Array | undefined> {
    if (this.#queue.length > 0) return Promise.resolve(this.#takeQueue());
    if (this.#error !== undefined) return Promise.reject(this.#error);
    if (this.#ended) return Promise.resolve(undefined);
    return new Promise((resolve, reject) => {
      this.#readWaits = { resolve, reject };
    });
  }

  onRequestStart(controller: Dispatcher.DispatchController): void {
    this.#controller = controller;
    this.#connected = true;
    // Cancelled while it waited in the pool: nobody would ever drain it, and it would hold the connection for ever.
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
    this.#answerWaits?.resolve(this);
    this.#answerWaits = undefined;
  }

  onResponseData(controller: Dispatcher.DispatchController, chunk: Uint8Array): void {
    if (this.#released) return;
    const waiting = this.#readWaits;
    if (waiting !== undefined) {
      this.#readWaits = undefined;
      waiting.resolve(chunk);
      return;
    }
    this.#queue.push(chunk);
    this.#queuedBytes += chunk.length;
    if (this.#queuedBytes > QUEUED_BYTES_MAX && !this.#paused) {
      this.#paused = true;
      controller.pause();
    }
  }

  onResponseEnd(): void {
    this.#ended = true;
    clearTimeout(this.#linger);
    this.#readWaits?.resolve(undefined);
    this.#readWaits = undefined;
  }

  onResponseError(_controller: Dispatcher.DispatchController, error: Error): void {
    this.#fail(error instanceof TransportError ? error : asTransportError(error, this.#connected));
  }

  #takeQueue(): Uint8Array {
    const queue = this.#queue;
    const [first] = queue;
    this.#queue = [];
    this.#queuedBytes = 0;
    if (this.#paused) {
      this.#paused = false;
      this.#controller?.resume();
    }
    return queue.length === 1 && first !== undefined ? first : Buffer.concat(queue);
  }

  #fail(error: TransportError): void {
    if (this.#error !== undefined || this.#ended) return;
    this.#error = error;
    clearTimeout(this.#linger);
    this.#answerWaits?.reject(error);
    this.#answerWaits = undefined;
    this.#readWaits?.reject(error);
    this.#readWaits = undefined;
  }
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
  // Of the parser's errors only some have a code.
  if (cause.name === 'HTTPParserError') return new TransportError('protocol', { cause });
  return new TransportError(connected ? 'reset' : 'connect', { cause });
}
