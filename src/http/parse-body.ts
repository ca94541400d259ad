import { isUtf8 } from 'node:buffer';
import { GatewayError } from '../canonical/gateway-error.ts';
import type { Json } from '../lib/json.ts';

const BYTE_ORDER_MARK = '\ufeff';
/** What decoding makes of bytes that are not UTF-8. */
const REPLACEMENT = '\ufffd';

/** The text of a body, without its byte order mark. @throws GatewayError 400: it is not UTF-8 @spec request-38 */
export function decodeBody(bytes: Buffer): string {
  const text = bytes.toString('utf8');
  // Few texts hold the character, so that few are examined twice.
  if (text.includes(REPLACEMENT) && !isUtf8(bytes)) throw refused('The request body is not UTF-8. Send JSON in UTF-8.');
  return text.startsWith(BYTE_ORDER_MARK) ? text.slice(1) : text;
}

/** @throws GatewayError 400: it is not JSON @spec request-1, request-38 */
export function parseBody(text: string): Json {
  try {
    return JSON.parse(text);
  } catch (cause) {
    if (text.trim() === '') throw refused('The request body is empty. Send a JSON object.', cause);
    throw refused(`The request body is not valid JSON${reasonOf(cause)}.`, cause);
  }
}

// What V8 says without its excerpt of the text: errors are logged, what callers write is not.
const FAULT = /^(?:Unexpected end of JSON input|Unexpected token '[^\p{C}]'|[^"]+ at position \d+)/u;

function reasonOf(cause: unknown): string {
  const fault = cause instanceof SyntaxError ? FAULT.exec(cause.message)?.[0] : undefined;
  return fault === undefined ? '' : `: ${fault.charAt(0).toLowerCase()}${fault.slice(1)}`;
}

function refused(message: string, cause?: unknown): GatewayError {
  return new GatewayError('invalid_request', message, { cause });
}
