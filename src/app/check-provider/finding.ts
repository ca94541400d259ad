/** The outcome of one check. */
export interface Finding {
  readonly verdict: 'ok' | 'warning' | 'failed';
  /** Complete sentences for the operator, without a secret. */
  readonly message: string;
}

export interface ProviderFinding extends Finding {
  /** How far this machine's clock is ahead of the provider's, ms; absent: it did not say. */
  readonly clockAheadMs?: number;
}
