import { exactUsd } from '../lib/money.ts';
import type { Difference } from '../store/usage/verify-ledger.ts';

type Format = (of: string, expected: number, found: number) => string;

const WORDS: Readonly<Record<Difference['what'], Format>> = {
  charge: (of, expected, found) => `${of} cost ${exactUsd(expected)} USD and was charged ${exactUsd(found)} USD.`,
  spend: (of, expected, found) =>
    `${of} spent ${exactUsd(expected)} USD by its generations and ${exactUsd(found)} USD by its sum.`,
  requests: (of, expected, found) => `${of} has ${expected} generations that count and ${found} in its sum.`,
  balance: (of, expected, found) =>
    `${of} used ${exactUsd(expected)} USD by its entries and ${exactUsd(found)} USD by its balance.`,
};

/** One line of `credits verify`. */
export function formatDifference({ what, of, expected, found }: Difference): string {
  return WORDS[what](of, expected, found);
}
