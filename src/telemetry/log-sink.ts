import { write, writeSync } from 'node:fs';
import { systemClock } from '../lib/clock.ts';

/** So much is written in one piece: each write wakes a thread, which costs as much as half a request. A pipe holds more. */
const PIECE_CHARS = 49_152;
/** A line that no piece is full for waits no longer. */
const FLUSH_MS = 1_000;
/** What waits for a destination that takes nothing; lines beyond it are lost, and counted. */
const WAITING_CHARS_MAX = 4_194_304;
const RETRY_MS = 250;
/** The reader of a full pipe makes room within milliseconds: to wait longer would lose lines. */
const FULL_PIPE_MS = 10;
/** At the end of the process, with nothing left to do but to write: so often, so far apart. */
const LAST_TRIES_MAX = 10;
const LAST_PAUSE_MS = 50;

/** What is used of `node:fs`. */
export interface LogFiles {
  write(fd: number, bytes: Buffer, done: (error: NodeJS.ErrnoException | null, written: number) => void): void;
  writeSync(fd: number, bytes: Buffer): number;
}

/** The target of log lines. A failure of the target never reaches the code that logs. */
export interface LogSink {
  /** @param line complete, with its line end */
  write(this: void, line: string): void;
  /** Writes what waits, now and in this thread, and gives up after half a second: for the end of the process. */
  finish(this: void): void;
}

/**
 * The sink of the log package repeats at the end of the process a write that fails, for ever: a log on a full disk, or a
 * reader that went away, and the process neither served nor ended. Here a destination that takes nothing costs lines.
 */
export function createLogSink(fd: number, files: LogFiles = { write, writeSync }): LogSink {
  const waiting = new WaitingLines();
  let piece = Buffer.alloc(0);
  let isWriting = false;
  let isClosed = false;
  let timer: NodeJS.Timeout | undefined;

  const later = (ms: number): void => {
    timer ??= setTimeout(() => {
      timer = undefined;
      send();
    }, ms).unref();
  };
  const take = (): void => {
    if (piece.length === 0) piece = waiting.take();
  };
  const send = (): void => {
    if (isWriting || isClosed) return;
    take();
    if (piece.length === 0) return;
    clearTimeout(timer);
    timer = undefined;
    isWriting = true;
    const sent = piece;
    files.write(fd, sent, (error, written) => {
      isWriting = false;
      // Given up by `finish`, which may have left another one.
      if (piece !== sent) return;
      if (error !== null && endsIt(error)) close();
      else if (error !== null) later(isBusy(error) ? FULL_PIPE_MS : RETRY_MS);
      else {
        piece = piece.subarray(written);
        if (piece.length > 0 || waiting.length >= PIECE_CHARS) send();
        else if (waiting.length > 0) later(FLUSH_MS);
      }
    });
  };
  const close = (): void => {
    isClosed = true;
    piece = Buffer.alloc(0);
    waiting.take();
  };
  return {
    write(line) {
      if (isClosed || !waiting.add(line)) return;
      // What is on its way, or is tried again, takes along what came after it.
      if (piece.length > 0) return;
      if (waiting.length >= PIECE_CHARS) send();
      else later(FLUSH_MS);
    },
    finish() {
      // A piece that a thread is writing is not written twice: the process waits for the thread.
      if (isWriting) piece = Buffer.alloc(0);
      for (let tries = 0; tries < LAST_TRIES_MAX;) {
        take();
        if (piece.length === 0) return;
        try {
          piece = piece.subarray(files.writeSync(fd, piece));
        } catch (error) {
          if (!isBusy(error)) return;
          tries++;
          pause();
        }
      }
    },
  };
}

class WaitingLines {
  #text = '';
  #lost = 0;

  get length(): number {
    return this.#text.length;
  }

  /** `false`: there is no room for it, and it is counted. */
  add(line: string): boolean {
    const hasRoom = this.#text.length + line.length <= WAITING_CHARS_MAX;
    if (hasRoom) this.#text += line;
    else this.#lost++;
    return hasRoom;
  }

  take(): Buffer<ArrayBuffer> {
    const taken = Buffer.from(this.#lost === 0 ? this.#text : this.#text + serializeLoss(this.#lost));
    this.#text = '';
    this.#lost = 0;
    return taken;
  }
}

/** The reader is gone. */
function endsIt({ code }: NodeJS.ErrnoException): boolean {
  return code === 'EPIPE' || code === 'EBADF';
}

function isBusy(error: unknown): boolean {
  return error instanceof Error && 'code' in error && error.code === 'EAGAIN';
}

function pause(): void {
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, LAST_PAUSE_MS);
}

function serializeLoss(lines: number): string {
  const msg = 'lines of the log were lost: it took none for a while';
  return `${JSON.stringify({ level: 40, time: systemClock.nowMs(), lines, msg })}\n`;
}
