const SHOWN_FIRST = 3;
const SHOWN_LAST = 4;

/** Masks a secret so that a person can recognise it: `Ab3...x9Zq`. A short secret is masked completely. */
export function maskText(secret: string): string {
  if (secret.length < 4 * (SHOWN_FIRST + SHOWN_LAST)) return '...';
  return `${secret.slice(0, SHOWN_FIRST)}...${secret.slice(-SHOWN_LAST)}`;
}
