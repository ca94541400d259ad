import { endOfString, NotThatJson, valueAt } from '../../lib/json/walk-bytes.ts';
import { dataUrlHead } from '../../lib/net/data-url.ts';

const BACKSLASH = 0x5c;
const HEAD_CHARS_MAX = 512;

/** A string of an answer that holds base64, where it ends, and what it is. */
export interface Base64Text {
  readonly base64: Buffer;
  readonly end: number;
}

/**
 * The base64 in the JSON string that begins at `at`, as the very bytes of the answer. The head of a data URL is left out. Some
 * servers escape slashes or break lines: only then is the string read and written anew.
 * @throws NotThatJson
 */
export function base64At(bytes: Buffer, at: number): Base64Text {
  const end = endOfString(bytes, at);
  let text = bytes.subarray(at + 1, end - 1);
  if (text.includes(BACKSLASH)) {
    const value = valueAt(bytes, at, end);
    if (typeof value !== 'string') throw new NotThatJson();
    text = Buffer.from(value.replaceAll(/\s+/g, ''), 'latin1');
  }
  const head = dataUrlHead(text.toString('latin1', 0, HEAD_CHARS_MAX));
  return { base64: text.subarray(head?.isBase64 === true ? head.length : 0), end };
}

/** Whether the string that begins at `at` is a data URL. */
export function isDataUrlAt(bytes: Buffer, at: number): boolean {
  return bytes.toString('latin1', at, at + 6).toLowerCase() === '"data:';
}
