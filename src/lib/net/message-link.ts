import type { Socket } from 'node:net';

/** What one side of a link offers the other: functions by name. Parameters and results are what JSON can hold, without `undefined`. */
export type Procedures = Readonly<Record<string, (parameters: never) => unknown>>;

type NameOf<Offered extends Procedures> = keyof Offered & string;
type ParametersOf<Offered extends Procedures, Name extends NameOf<Offered>> = Parameters<Offered[Name]>[0];
type ResultOf<Offered extends Procedures, Name extends NameOf<Offered>> = Awaited<ReturnType<Offered[Name]>>;

/** A call that has no result: the other side failed, or is gone. */
export class LinkError extends Error {
  override readonly name = 'LinkError';
}

/** Calls between two processes over a stream socket, in both directions. */
export interface MessageLink<Offered extends Procedures> {
  /** @throws LinkError where the other side throws, is gone, or has too much to do */
  call<Name extends NameOf<Offered>>(
    name: Name,
    parameters: ParametersOf<Offered, Name>,
  ): Promise<ResultOf<Offered, Name>>;
  /** Calls without a result. It is dropped where the other side is gone or has too much to do. */
  tell<Name extends NameOf<Offered>>(name: Name, parameters: ParametersOf<Offered, Name>): void;
  /** Sends at once what this turn of the event loop has called so far: what is sent elsewhere after it comes later. */
  flush(): void;
  close(): void;
  /** Settles when the link is closed, by whichever side. */
  readonly closed: Promise<void>;
}

/** Calls whose results are still to come. */
const CALLS_MAX = 50_000;
/** What the other side has not taken yet. Beyond it calls fail: it does not read. */
const UNSENT_BYTES_MAX = 67_108_864;
/** What one turn of the event loop sends. A longer line is from no gateway. */
const LINE_CHARS_MAX = 268_435_456;

type Frame<Content> =
  | readonly [kind: 'call', id: number, name: string, parameters: Content]
  | readonly [kind: 'tell', id: 0, name: string, parameters: Content]
  | readonly [kind: 'done', id: number, result: Content]
  | readonly [kind: 'failed', id: number, message: string];

/** The other side is of the same version, and so what came has the type that the procedure says. */
type ReceivedFrame = Frame<never>;

interface Waiting {
  readonly resolve: (result: never) => void;
  readonly reject: (error: LinkError) => void;
}

/**
 * Makes a link of a connected socket. Everything that one turn of the event loop sends is one line of JSON and one write,
 * because a write costs more than the calls in it. The other side gets the calls in the order in which they were made.
 * @param offer the procedures of this side, for the link that will call them
 */
export function openMessageLink<Offered extends Procedures>(
  socket: Socket,
  offer: (link: MessageLink<Offered>) => Procedures,
): MessageLink<Offered> {
  return new SocketLink<Offered>(socket, offer);
}

class SocketLink<Offered extends Procedures> implements MessageLink<Offered> {
  readonly closed: Promise<void>;
  readonly #socket: Socket;
  readonly #own: ReadonlyMap<string, (parameters: never) => unknown>;
  readonly #waiting = new Map<number, Waiting>();
  #calls = 0;
  #frames: Frame<unknown>[] = [];
  #received = '';

  constructor(socket: Socket, offer: (link: MessageLink<Offered>) => Procedures) {
    this.#socket = socket;
    this.closed = new Promise((resolve) => {
      socket.once('close', () => {
        this.#failAll();
        resolve();
      });
    });
    // Last, since it may use the link.
    this.#own = new Map(Object.entries(offer(this)));
    // `closed` reports the loss of a connection.
    socket.on('error', () => undefined);
    socket.setEncoding('utf8').on('data', (text: string) => this.#receive(text));
  }

  call<Name extends NameOf<Offered>>(
    name: Name,
    parameters: ParametersOf<Offered, Name>,
  ): Promise<ResultOf<Offered, Name>> {
    return new Promise((resolve, reject) => {
      if (!this.#takesMore() || this.#waiting.size >= CALLS_MAX) {
        reject(new LinkError(`The other process takes no calls: ${name}`));
        return;
      }
      const id = ++this.#calls;
      this.#waiting.set(id, { resolve, reject });
      this.#send(['call', id, name, parameters]);
    });
  }

  tell<Name extends NameOf<Offered>>(name: Name, parameters: ParametersOf<Offered, Name>): void {
    if (this.#takesMore()) this.#send(['tell', 0, name, parameters]);
  }

  flush(): void {
    this.#leave();
  }

  close(): void {
    this.#leave();
    this.#socket.destroySoon();
  }

  #takesMore(): boolean {
    return this.#socket.writable && this.#socket.writableLength < UNSENT_BYTES_MAX;
  }

  #send(frame: Frame<unknown>): void {
    if (this.#frames.length === 0) setImmediate(this.#leave);
    this.#frames.push(frame);
  }

  readonly #leave = (): void => {
    if (this.#frames.length === 0) return;
    const line = `${JSON.stringify(this.#frames)}\n`;
    this.#frames = [];
    if (this.#socket.writable) this.#socket.write(line);
  };

  #receive(text: string): void {
    const lines = text.split('\n');
    const last = lines.pop() ?? '';
    for (const line of lines) {
      const frames = readFrames(this.#received + line);
      this.#received = '';
      // What connected is no process of a gateway.
      if (frames === undefined) this.#socket.destroy();
      for (const frame of frames ?? []) this.#take(frame);
    }
    this.#received += last;
    if (this.#received.length > LINE_CHARS_MAX) this.#socket.destroy();
  }

  #take(frame: ReceivedFrame): void {
    if (frame[0] === 'call' || frame[0] === 'tell') {
      const [kind, id, name, parameters] = frame;
      void this.#run(kind === 'call' ? id : undefined, name, parameters);
      return;
    }
    const [, id] = frame;
    const waiting = this.#waiting.get(id);
    this.#waiting.delete(id);
    if (frame[0] === 'failed') waiting?.reject(new LinkError(frame[2]));
    else waiting?.resolve(frame[2]);
  }

  /** @param id of the call; absent: the other side waits for no result */
  async #run(id: number | undefined, name: string, parameters: never): Promise<void> {
    try {
      const procedure = this.#own.get(name);
      if (procedure === undefined) throw new LinkError(`There is no procedure ${name}.`);
      const result = await procedure(parameters);
      if (id !== undefined) this.#send(['done', id, result]);
    } catch (error) {
      if (id !== undefined) this.#send(['failed', id, error instanceof Error ? error.message : String(error)]);
    }
  }

  #failAll(): void {
    for (const { reject } of this.#waiting.values()) reject(new LinkError('The other process is gone.'));
    this.#waiting.clear();
  }
}

/** `undefined`: the line holds something else. */
function readFrames(line: string): readonly ReceivedFrame[] | undefined {
  try {
    const found: unknown = JSON.parse(line);
    return areFrames(found) ? found : undefined;
  } catch {
    return undefined;
  }
}

/** Distinguishes a gateway from other programs: between its own processes there is nothing to check. */
function areFrames(value: unknown): value is readonly ReceivedFrame[] {
  return Array.isArray(value) && value.every((frame) => Array.isArray(frame));
}
