import type { Duplex } from 'node:stream';
import { GatewayError } from '../canonical/gateway-error.ts';
import type { JsonObject } from '../lib/json.ts';
import { CORS_HEADERS } from './cors.ts';

/** Draws an error in the shape of the endpoint at `path`. */
export type SerializeError = (error: GatewayError, path: string) => JsonObject;

interface ParserError extends Error {
  readonly code?: string;
  /** The bytes that the parser was given last. */
  readonly rawPacket?: Buffer;
}

/** A caller has so long to read its answer before the connection is closed for good. */
const CLOSE_MS = 2_000;
const answered = new WeakSet<Duplex>();

/** Those of every other answer. */
const HEADER_LINES = Object.entries(CORS_HEADERS)
  .map(([name, value]) => `${name}: ${value}\r\n`)
  .join('');

const REASON: Readonly<Record<number, string>> = {
  400: 'Bad Request',
  401: 'Unauthorized',
  408: 'Request Timeout',
  413: 'Payload Too Large',
};

/**
 * Answers what is not HTTP, which never becomes a request. A header that may not stand in HTTP is a fault of the
 * credentials where it is the one that carries them: a key with a NUL byte is as wrong as any other.
 */
export function answerClientError(error: ParserError, socket: Duplex, serialize: SerializeError): void {
  // What is still on its way is not read for its own sake: a socket that is closed with unread bytes loses the answer.
  if (answered.has(socket)) return;
  if (!socket.writable || error.code === 'ECONNRESET') {
    socket.destroy();
    return;
  }
  answered.add(socket);
  const timer = setTimeout(() => socket.destroy(), CLOSE_MS);
  socket.once('close', () => clearTimeout(timer));
  const refusal = refusalOf(error);
  const body = JSON.stringify(serialize(refusal, pathOf(error.rawPacket)));
  socket.end(
    `HTTP/1.1 ${refusal.status} ${REASON[refusal.status] ?? ''}\r\n` +
      `Connection: close\r\nContent-Type: application/json; charset=utf-8\r\n${HEADER_LINES}` +
      `Content-Length: ${Buffer.byteLength(body)}\r\n\r\n${body}`,
  );
}

function refusalOf({ code, rawPacket }: ParserError): GatewayError {
  if (code === 'ERR_HTTP_REQUEST_TIMEOUT')
    return new GatewayError('timeout', 'The request arrived too slowly.', { status: 408 });
  if (code === 'HPE_HEADER_OVERFLOW')
    return new GatewayError('payload_too_large', 'The request headers are too large.');
  if (code === 'HPE_INVALID_HEADER_TOKEN' && spoilsCredentials(rawPacket))
    return new GatewayError('authentication', 'The API key is not well-formed.');
  return new GatewayError('invalid_request', 'The request is not valid HTTP.');
}

/** Whether the header that carries the key is the one with a character that no header may hold. */
function spoilsCredentials(packet: Buffer | undefined): boolean {
  const [head = ''] = (packet?.toString('latin1') ?? '').split('\r\n\r\n', 1);
  return head
    .split('\r\n')
    .some((line) => /^(authorization|x-api-key):/i.test(line) && Array.from(line).some(isForbidden));
}

/** @source RFC 9110, 5.5: field values hold visible characters, blanks and tabs */
function isForbidden(character: string): boolean {
  const code = character.charCodeAt(0);
  return (code < 0x20 && code !== 0x09) || code === 0x7f;
}

function pathOf(packet: Buffer | undefined): string {
  return packet?.toString('latin1', 0, 300).split(' ', 2)[1] ?? '/';
}
