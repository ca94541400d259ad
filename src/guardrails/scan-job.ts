import type { FilterRule, InspectedText } from './contract.ts';

/** What a thread is asked: one scan. It answers with a `ScanResult`. */
export interface ScanJob {
  readonly texts: readonly InspectedText[];
  readonly rules: readonly FilterRule[];
}
