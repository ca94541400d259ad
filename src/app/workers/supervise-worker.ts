import { fork, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import type { Config } from '../../config/config.ts';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Log } from '../../telemetry/logs.ts';
import type { FromWorker, ToWorker, WorkerStart } from './messages.ts';

/** One worker, through all of its processes. */
export interface SupervisedWorker {
  /** Settles when its first process listens. @throws Error when that does not start */
  readonly listening: Promise<void>;
  isUp(): boolean;
  reload(next: Config): void;
  close(farewellMs: number): Promise<void>;
}

export interface SupervisedWorkerDeps extends WorkerStart {
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly log: Pick<Log, 'general'>;
}

/** Between the end of a process and the start of the next: doubled with each one that did not live for long. */
const RESTART_MS_MIN = 1_000;
const RESTART_MS_MAX = 30_000;
/** After this a process counts as one that works. */
const LIVED_MS = 60_000;
const BYTES_PER_MB = 1_048_576;
/** Beyond farewell and drain limit: to settle, and to close what is open. */
const END_MS_MAX = 15_000;

export function superviseWorker(deps: SupervisedWorkerDeps): SupervisedWorker {
  return new WorkerSupervisor(deps);
}

class WorkerSupervisor implements SupervisedWorker {
  readonly listening: Promise<void>;
  readonly #deps: SupervisedWorkerDeps;
  #config: Config;
  #child: ChildProcess;
  #startedMs = 0;
  #restartMs = RESTART_MS_MIN;
  #isUp = false;
  #isClosing = false;
  #timer: NodeJS.Timeout | undefined;

  constructor(deps: SupervisedWorkerDeps) {
    this.#deps = deps;
    this.#config = deps.config;
    this.#child = this.#start();
    this.listening = this.#waitForFirst(this.#child);
    // The caller sees a failure when it waits for all workers.
    this.listening.catch(() => undefined);
  }

  isUp(): boolean {
    return this.#isUp;
  }

  reload(next: Config): void {
    // Of the address nothing changes while the gateway runs.
    this.#config = { ...next, server: this.#config.server };
    if (this.#child.connected) this.#send({ kind: 'reload', config: next });
  }

  async close(farewellMs: number): Promise<void> {
    this.#isClosing = true;
    clearTimeout(this.#timer);
    const child = this.#child;
    if (hasEnded(child)) return;
    const ended = once(child, 'exit');
    if (child.connected) this.#send({ kind: 'close', farewellMs });
    const limit = new AbortController();
    const limitMs = farewellMs + this.#config.server.drainMs + END_MS_MAX;
    await Promise.race([ended, sleep(limitMs, undefined, { signal: limit.signal }).catch(() => undefined)]);
    limit.abort();
    if (!hasEnded(child)) child.kill('SIGKILL');
  }

  #start(): ChildProcess {
    const { env, worker, engine, linkPath, httpPath, findsLocalServers } = this.#deps;
    this.#startedMs = performance.now();
    const child = fork(new URL('../../worker.ts', import.meta.url), [], {
      // The allocator of glibc keeps what each of its arenas once held; a thread has one of its own by itself.
      env: { MALLOC_ARENA_MAX: '2', ...env },
      // Its log is this process's log.
      stdio: ['ignore', 'inherit', 'inherit', 'ipc'],
      serialization: 'advanced',
      // Of a share of the memory V8 knows nothing.
      execArgv: [...process.execArgv, `--max-old-space-size=${heapMbOf(this.#config)}`],
    });
    child.on('message', (message: FromWorker) => {
      if (message.kind === 'listening') this.#isUp = true;
    });
    // A channel that breaks is the end of the process, and `exit` reports that.
    child.on('error', () => undefined);
    child.once('exit', (code, signal) => this.#ended(code, signal));
    this.#child = child;
    const start = { worker, config: this.#config, engine, linkPath, httpPath, findsLocalServers };
    this.#send({ kind: 'start', start });
    return child;
  }

  #send(message: ToWorker): void {
    this.#child.send(message, () => undefined);
  }

  #ended(code: number | null, signal: NodeJS.Signals | null): void {
    this.#isUp = false;
    if (this.#isClosing) return;
    const { worker, log } = this.#deps;
    if (performance.now() - this.#startedMs >= LIVED_MS) this.#restartMs = RESTART_MS_MIN;
    log.general.error({ worker, code, signal, restartMs: this.#restartMs }, 'a worker has ended; it is started again');
    this.#timer = setTimeout(() => {
      this.#child = this.#start();
    }, this.#restartMs);
    this.#restartMs = Math.min(this.#restartMs * 2, RESTART_MS_MAX);
  }

  #waitForFirst(child: ChildProcess): Promise<void> {
    return new Promise((resolve, reject) => {
      const fail = (message: string, code?: string): void => {
        if (this.#isUp) return;
        // A gateway whose first start fails is not started again.
        this.#isClosing = true;
        clearTimeout(this.#timer);
        reject(Object.assign(new Error(message), code !== undefined && { code }));
      };
      const onEarlyExit = (): void => fail(`Worker ${this.#deps.worker} did not start.`);
      child.once('exit', onEarlyExit);
      child.once('message', (message: FromWorker) => {
        child.off('exit', onEarlyExit);
        if (message.kind === 'listening') resolve();
        else fail(message.message, message.code);
      });
    });
  }
}

/** Half of what the process may use: the rest is buffers, code and threads. */
function heapMbOf({ memory }: Pick<Config, 'memory'>): number {
  return Math.floor(memory.limitBytes / BYTES_PER_MB / 2);
}

function hasEnded({ exitCode, signalCode }: ChildProcess): boolean {
  return exitCode !== null || signalCode !== null;
}
