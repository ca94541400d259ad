const NANO_PER_USD = 1e9;

/** For what callers and operators read. Inside, money is an integer of nano-USD (1e-9 USD). */
export function usdFromNano(nanoUsd: number): number {
  return nanoUsd / NANO_PER_USD;
}

/** An amount as callers and operators write it, to the nearest nano-USD. */
export function nanoFromUsd(usd: number): number {
  return Math.round(usd * NANO_PER_USD);
}
