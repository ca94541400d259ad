import type { Match } from '../contract.ts';

const BASE64 = /[A-Za-z0-9+/_-]{8,}={0,2}/g;
/** `69676e6f7265`, `69 67 6e`, `\x69\x67`, `0x69 0x67`. */
const HEX = /(?:(?:\\x|0x)?[0-9a-f]{2}[\s:,]{0,2}){6,}/gi;
/** What a decoded text is searched for. @spec filter-16 */
const SOUGHT = /ignore|bypass|override|reveal|system|prompt/i;
/** Prose: base64 does not have capitals and digits in such places. */
const LOOKS_WRITTEN = /^(?:[A-Z]?[a-z]+|[A-Z]+|\d+|[a-z]+(?:[-_/][a-z]+)+)$/;
/** Of what is decoded so much must be text. */
const PRINTABLE_SHARE_MIN = 0.9;

/** Words in an encoding that models read directly. */
export function findEncoded(text: string): readonly Match[] {
  return [...findIn(text, BASE64, 'base64', decodeBase64), ...findIn(text, HEX, 'hex', decodeHex)];
}

function findIn(
  text: string,
  expression: RegExp,
  encoding: 'base64' | 'hex',
  decode: (encoded: string) => string,
): readonly Match[] {
  const found: Match[] = [];
  for (const { 0: encoded, index: start } of text.matchAll(expression)) {
    const word = wordIn(decode(encoded));
    if (word !== undefined) found.push({ start, end: start + encoded.length, pattern: `evasion.${encoding}_${word}` });
  }
  return found;
}

function decodeBase64(encoded: string): string {
  if (LOOKS_WRITTEN.test(encoded)) return '';
  return Buffer.from(encoded, 'base64').toString('latin1');
}

function decodeHex(encoded: string): string {
  const digits = encoded.replace(/\\x|0x|[\s:,]/gi, '');
  return Buffer.from(digits.length % 2 === 0 ? digits : digits.slice(0, -1), 'hex').toString('latin1');
}

function wordIn(decoded: string): string | undefined {
  const word = SOUGHT.exec(decoded)?.[0].toLowerCase();
  if (word === undefined) return undefined;
  const printable = decoded.replace(/[^\t\n\r\x20-\x7e]/g, '').length;
  return printable >= decoded.length * PRINTABLE_SHARE_MIN ? word : undefined;
}
