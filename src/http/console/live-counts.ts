import { nanoFromUsd, usdFromNano } from '../../lib/money.ts';
import type { LiveCounts, LiveRow } from '../../telemetry/live/live-hub.ts';

/** Counts of a view. `sampled`: of a view that sees its own requests alone, while more happened than rows are made of. */
export interface ViewCounts extends LiveCounts {
  readonly sampled: boolean;
}

export const NO_COUNTS: ViewCounts = { requests: 0, errors: 0, tokens: 0, cost: 0, per: {}, sampled: false };

/** Adds the counts of a second to those that a view was not sent yet. */
export function addCounts(counts: ViewCounts, more: LiveCounts): ViewCounts {
  const per: Record<string, number> = { ...counts.per };
  for (const [kind, requests] of Object.entries(more.per)) per[kind] = (per[kind] ?? 0) + requests;
  return {
    requests: counts.requests + more.requests,
    errors: counts.errors + more.errors,
    tokens: counts.tokens + more.tokens,
    cost: usdFromNano(nanoFromUsd(counts.cost) + nanoFromUsd(more.cost)),
    per,
    sampled: counts.sampled,
  };
}

/** Adds rows to the counts of a view that may not know those of all keys. */
export function countRows(counts: ViewCounts, rows: readonly LiveRow[], isSampled: boolean): ViewCounts {
  const per: Record<string, number> = { ...counts.per };
  let { requests, errors, tokens } = counts;
  let costNanoUsd = nanoFromUsd(counts.cost);
  for (const row of rows) {
    const status = numberOf(row, 'status');
    const kind = `${Math.floor(status / 100)}xx`;
    requests++;
    if (status >= 400) errors++;
    tokens += numberOf(row, 'tokens_prompt') + numberOf(row, 'tokens_completion');
    costNanoUsd += nanoFromUsd(numberOf(row, 'total_cost'));
    per[kind] = (per[kind] ?? 0) + 1;
  }
  return {
    requests,
    errors,
    tokens,
    cost: usdFromNano(costNanoUsd),
    per,
    sampled: counts.sampled || isSampled,
  };
}

function numberOf(row: LiveRow, member: string): number {
  const value = row[member];
  return typeof value === 'number' ? value : 0;
}
