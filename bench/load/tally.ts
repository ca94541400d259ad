import type { Connection } from './connection.ts';
import type { LoadResult } from './load-job.ts';
import { NO_QUANTILES, Samples } from '../statistics.ts';

const SAMPLES_MAX = 1 << 20;

/** Counts of one measurement. */
export class Tally {
  readonly lateUs = new Samples(1 << 16);
  readonly gapMs: Samples | undefined;
  stalls = 0;

  readonly #latencyUs = new Samples(SAMPLES_MAX);
  readonly #firstFrameUs = new Samples(SAMPLES_MAX);
  #completed = 0;
  #bad = 0;
  #frames = 0;
  #late = { answers: 0, frames: 0 };
  #firstFault: string | undefined;

  constructor(options: { readonly measuresGaps: boolean }) {
    if (options.measuresGaps) this.gapMs = new Samples(SAMPLES_MAX);
  }

  addFrames(connection: Connection, count: number, nowMs: number): void {
    this.#frames += count;
    if (connection.lastFrameAtMs === 0) this.#firstFrameUs.add((nowMs - connection.dueAtMs) * 1000);
  }

  addAnswer(connection: Connection, nowMs: number): void {
    if (connection.reader.fault === undefined) {
      this.#completed += 1;
      this.#latencyUs.add((nowMs - connection.dueAtMs) * 1000);
    } else this.addFault(connection.reader.fault);
  }

  /** What came after the time was up: no rate counts it, but the server has worked for it. */
  addLate(late: { readonly answers?: number; readonly frames?: number }): void {
    this.#late.answers += late.answers ?? 0;
    this.#late.frames += late.frames ?? 0;
  }

  addFault(fault: string): void {
    this.#bad += 1;
    this.#firstFault ??= fault;
  }

  result(elapsedMs: number): LoadResult {
    return {
      completed: this.#completed,
      bad: this.#bad,
      ...(this.#firstFault !== undefined && { firstFault: this.#firstFault }),
      elapsedMs,
      frames: this.#frames,
      late: { ...this.#late },
      latencyUs: this.#latencyUs.quantiles(),
      firstFrameUs: this.#firstFrameUs.quantiles(),
      lateUs: this.lateUs.quantiles(),
      gapMs: this.gapMs?.quantiles() ?? NO_QUANTILES,
      stalls: this.stalls,
    };
  }
}
