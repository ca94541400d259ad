import type { Expectation } from './load-job.ts';

const HEAD_BYTES_MAX = 64 * 1024;
const TAIL_BYTES = 64;
const FAULT_TEXT_MAX = 300;
const NEWLINE = 0x0a;
const CARRIAGE_RETURN = 0x0d;
const HEAD_END = Buffer.from('\r\n\r\n');

type Phase = 'head' | 'sized-body' | 'chunk-size' | 'chunk-data' | 'chunk-end' | 'trailer' | 'complete';

/**
 * Reads the answers of one connection, one at a time: content-length and chunked bodies, nothing else. It decodes no text and builds no
 * objects, so that the generator stays cheaper than what it measures; it still counts every SSE frame and checks how the answer ends.
 */
export class ResponseReader {
  /** SSE frames of this answer: blank lines in its body. */
  frames = 0;
  /** Why this answer is wrong; undefined while nothing is. */
  fault: string | undefined;

  readonly #expectation: Expectation;
  readonly #marker: Buffer;
  readonly #tail = Buffer.alloc(TAIL_BYTES);
  #tailBytes = 0;
  #phase: Phase = 'head';
  #headPiece: Buffer | undefined;
  /** Bytes left of the body or of the chunk. */
  #bytesLeft = 0;
  #hasSizeDigits = false;
  #skipsLine = false;
  #trailerLineBytes = 0;
  #endedWithNewline = false;
  #foundMarker = false;

  constructor(expectation: Expectation) {
    this.#expectation = expectation;
    this.#marker = Buffer.from(expectation.marker);
  }

  get complete(): boolean {
    return this.#phase === 'complete';
  }

  /** Forgets the answer that was read: the next byte is the start of another. */
  reset(): void {
    this.frames = 0;
    this.fault = undefined;
    this.#phase = 'head';
    this.#headPiece = undefined;
    this.#tailBytes = 0;
    this.#endedWithNewline = false;
    this.#foundMarker = false;
  }

