import { hash } from 'node:crypto';
import type { IncomingHttpHeaders } from 'node:http';

/** 132 bits of the hash: two answers that are not the same have not the same tag. */
const TAG_CHARS = 22;

/** What names this very answer, in quotes as the header wants it. */
export function etagOf(text: string): string {
  return `"${hash('sha256', text, 'base64url').slice(0, TAG_CHARS)}"`;
}

/** Whether the client says that it has this answer. Weak tags compare like strong ones. @source RFC 9110, 13.1.2 */
export function hasAlready({ 'if-none-match': known }: IncomingHttpHeaders, tag: string): boolean {
  if (known === undefined) return false;
  return known.split(',').some((one) => {
    const name = one.trim();
    return name === '*' || name === tag || name === `W/${tag}`;
  });
}
