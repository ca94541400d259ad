/** Wakes what follows runs of this process. Those of other processes are looked at now and then. */
export interface RunSignals {
  changed(runId: string): void;
  /** Settles when the run has changed here, or after this time. */
  next(runId: string, afterMs: number, signal: AbortSignal): Promise<void>;
}

export function createRunSignals(): RunSignals {
  const waiting = new Map<string, Set<() => void>>();
  return {
    changed(runId) {
      for (const wake of waiting.get(runId) ?? []) wake();
    },
    next(runId, afterMs, signal) {
      return new Promise((resolve) => {
        const wakers = waiting.get(runId) ?? new Set();
        waiting.set(runId, wakers);
        const wake = (): void => {
          clearTimeout(timer);
          signal.removeEventListener('abort', wake);
          wakers.delete(wake);
          if (wakers.size === 0) waiting.delete(runId);
          resolve();
        };
        const timer = setTimeout(wake, afterMs);
        signal.addEventListener('abort', wake, { once: true });
        wakers.add(wake);
        if (signal.aborted) wake();
      });
    },
  };
}
