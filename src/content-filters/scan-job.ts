import type { FilterRule, InspectedText } from './contract.ts';

/** Input of a thread: one scan. Its result is a `ScanResult`. */
export interface ScanJob {
  readonly texts: readonly InspectedText[];
  readonly rules: readonly FilterRule[];
}
