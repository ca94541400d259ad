import { connect, type Socket } from 'node:net';

/** What came back over one connection. */
export interface RawAnswer {
  /** 0: nothing, or not HTTP. */
  readonly status: number;
  readonly head: string;
  readonly body: string;
  /** The connection was reset. */
  readonly wasReset: boolean;
  readonly tookMs: number;
}

export interface RawRequest {
  /** Where the gateway listens: `http://127.0.0.1:PORT`. */
  readonly url: string;
  readonly send: (socket: Socket) => void;
  /** Does not read before everything was written, as many clients do. */
  readonly readsLate?: boolean;
  /** Closes a connection that the gateway keeps, once something came. */
  readonly closes?: boolean;
}

/** Sends bytes as they are, and settles when the connection is closed at both ends. */
export function exchangeRaw({ url, send, readsLate = false, closes = false }: RawRequest): Promise<RawAnswer> {
  return new Promise((resolve) => {
    const startedMs = performance.now();
    const received: Buffer[] = [];
    let wasReset = false;
    const socket = connect(Number(new URL(url).port), '127.0.0.1');
    socket.on('error', () => (wasReset = true));
    socket.on('close', () => {
      const [head = '', body = ''] = Buffer.concat(received).toString('utf8').split('\r\n\r\n', 2);
      const tookMs = performance.now() - startedMs;
      resolve({ status: Number(head.split(' ')[1] ?? 0), head, body, wasReset, tookMs });
    });
    const read = (): void =>
      void socket.on('data', (chunk) => {
        received.push(chunk);
        if (closes) socket.end();
      });
    if (readsLate) socket.once('drain', read);
    else read();
    send(socket);
  });
}

export function requestHead(line: string, ...headers: readonly string[]): string {
  return [`${line} HTTP/1.1`, 'Host: gateway.test', ...headers, '', ''].join('\r\n');
}
