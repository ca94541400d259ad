import { connect, type Socket } from 'node:net';

import type { LoadJob } from './load-job.ts';
import { ResponseReader } from './response-reader.ts';

const CONNECT_MS = 10_000;
// One buffer serves the reads of all connections: each read is parsed to its end before the next one starts.
const readBuffer = Buffer.alloc(256 * 1024);

/** What one measurement does with the answers of its connections. Times are of `performance.now()`. */
export interface AnswerHandler {
  onFrames(connection: Connection, count: number, nowMs: number): void;
  /** The response is complete; `connection.reader.fault` says whether it was right. */
  onAnswer(connection: Connection, nowMs: number): void;
  /** The connection broke; an answer was due when `connection.busy`. */
  onLost(connection: Connection, reason: string): void;
}

/** A keep-alive connection with at most one request in flight. */
export class Connection {
  readonly reader: ResponseReader;
  busy = false;
  /** When the request was, or should have been, sent: latency counts from here. */
  dueAtMs = 0;
  /** 0 until the first frame of the answer came. */
  lastFrameAtMs = 0;

  readonly #socket: Socket;
  readonly #handler: AnswerHandler;
  readonly #request: Buffer;

  constructor(job: LoadJob, request: Buffer, handler: AnswerHandler, onOpen: (error?: Error) => void) {
    this.reader = new ResponseReader(job.expectation);
    this.#handler = handler;
    this.#request = request;
    this.#socket = connect({
      host: job.host,
      port: job.port,
      noDelay: true,
      onread: {
        buffer: readBuffer,
        callback: (bytes) => {
          this.#take(bytes);
          return true;
        },
      },
    });
    this.#socket.setTimeout(CONNECT_MS, () => onOpen(new Error('no connection in time')));
    this.#socket.once('connect', () => {
      this.#socket.setTimeout(0);
      onOpen();
    });
    this.#socket.on('error', (error) => {
      onOpen(error);
      this.#lose(error.message);
    });
    this.#socket.on('close', () => this.#lose('the server closed the connection'));
  }

  send(dueAtMs: number): void {
    this.busy = true;
    this.dueAtMs = dueAtMs;
    this.lastFrameAtMs = 0;
    this.reader.reset();
    this.#socket.write(this.#request);
  }

  close(): void {
    this.busy = false;
    this.#socket.removeAllListeners('close');
    this.#socket.destroy();
  }

  #take(bytes: number): void {
    const framesBefore = this.reader.frames;
    this.reader.read(readBuffer, bytes);
    const nowMs = performance.now();
    const frames = this.reader.frames - framesBefore;
    if (frames > 0) {
      this.#handler.onFrames(this, frames, nowMs);
      this.lastFrameAtMs = nowMs;
    }
    if (this.reader.complete && this.busy) {
      this.busy = false;
      this.#handler.onAnswer(this, nowMs);
    }
  }

  #lose(reason: string): void {
    this.#socket.removeAllListeners('close');
    this.#socket.destroy();
    this.#handler.onLost(this, reason);
    this.busy = false;
  }
}

/** Opens all connections, a few at a time so that no accept queue overflows. @throws when one cannot be opened. */
export async function openConnections(job: LoadJob, count: number, handler: AnswerHandler): Promise<Connection[]> {
  const request = Buffer.from(job.request);
  const connections: Connection[] = [];
  for (let opened = 0; opened < count; opened += 64) {
    const opening = Array.from({ length: Math.min(64, count - opened) }, async () => {
      const { promise, resolve, reject } = Promise.withResolvers<void>();
      connections.push(
        new Connection(job, request, handler, (error) => (error === undefined ? resolve() : reject(error))),
      );
      await promise;
    });
    await Promise.all(opening);
  }
  return connections;
}
