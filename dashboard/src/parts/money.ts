const NANO = 9;
const PLACES_SHOWN = 6;

/**
 * USD for tables, six decimals, grouped: `1,240.500000`. Sums with unknown parts are "at least".
 * @param usd as the API has it; null: no price is known
 */
export function formatUsd(usd: number | null | undefined, { atLeast = false, places = PLACES_SHOWN } = {}): string {
  if (usd === null || usd === undefined) return 'unknown';
  const text = usd.toLocaleString('en-US', { minimumFractionDigits: places, maximumFractionDigits: places });
  return atLeast ? `≥ ${text}` : text;
}

/** All nine decimals, for hover and copy. */
export function formatNanoUsd(usd: number): string {
  return usd.toFixed(NANO);
}

/** For headings and axes: `12.40`, `0.0031`, `1.2 k`. */
export function formatUsdShort(usd: number | null | undefined): string {
  if (usd === null || usd === undefined) return 'unknown';
  const size = Math.abs(usd);
  if (size === 0) return '0';
  if (size >= 10_000) return formatCompact(usd);
  if (size >= 1) return usd.toLocaleString('en-US', { minimumFractionDigits: 2, maximumFractionDigits: 2 });
  return usd.toLocaleString('en-US', { maximumSignificantDigits: 3, maximumFractionDigits: NANO });
}

/** USD a token, as the API has it, to USD a million tokens. */
export function formatPerMillion(perToken: string | undefined): string {
  if (perToken === undefined) return '–';
  const usd = Number(perToken) * 1_000_000;
  if (!Number.isFinite(usd)) return '–';
  if (usd === 0) return 'free';
  return usd >= 100 ? usd.toFixed(0) : usd.toFixed(2).replace(/^0\.00$/, usd.toPrecision(2));
}

export function formatCount(count: number | null | undefined): string {
  return count === null || count === undefined ? '–' : count.toLocaleString('en-US');
}

/** Of a list; of one that is too long to be read whole, both numbers. */
export function formatListCount({
  items,
  total,
}: {
  readonly items: readonly unknown[];
  readonly total: number;
}): string {
  return total > items.length ? `the first ${formatCount(items.length)} of ${formatCount(total)}` : formatCount(total);
}

const UNITS = ['', ' k', ' M', ' G', ' T'] as const;

/** Three digits and a unit, for axes and figures: `12.3 k`. */
export function formatCompact(value: number): string {
  let [size, unit] = [value, 0];
  while (Math.abs(size) >= 1_000 && unit < UNITS.length - 1) {
    size /= 1_000;
    unit += 1;
  }
  const digits = unit === 0 && Number.isInteger(size) ? 0 : Math.abs(size) >= 100 ? 0 : Math.abs(size) >= 10 ? 1 : 2;
  return `${Number(size.toFixed(digits))}${UNITS[unit]}`;
}

const BYTES = ['B', 'KB', 'MB', 'GB', 'TB'] as const;

export function formatBytes(bytes: number): string {
  let [size, unit] = [bytes, 0];
  while (size >= 1_000 && unit < BYTES.length - 1) {
    size /= 1_000;
    unit += 1;
  }
  return `${size >= 100 || unit === 0 ? Math.round(size) : size.toFixed(1)} ${BYTES[unit]}`;
}
