import type { Socket } from 'node:net';
import { buildConnector } from 'undici';
import type { ProxyOf } from './proxy/proxies.ts';
import { throughProxies } from './proxy/tunnel.ts';

/** A `100 Continue`, up to its blank line: the response proper follows it. */
const CONTINUE = /^HTTP\/1\.[01] 100[ \r]/;
const CONTINUE_CHARS = 'HTTP/1.1 100 '.length;
const END = '\r\n\r\n';
/** A longer one is passed on unchanged. */
const CONTINUE_BYTES_MAX = 16 * 1_024;

/**
 * Connects as undici does, with sockets that remove `100 Continue` before a response: some servers send it unsolicited,
 * which HTTP allows, and undici drops the connection for it. @source RFC 9110, 15.2; undici 8 `onHeadersComplete`
 */
export function createConnector(
  options: buildConnector.BuildOptions & { readonly timeout: number },
  proxyOf: ProxyOf | undefined,
): buildConnector.connector {
  const direct = buildConnector(options);
  const connect = proxyOf === undefined ? direct : throughProxies(direct, proxyOf, { timeoutMs: options.timeout });
  return (target, callback) =>
    connect(target, (...result) => {
      const [error, socket] = result;
      if (error === null) skipContinue(socket);
      callback(...result);
    });
}

type Written = (error?: Error | null) => void;

/** Examines the first bytes after each request, which undici takes by `read`; all others pass untouched. */
function skipContinue(socket: Socket): void {
  const read = socket.read.bind(socket);
  const write = socket.write.bind(socket);
  let isBeginning = false;
  let held: Buffer | undefined;

  /** The bytes to parse; `null`: none yet. */
  function strip(chunk: Buffer): Buffer | null {
    let rest = held === undefined ? chunk : Buffer.concat([held, chunk]);
    held = undefined;
    while (mayBeContinue(rest)) {
      const end = rest.indexOf(END);
      if (end < 0 && rest.length < CONTINUE_BYTES_MAX) {
        held = rest;
        return null;
      }
      if (end < 0) break;
      rest = rest.subarray(end + END.length);
      // The response proper has not arrived yet.
      if (rest.length === 0) return null;
    }
    isBeginning = false;
    return rest;
  }

  socket.read = (size?: number): unknown => {
    for (;;) {
      const chunk: unknown = read(size);
      if (!isBeginning || !Buffer.isBuffer(chunk)) return chunk;
      const rest = strip(chunk);
      if (rest !== null) return rest;
    }
  };
  socket.write = (bytes: string | Uint8Array, second?: BufferEncoding | Written, third?: Written): boolean => {
    isBeginning = true;
    return typeof second === 'function' ? write(bytes, second) : write(bytes, second, third);
  };
}

/** Of the status, in the first line. */
const FIRST_DIGIT_AT = 'HTTP/1.1 '.length;
const ONE = 49;

/** True also for a beginning that is too short to decide. */
function mayBeContinue(bytes: Buffer): boolean {
  if (bytes.length > FIRST_DIGIT_AT && bytes[FIRST_DIGIT_AT] !== ONE) return false;
  const head = bytes.toString('latin1', 0, CONTINUE_CHARS);
  if (head.length === CONTINUE_CHARS) return CONTINUE.test(head);
  return 'HTTP/1.1 100 '.startsWith(head) || 'HTTP/1.0 100 '.startsWith(head);
}
