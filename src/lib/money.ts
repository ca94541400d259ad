const NANO_PER_USD = 1e9;

/** For amounts that callers and operators read. Inside, money is an integer of nano-USD (1e-9 USD). */
export function usdFromNano(nanoUsd: number): number {
  return nanoUsd / NANO_PER_USD;
}

/** Converts an amount of a caller or operator, to the nearest nano-USD. */
export function nanoFromUsd(usd: number): number {
  return Math.round(usd * NANO_PER_USD);
}

const NANO_DECIMALS = 9;

/** Formats every digit of an amount, for people and for tools that compare: `-0.000000001`. */
export function exactUsd(nanoUsd: number): string {
  const digits = Math.abs(nanoUsd)
    .toFixed(0)
    .padStart(NANO_DECIMALS + 1, '0');
  const fraction = digits.slice(-NANO_DECIMALS).replace(/0+$/, '');
  return `${nanoUsd < 0 ? '-' : ''}${digits.slice(0, -NANO_DECIMALS)}${fraction === '' ? '' : `.${fraction}`}`;
}

/** Parses the output of `exactUsd`, digit by digit; `undefined` for anything else, and for finer amounts. */
export function parseExactUsd(text: string): number | undefined {
  const [, sign, whole, fraction = ''] = /^(-?)(\d{1,12})(?:\.(\d{1,9}))?$/.exec(text) ?? [];
  if (whole === undefined) return undefined;
  const nanoUsd = Number(whole + fraction.padEnd(NANO_DECIMALS, '0'));
  return sign === '-' ? -nanoUsd : nanoUsd;
}