  /** Takes the first `end` bytes of a buffer that the caller reuses afterwards. */
  read(buffer: Buffer, end: number): void {
    let at = 0;
    while (at < end) {
      switch (this.#phase) {
        case 'head':
          at = this.#readHead(buffer, at, end);
          break;
        case 'sized-body':
        case 'chunk-data': {
          const stop = Math.min(end, at + this.#bytesLeft);
          this.#readBody(buffer, at, stop);
          this.#bytesLeft -= stop - at;
          at = stop;
          if (this.#bytesLeft === 0) this.#endBody();
          break;
        }
        case 'chunk-end':
          if (buffer[at++] === NEWLINE) this.#startChunkSize();
          break;
        case 'chunk-size':
          at = this.#readChunkSize(buffer, at, end);
          break;
        case 'trailer':
          at = this.#readTrailer(buffer, at, end);
          break;
        case 'complete':
          this.fault ??= 'bytes after the end of the answer';
          return;
        default:
          this.#phase satisfies never;
      }
    }
  }

  #readHead(buffer: Buffer, start: number, end: number): number {
    const piece = buffer.subarray(start, end);
    const held = this.#headPiece === undefined ? piece : Buffer.concat([this.#headPiece, piece]);
    const headEnd = held.indexOf(HEAD_END);
    if (headEnd < 0) {
      this.#headPiece = Buffer.from(held);
      if (held.length > HEAD_BYTES_MAX) this.fault ??= 'the head has no end';
      return end;
    }
    const headBytesBefore = held.length - piece.length;
    const bodyStart = start + headEnd + HEAD_END.length - headBytesBefore;
    this.#headPiece = undefined;
    const head = held.toString('latin1', 0, headEnd);
    if (!head.startsWith('HTTP/1.1 200')) {
      const bodyText = buffer.toString('utf8', bodyStart, Math.min(end, bodyStart + FAULT_TEXT_MAX));
      this.fault ??= `${head.slice(9, head.indexOf('\r\n'))}: ${bodyText}`;
    }
    const lower = head.toLowerCase();
    const lengthAt = lower.indexOf('\r\ncontent-length:');
    if (lengthAt >= 0) {
      this.#bytesLeft = Number.parseInt(lower.slice(lengthAt + 17, lengthAt + 40), 10);
      this.#phase = 'sized-body';
      if (this.#bytesLeft === 0) this.#endBody();
    } else if (lower.includes('\r\ntransfer-encoding: chunked')) this.#startChunkSize();
    else {
      this.fault ??= 'the body has no framing';
      this.#phase = 'complete';
    }
    return bodyStart;
  }

  #startChunkSize(): void {
    this.#phase = 'chunk-size';
    this.#bytesLeft = 0;
    this.#hasSizeDigits = false;
    this.#skipsLine = false;
  }

  #readChunkSize(buffer: Buffer, start: number, end: number): number {
    let at = start;
    while (at < end) {
      const byte = buffer[at++] ?? 0;
      if (byte === NEWLINE) {
        if (!this.#hasSizeDigits) this.fault ??= 'a chunk has no size';
        this.#trailerLineBytes = 0;
        this.#phase = this.#bytesLeft > 0 ? 'chunk-data' : 'trailer';
        return at;
      }
      const digit = readHexDigit(byte);
      if (digit < 0 || this.#skipsLine) this.#skipsLine = true;
      else {
        this.#bytesLeft = this.#bytesLeft * 16 + digit;
        this.#hasSizeDigits = true;
      }
    }
    return at;
  }

  /** Trailer lines are skipped up to the empty one. */
  #readTrailer(buffer: Buffer, start: number, end: number): number {
    let at = start;
    while (at < end) {
      const byte = buffer[at++];
      if (byte === NEWLINE) {
        if (this.#trailerLineBytes === 0) {
          this.#finish();
          return at;
        }
        this.#trailerLineBytes = 0;
      } else if (byte !== CARRIAGE_RETURN) this.#trailerLineBytes += 1;
    }
    return at;
  }

  #endBody(): void {
    if (this.#phase === 'chunk-data') this.#phase = 'chunk-end';
    else this.#finish();
  }

  #readBody(buffer: Buffer, start: number, end: number): void {
    if (this.#expectation.kind === 'stream') {
      this.#countFrames(buffer, start, end);
      this.#keepTail(buffer, start, end);
      return;
    }
    if (this.#foundMarker) return;
    const straddle =
      this.#tailBytes === 0
        ? undefined
        : Buffer.concat([this.#tail.subarray(0, this.#tailBytes), buffer.subarray(start, end)]);
    this.#foundMarker = (straddle ?? buffer.subarray(start, end)).includes(this.#marker);
    this.#keepTail(buffer, start, end);
  }

  /** A blank line may be cut anywhere by reads and by chunks, so the last byte of a piece is remembered. */
  #countFrames(buffer: Buffer, start: number, end: number): void {
    let at = start;
    if (this.#endedWithNewline && buffer[at] === NEWLINE) {
      this.frames += 1;
      at += 1;
    }
    this.#endedWithNewline = false;
    while (at < end) {
      const newlineAt = buffer.indexOf(NEWLINE, at);
      if (newlineAt < 0 || newlineAt >= end) return;
      if (newlineAt + 1 === end) {
        this.#endedWithNewline = true;
        return;
      }
      if (buffer[newlineAt + 1] === NEWLINE) {
        this.frames += 1;
        at = newlineAt + 2;
      } else at = newlineAt + 1;
    }
  }

  #keepTail(buffer: Buffer, start: number, end: number): void {
    const bytes = end - start;
    if (bytes >= TAIL_BYTES) {
      buffer.copy(this.#tail, 0, end - TAIL_BYTES, end);
      this.#tailBytes = TAIL_BYTES;
      return;
    }
    const kept = Math.min(this.#tailBytes, TAIL_BYTES - bytes);
    this.#tail.copyWithin(0, this.#tailBytes - kept, this.#tailBytes);
    buffer.copy(this.#tail, kept, start, end);
    this.#tailBytes = kept + bytes;
  }

  #finish(): void {
    this.#phase = 'complete';
    if (this.fault !== undefined) return;
    if (this.#expectation.kind === 'whole') {
      if (!this.#foundMarker) this.fault = 'the answer does not hold the expected text';
      return;
    }
    const tail = this.#tail.subarray(0, this.#tailBytes);
    if (!tail.includes(this.#marker)) this.fault = `the stream ends with ${JSON.stringify(tail.toString())}`;
    else if (this.frames !== this.#expectation.frames) {
      this.fault = `${this.frames} frames where ${this.#expectation.frames} were expected`;
    }
  }
}

/** -1 for anything but a hexadecimal digit. */
function readHexDigit(byte: number): number {
  if (byte >= 0x30 && byte <= 0x39) return byte - 0x30;
  const lower = byte | 0x20;
  return lower >= 0x61 && lower <= 0x66 ? lower - 0x57 : -1;
}
