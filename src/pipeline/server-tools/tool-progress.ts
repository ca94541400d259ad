import type { EventBatch, ToolProgressEvent } from '../../canonical/events.ts';

/** Reports that wait to be read; further ones are left out. */
const WAITING_MAX = 1_000;

/** What running tools report, until the caller of the response reads it. */
export class ProgressQueue {
  #waiting: ToolProgressEvent[] = [];
  #wake: (() => void) | undefined;

  push(event: ToolProgressEvent): void {
    if (this.#waiting.length < WAITING_MAX) this.#waiting.push(event);
    this.#wake?.();
  }

  /** What was reported, as soon as there is something; `undefined`: nothing more until the end. Rejects as `end` does. */
  async takeUntil(end: Promise<unknown>): Promise<EventBatch | undefined> {
    if (this.#waiting.length === 0) {
      const reported = new Promise<void>((resolve) => {
        this.#wake = resolve;
      });
      await Promise.race([end, reported]);
      this.#wake = undefined;
    }
    const events = this.#waiting;
    this.#waiting = [];
    return events.length === 0 ? undefined : events;
  }
}
