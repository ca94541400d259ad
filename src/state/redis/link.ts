import type { Redis, RedisOptions } from 'ioredis';
import { withTimeout } from '../../lib/async/with-timeout.ts';
import { StepPipeline, type RunBoth, type RunStep } from './step-pipeline.ts';

/** Redis did not run a command, as far as is known: the caller goes on without it. */
export class RedisAway extends Error {
  override readonly name = 'RedisAway';
  /** The command was sent, and may run or have run. */
  readonly mayBeDone: boolean;

  constructor(message: string, mayBeDone: boolean, cause?: unknown) {
    super(message, { cause });
    this.mayBeDone = mayBeDone;
  }
}

export interface RedisLinkOptions {
  /** `redis://` or, with TLS, `rediss://`. */
  readonly url: string;
  /** The prefix of all keys, and all keys that a restricted user needs access to. */
  readonly prefix: string;
  /** Runs with the state at the start, and at every change. */
  readonly onChange?: (isUp: boolean, reason: string) => void;
  /** How long to wait for an answer. */
  readonly callMs?: number;
}

/** Has the connection for itself. */
type BackTask = (client: Redis, run: RunStep) => Promise<void>;

/** One connection to Redis. A call on it waits only a moment, and the connection reconnects by itself. */
export interface RedisLink {
  readonly isUp: boolean;
  /** @throws RedisAway at once while Redis is away, or when it does not answer in time */
  call<Value>(command: (client: Redis) => Promise<Value>): Promise<Value>;
  /** Sends a step together with all others of this turn of the event loop, in one call. @throws RedisAway as a call */
  readonly run: RunStep;
  /** As `run`. @throws RedisAway as a call */
  readonly runBoth: RunBoth;
  /** Registers work to do each time that Redis is back, before any other command. */
  onBack(task: BackTask): void;
  /** Settles when the first try to connect has ended. */
  open(): Promise<void>;
  close(): void;
}

/** A Redis that answers later than this counts as away: @spec operation-7. */
const CALL_MS = 250;
/** The wait before the first try to reach a Redis that is away, and between later tries. */
const FIRST_PROBE_MS = 20;
const PROBE_MS = 500;
const CONNECT_MS = 2_000;
/** Work on the return of Redis may take longer than one call. */
const BACK_MS = 5_000;

/** Commands fail at once where there is no connection, are never sent twice, and every error has a listener. */
export const REDIS_OPTIONS = {
  lazyConnect: true,
  enableOfflineQueue: false,
  autoResendUnfulfilledCommands: false,
  maxRetriesPerRequest: 0,
  enableReadyCheck: false,
  connectTimeout: CONNECT_MS,
  // The link itself decides whether and when to reconnect.
  retryStrategy: null,
  protocol: 2,
  disableClientInfo: true,
} as const satisfies RedisOptions;

export async function createRedisLink(options: RedisLinkOptions): Promise<RedisLink> {
  const { Redis } = await import('ioredis');
  return new Link(options, () => new Redis(options.url, REDIS_OPTIONS));
}

/** A class, because it lives as long as the process: each connection is new, so that none carries old commands over. */
class Link implements RedisLink {
  readonly #connect: () => Redis;
  readonly #callMs: number;
  /** A write to this key distinguishes a primary from a replica. */
  readonly #probeKey: string;
  readonly #onChange: NonNullable<RedisLinkOptions['onChange']>;
  readonly #tasks: BackTask[] = [];
  #client: Redis | undefined;
  #timer: NodeJS.Timeout | undefined;
  #reported: boolean | undefined;
  #isClosed = false;
  #isGathering = false;
  readonly #steps = new StepPipeline((script, keys, values) => {
    const client = this.#client;
    return client === undefined ? Promise.reject(away()) : this.#answerOf(client, script(client, keys, values));
  });

  constructor({ prefix, onChange = () => undefined, callMs = CALL_MS }: RedisLinkOptions, connect: () => Redis) {
    this.#probeKey = `${prefix}probe`;
    this.#connect = connect;
    this.#callMs = callMs;
    this.#onChange = onChange;
  }

  get isUp(): boolean {
    return this.#client !== undefined;
  }

  async call<Value>(command: (client: Redis) => Promise<Value>): Promise<Value> {
    const client = this.#client;
    if (client === undefined) throw away();
    this.#gather(client);
    return this.#answerOf(client, command(client));
  }

  readonly run: RunStep = (step, keys, values) =>
    this.#client === undefined ? Promise.reject(away()) : this.#steps.run(step, keys, values);

  readonly runBoth: RunBoth = (first, second) =>
    this.#client === undefined ? Promise.reject(away()) : this.#steps.runBoth(first, second);

  onBack(task: BackTask): void {
    this.#tasks.push(task);
  }

  async open(): Promise<void> {
    const client = this.#connect();
    const lost = (error?: Error): void => this.#leave(client, error ?? new Error('The connection was closed.'));
    client.on('error', lost);
    client.on('close', lost);
    try {
      await withTimeout(client.connect(), CONNECT_MS);
      await withTimeout(client.set(this.#probeKey, '1', 'PX', PROBE_MS), this.#callMs);
      const { run } = new StepPipeline((script, keys, values) => script(client, keys, values));
      await withTimeout(Promise.all(this.#tasks.map((task) => task(client, run))), BACK_MS);
      if (this.#isClosed) throw new Error('The state is closed.');
      this.#client = client;
      this.#notify(true, 'connected');
    } catch (error) {
      client.disconnect();
      if (this.#isClosed) return;
      this.#notify(false, reasonOf(error));
      this.#openAfter(PROBE_MS);
    }
  }

  close(): void {
    this.#isClosed = true;
    clearTimeout(this.#timer);
    this.#client?.disconnect();
    this.#client = undefined;
  }

  async #answerOf<Value>(client: Redis, answer: Promise<Value>): Promise<Value> {
    try {
      return await withTimeout(answer, this.#callMs);
    } catch (error) {
      this.#leave(client, error);
      throw new RedisAway('Redis did not answer.', true, error);
    }
  }

  /** Sends the commands of one turn of the event loop in one write: a write costs as much as the rest of a call. */
  #gather({ stream }: Redis): void {
    if (this.#isGathering) return;
    this.#isGathering = true;
    stream.cork();
    setImmediate(() => {
      this.#isGathering = false;
      stream.uncork();
    });
  }

  /** Drops a connection at its first failure; later failures of the same connection mean nothing new. */
  #leave(client: Redis, error: unknown): void {
    if (this.#client !== client) return;
    this.#client = undefined;
    client.disconnect();
    this.#notify(false, reasonOf(error));
    this.#openAfter(FIRST_PROBE_MS);
  }

  #openAfter(delayMs: number): void {
    this.#timer = setTimeout(() => void this.open(), delayMs).unref();
  }

  #notify(isUp: boolean, reason: string): void {
    if (this.#reported === isUp) return;
    this.#reported = isUp;
    this.#onChange(isUp, reason);
  }
}

function away(): RedisAway {
  return new RedisAway('Redis is away.', false);
}

/** Describes an error. Errors of Redis and of sockets name hosts and commands, never a password. */
function reasonOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  return 'code' in error && typeof error.code === 'string' ? `${error.code}: ${error.message}` : error.message;
}
