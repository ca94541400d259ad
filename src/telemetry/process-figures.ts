import type { WatchedJournal } from './metrics/journal-series.ts';

/** How one process does now. Counts are since its start. */
export interface ProcessFigures {
  readonly pid: number;
  readonly uptimeMs: number;
  readonly memoryBytes: number;
  readonly heapBytes: number;
  /** Delays of the event loop since the last scrape of the metrics, ms. */
  readonly loopDelayMs: { readonly p50: number; readonly p99: number; readonly max: number };
  readonly openStreams: number;
  readonly requestsInFlight: number;
  readonly recordsLost: number;
  readonly contentLost: number;
  readonly policyReports: number;
  readonly journal: WatchedJournal;
}
