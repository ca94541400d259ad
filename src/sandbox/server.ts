import { once } from 'node:events';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import { isIPv6 } from 'node:net';
import { assert } from '../lib/assert.ts';
import { systemClock, type Clock } from '../lib/clock.ts';
import { parseJson, type Json } from '../lib/json.ts';
import { createPromptCache } from './prompt-cache.ts';
import { refuse, respond } from './respond.ts';
import { Refusal } from './refusal.ts';

/** A request as it came in, for tests. */
export interface SandboxRequest {
  /** With the query. */
  readonly path: string;
  readonly headers: Readonly<Record<string, string | readonly string[] | undefined>>;
  /** `undefined` without a body, or with one that is no JSON. */
  readonly body: Json | undefined;
}

export interface SandboxOptions {
  readonly host: string;
  /** 0 picks a free one. */
  readonly port: number;
  readonly clock?: Clock;
  /** Sees every request before it is answered. */
  readonly onRequest?: (request: SandboxRequest) => void;
  /** Sees every request whose caller hung up before the answer was complete. */
  readonly onHangUp?: (request: SandboxRequest) => void;
}

export interface Sandbox {
  /** `http://127.0.0.1:9101/v1`. */
  readonly baseUrl: string;
  /** Stops at once: answers under way are cut. */
  close(): Promise<void>;
}

const CONNECTIONS_MAX = 10_000;
/** Longer than clients keep idle connections, so that none is closed under a request. */
const KEEP_ALIVE_MS = 75_000;

/** Starts the sandbox upstream. @throws NodeJS.ErrnoException when the address cannot be listened on */
export async function startSandbox(options: SandboxOptions): Promise<Sandbox> {
  const parts = { cache: createPromptCache(), clock: options.clock ?? systemClock };
  let isClosing = false;

  async function handle(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const hangUp = new AbortController();
    let isBrokenOff = false;
    response.once('close', () => {
      if (!response.writableEnded) hangUp.abort();
    });
    const bytes = await readBody(request, hangUp.signal);
    const path = request.url ?? '/';
    const body = parseJson(bytes.toString('utf8'));
    const seen: SandboxRequest = { path, headers: request.headers, body };
    options.onRequest?.(seen);
    hangUp.signal.addEventListener('abort', () => {
      if (!isBrokenOff && !isClosing) options.onHangUp?.(seen);
    });
    const breakOff = (): void => {
      isBrokenOff = true;
      // What was written before still goes out; `destroy` would throw it away.
      if (response.socket === null) response.destroy();
      else response.socket.destroySoon();
    };
    await respond({ request, response, bytes, body, signal: hangUp.signal, breakOff }, parts);
  }

  const server = createServer({ keepAliveTimeout: KEEP_ALIVE_MS }, (request, response) => {
    handle(request, response).catch((error: unknown) => refuse(request, response, error));
  });
  server.maxConnections = CONNECTIONS_MAX;
  server.listen(options.port, options.host);
  await once(server, 'listening');
  return {
    baseUrl: `http://${isIPv6(options.host) ? `[${options.host}]` : options.host}:${portOf(server)}/v1`,
    async close() {
      isClosing = true;
      const closed = once(server, 'close');
      server.close();
      server.closeAllConnections();
      await closed;
    },
  };
}

function portOf(server: Server): number {
  const address = server.address();
  assert(address !== null && typeof address === 'object', 'a listening server has an address');
  return address.port;
}

const BODY_BYTES_MAX = 64 * 1_024 * 1_024;

/** The whole body of a request. @throws Refusal 413, AbortError when the caller hangs up first */
function readBody(request: IncomingMessage, signal: AbortSignal): Promise<Buffer> {
  return new Promise((resolve, reject) => {
    const chunks: Buffer[] = [];
    let bytes = 0;
    const onAbort = (): void => reject(new DOMException('The caller hung up', 'AbortError'));
    signal.addEventListener('abort', onAbort, { once: true });
    request.on('data', (chunk: Buffer) => {
      bytes += chunk.length;
      if (bytes <= BODY_BYTES_MAX) {
        chunks.push(chunk);
        return;
      }
      // What still comes is thrown away, so that the caller gets to read the answer.
      chunks.length = 0;
      reject(new Refusal(413, `The request is larger than ${BODY_BYTES_MAX} bytes.`));
    });
    request.once('error', reject);
    request.once('end', () => {
      signal.removeEventListener('abort', onAbort);
      resolve(Buffer.concat(chunks));
    });
  });
}
