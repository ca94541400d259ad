import type { Redis, RedisOptions } from 'ioredis';
import { withTimeout } from '../../lib/async/with-timeout.ts';
import { StepPipeline, type RunBoth, type RunStep } from './step-pipeline.ts';

/** Redis did not do what it was asked to, as far as is known: whoever asked goes on without it. */
export class RedisAway extends Error {
  override readonly name = 'RedisAway';
  /** It was asked, and may do it or have done it. */
  readonly mayBeDone: boolean;

  constructor(message: string, mayBeDone: boolean, cause?: unknown) {
    super(message, { cause });
    this.mayBeDone = mayBeDone;
  }
}

export interface RedisLinkOptions {
  /** `redis://` or, with TLS, `rediss://`. */
  readonly url: string;
  /** Of all keys. Where a user may touch no others, this is what it may touch. */
  readonly prefix: string;
  /** Told at the start whether it is there, and of every change. */
  readonly onChange?: (isUp: boolean, reason: string) => void;
  /** How long an answer is waited for. */
  readonly callMs?: number;
}

/** Has the connection for itself. */
type BackTask = (client: Redis, run: RunStep) => Promise<void>;

/** One connection to Redis that is never waited for longer than a moment, and comes back by itself. */
export interface RedisLink {
  readonly isUp: boolean;
  /** @throws RedisAway at once while Redis is away, or when it does not answer in time */
  call<Value>(command: (client: Redis) => Promise<Value>): Promise<Value>;
  /** A step leaves with all others of this turn of the event loop, in one call. @throws RedisAway as a call */
  readonly run: RunStep;
  /** As `run`. @throws RedisAway as a call */
  readonly runBoth: RunBoth;
  /** What is to be done each time when Redis is back, before anybody else asks it. */
  onBack(task: BackTask): void;
  /** Settles when the first try to connect has come to an end. */
  open(): Promise<void>;
  close(): void;
}

/** A Redis that answers later than this is as good as none: @spec operation-7. */
const CALL_MS = 250;
/** Before the first try to reach a Redis that is away, and between two others. */
const FIRST_PROBE_MS = 20;
const PROBE_MS = 500;
const CONNECT_MS = 2_000;
/** What is made up for when Redis is back may take longer than one call. */
const BACK_MS = 5_000;

/** Commands fail at once where there is no connection, are never sent twice, and no error is without a listener. */
export const REDIS_OPTIONS = {
  lazyConnect: true,
  enableOfflineQueue: false,
  autoResendUnfulfilledCommands: false,
  maxRetriesPerRequest: 0,
  enableReadyCheck: false,
  connectTimeout: CONNECT_MS,
  // Whether and when to connect again is decided here.
  retryStrategy: null,
  protocol: 2,
  disableClientInfo: true,
} as const satisfies RedisOptions;

export async function createRedisLink(options: RedisLinkOptions): Promise<RedisLink> {
  const { Redis } = await import('ioredis');
  return new Link(options, () => new Redis(options.url, REDIS_OPTIONS));
}

/** A class because it lives as long as the process: each connection is new, so that none carries what another was owed. */
class Link implements RedisLink {
  readonly #connect: () => Redis;
  readonly #callMs: number;
  /** That it can be written tells a master from a copy. */
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

  /** Commands of one turn of the event loop leave in one write: each costs as much as the rest of a call. */
  #gather({ stream }: Redis): void {
    if (this.#isGathering) return;
    this.#isGathering = true;
    stream.cork();
    setImmediate(() => {
      this.#isGathering = false;
      stream.uncork();
    });
  }

  /** Whoever finds out first; what else fails on the same connection says nothing new. */
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

/** Errors of Redis and of sockets name hosts and commands, never a password. */
function reasonOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  return 'code' in error && typeof error.code === 'string' ? `${error.code}: ${error.message}` : error.message;
}
