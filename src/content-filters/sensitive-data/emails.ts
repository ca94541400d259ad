import type { Span } from '../contract.ts';

/** RFC 5321, 4.5.3.1: of the part before the sign, and of the domain. */
const LOCAL_CHARS_MAX = 64;
const DOMAIN_CHARS_MAX = 255;

const LOCAL_END = /[\p{L}\p{N}!#$%&'*+/=?^_`{|}~-]+(?:\.[\p{L}\p{N}!#$%&'*+/=?^_`{|}~-]+)*$/u;
const DOMAIN_START = /^[\p{L}\p{N}](?:[\p{L}\p{N}-]{0,62}\.)+(?:xn--[a-z0-9-]{2,59}|\p{L}{2,63})/iu;

/** Addresses as people write them: a quoted part before the sign and a bare host behind it are none. */
export function findEmails(text: string): readonly Span[] {
  const found: Span[] = [];
  let behind = 0;
  for (let at = text.indexOf('@'); at !== -1; at = text.indexOf('@', at + 1)) {
    const local = LOCAL_END.exec(text.slice(Math.max(behind, at - LOCAL_CHARS_MAX), at));
    const domain = DOMAIN_START.exec(text.slice(at + 1, at + 1 + DOMAIN_CHARS_MAX));
    if (local === null || domain === null) continue;
    behind = at + 1 + domain[0].length;
    found.push({ start: at - local[0].length, end: behind });
  }
  return found;
}
