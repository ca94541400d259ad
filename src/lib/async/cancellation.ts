/** What gives a signal to those that take one. */
export interface SignalSource {
  readonly signal: AbortSignal;
}

/**
 * An `AbortController` for what is under way in every request, and is hardly ever cancelled: it makes a signal only for
 * those that ask for one, since a signal with one listener takes as long as all else that opens a request.
 */
export class Cancellation<Reason = unknown> implements SignalSource {
  #isAborted = false;
  #reason: Reason | undefined;
  #listeners: readonly (() => void)[] = [];
  #controller: AbortController | undefined;

  get aborted(): boolean {
    return this.#isAborted;
  }

  /** `undefined` until it is aborted. */
  get reason(): Reason | undefined {
    return this.#reason;
  }

  /** Made when it is first read. */
  get signal(): AbortSignal {
    if (this.#controller === undefined) {
      this.#controller = new AbortController();
      if (this.#isAborted) this.#controller.abort(this.#reason);
    }
    return this.#controller.signal;
  }

  /** Only the first call counts. */
  abort(reason: Reason): void {
    if (this.#isAborted) return;
    this.#isAborted = true;
    this.#reason = reason;
    const listeners = this.#listeners;
    this.#listeners = [];
    for (const listener of listeners) listener();
    this.#controller?.abort(reason);
  }

  /** Is called when it is aborted from now on. */
  onAbort(listener: () => void): void {
    this.#listeners = [...this.#listeners, listener];
  }

  offAbort(listener: () => void): void {
    this.#listeners = this.#listeners.filter((other) => other !== listener);
  }
}
