const SHOWN_FIRST = 3;
const SHOWN_LAST = 4;

/** By what a person recognises a secret: `Ab3...x9Zq`. One that is short shows nothing of itself. */
export function maskText(secret: string): string {
  if (secret.length < 4 * (SHOWN_FIRST + SHOWN_LAST)) return '...';
  return `${secret.slice(0, SHOWN_FIRST)}...${secret.slice(-SHOWN_LAST)}`;
}
