import { randomUUID } from 'node:crypto';
import type { BackgroundTask } from '../../store/responses/background-tasks.ts';
import type { KnownOrigins } from '../origins.ts';
import { finishTask } from './finish.ts';
import { beginRun, type Run, type RunDeps } from './run.ts';

/** A process that stops without a word is known to be gone after this. */
export const LEASE_MS = 30_000;
const RENEW_MS = 10_000;
/** Events are stored, and cancellations seen, this often. */
const TICK_MS = 200;
/** Runs of keys that are refused by now are stopped this late at most. */
const KEYS_MS = 5_000;
/** How often a process looks for a response that waits: one of its own begins at once. */
const LOOK_MS = 1_000;
/** In one process at a time, of all keys. */
const RUNNING_MAX = 64;
/** Pause before a response's end is written again that the database did not take. */
const RETRY_MS = 1_000;

export interface RunnerDeps extends RunDeps {
  readonly origins: KnownOrigins;
  readonly perKey: number;
  /** For the operator. */
  readonly onFailed: (responseId: string | undefined, error: unknown) => void;
}

interface Running {
  readonly task: BackgroundTask;
  readonly run: Run;
  renewedMs: number;
  /** One write at a time: events are stored in their order. */
  storing: Promise<void>;
}

/** Runs responses in the background, as many as there may be at a time. */
export class BackgroundRunner {
  readonly #deps: RunnerDeps;
  readonly #id = randomUUID();
  readonly #running = new Map<string, Running>();
  readonly #settling = new Set<Promise<void>>();
  #timer: NodeJS.Timeout | undefined;
  #lookedMs = -Infinity;
  #keysMs = -Infinity;
  #isStopped = false;
  #ticking: Promise<void> = Promise.resolve();

  constructor(deps: RunnerDeps) {
    this.#deps = deps;
  }

  start(): void {
    this.#plan();
  }

  /** A response was accepted here: it begins now if it may. */
  nudge(): void {
    this.#lookedMs = -Infinity;
  }

  /**
   * What runs is given this time to end. What has no item by then waits for another process; the rest ends as failed, with
   * what it has.
   */
  async close(drainMs: number): Promise<void> {
    this.#isStopped = true;
    const allEnded = (): Promise<unknown> => Promise.allSettled(this.#settling);
    if (this.#running.size > 0) {
      const timer = setTimeout(() => {
        for (const { run } of this.#running.values()) run.stop('drain');
      }, drainMs);
      await allEnded();
      clearTimeout(timer);
    }
    clearTimeout(this.#timer);
    await this.#ticking;
    await allEnded();
  }

  #plan(): void {
    this.#timer = setTimeout(() => {
      this.#ticking = this.#tick();
    }, TICK_MS).unref();
  }

  async #tick(): Promise<void> {
    try {
      await this.#tend();
      if (!this.#isStopped) await this.#look();
    } catch (error) {
      this.#deps.onFailed(undefined, error);
    }
    if (!this.#isStopped || this.#running.size > 0) this.#plan();
  }

  /** Stops what is to stop, stores what came, and says that this process lives. */
  async #tend(): Promise<void> {
    if (this.#running.size === 0) return;
    const { tasks, clock } = this.#deps;
    const stops = await tasks.toStop([...this.#running.keys()], this.#id);
    for (const [id, why] of stops) this.#running.get(id)?.run.stop(why);
    await this.#stopRefused();
    const nowMs = clock.monotonicMs();
    for (const [id, running] of this.#running) {
      if (stops.get(id) === 'lost') {
        this.#running.delete(id);
        continue;
      }
      void this.#store(running);
      if (nowMs - running.renewedMs < RENEW_MS) continue;
      running.renewedMs = nowMs;
      await tasks.renew(id, this.#id, LEASE_MS);
    }
  }

  /** What a key may not begin any more, it does not go on with either. */
  async #stopRefused(): Promise<void> {
    const { findRefusedKeys, clock } = this.#deps;
    if (clock.monotonicMs() - this.#keysMs < KEYS_MS) return;
    this.#keysMs = clock.monotonicMs();
    const keys = new Set([...this.#running.values()].map(({ task }) => task.owner.keyHash));
    const refused = await findRefusedKeys([...keys]);
    for (const { task, run } of this.#running.values()) if (refused.has(task.owner.keyHash)) run.stop('refused');
  }

  async #look(): Promise<void> {
    const { tasks, clock, perKey } = this.#deps;
    if (clock.monotonicMs() - this.#lookedMs < LOOK_MS) return;
    this.#lookedMs = clock.monotonicMs();
    while (this.#running.size < RUNNING_MAX && !this.#isStopped) {
      const task = await tasks.claim(this.#id, { perKey, leaseMs: LEASE_MS });
      if (task === undefined) return;
      await this.#begin(task);
    }
  }

  async #begin(task: BackgroundTask): Promise<void> {
    const full = (): void => {
      const running = this.#running.get(task.id);
      if (running !== undefined) void this.#store(running);
    };
    const run = await beginRun(this.#deps, task, this.#id, full);
    if (run === undefined) {
      await this.#deps.tasks.end(task.id, this.#id);
      return;
    }
    const running: Running = { task, run, renewedMs: this.#deps.clock.monotonicMs(), storing: Promise.resolve() };
    this.#running.set(task.id, running);
    const settling = this.#settle(running).finally(() => this.#settling.delete(settling));
    this.#settling.add(settling);
  }

  async #settle(running: Running): Promise<void> {
    const { task, run } = running;
    try {
      const response = await run.ended;
      const end = async (): Promise<void> => {
        await this.#store(running);
        if (run.writer.unstored.length > 0) throw new Error('The events of a background response are not stored.');
        if (response === undefined) await this.#deps.tasks.release(task.id, this.#id);
        else {
          const deps = { ...this.#deps, runner: this.#id, leaseMs: LEASE_MS };
          await finishTask(deps, task, run.begun, response, run.writer.fold.lastNumber + 1);
        }
      };
      await this.#untilDone(task.id, end);
    } catch (error) {
      // Another process takes it over when the lease is over.
      this.#deps.onFailed(task.id, error);
    } finally {
      this.#running.delete(task.id);
      this.nudge();
    }
  }

  /** The end of a response is written again and again, as long as it is this process's. */
  async #untilDone(id: string, end: () => Promise<void>): Promise<void> {
    for (;;) {
      try {
        await end();
        return;
      } catch (error) {
        this.#deps.onFailed(id, error);
        if (!this.#running.has(id) || this.#isStopped) return;
        await new Promise((resolve) => setTimeout(resolve, RETRY_MS));
      }
    }
  }

  /** Never rejects: what is not stored stays for the next time. */
  #store(running: Running): Promise<void> {
    running.storing = this.#storeAfter(running.storing, running);
    return running.storing;
  }

  async #storeAfter(earlier: Promise<void>, { task, run }: Running): Promise<void> {
    await earlier;
    const { unstored } = run.writer;
    const [first, last] = [unstored[0], unstored.at(-1)];
    if (first === undefined || last === undefined) return;
    const count = unstored.length;
    const frames = unstored.map(({ frame }) => frame).join('');
    try {
      await this.#deps.events.append(task.id, task.owner, {
        firstNumber: first.number,
        lastNumber: last.number,
        frames,
      });
      run.writer.stored(count);
    } catch (error) {
      this.#deps.onFailed(task.id, error);
    }
  }
}
