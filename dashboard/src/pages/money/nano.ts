/** Nano-USD are texts in the API, since sums may be beyond what a number holds. */
const NANO_PLACES = 9;

/** `759500000000` as `759.500000000`. */
export function formatNanoText(nano: string): string {
  if (!/^-?\d+$/.test(nano)) return nano;
  const digits = nano.replace('-', '').padStart(NANO_PLACES + 1, '0');
  const whole = digits.slice(0, -NANO_PLACES).replaceAll(/\B(?=(?:\d{3})+$)/g, ',');
  return `${nano.startsWith('-') ? '-' : ''}${whole}.${digits.slice(-NANO_PLACES)}`;
}

/** Of two such texts, exact. */
export function differenceOf(one: string, other: string): string {
  return formatNanoText(String(BigInt(one) - BigInt(other)));
}
