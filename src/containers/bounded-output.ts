/** The most that is read of a stream: beyond it the command is ended. */
const READ_BYTES_MAX = 8 * 1_024 * 1_024;

/** The beginning and the end of a stream, however long it is. */
export interface BoundedOutput {
  /** @returns whether more may come */
  take(chunk: Buffer): boolean;
  text(): string;
}

/** @param bytesMax of the text, but for the line that stands for what is left out */
export function createBoundedOutput(bytesMax: number): BoundedOutput {
  const headMax = Math.ceil(bytesMax / 2);
  const tailMax = bytesMax - headMax;
  const head: Buffer[] = [];
  let headBytes = 0;
  let tail = Buffer.alloc(0);
  let readBytes = 0;
  return {
    take(chunk) {
      readBytes += chunk.length;
      const toHead = chunk.subarray(0, Math.max(0, headMax - headBytes));
      if (toHead.length > 0) head.push(Buffer.from(toHead));
      headBytes += toHead.length;
      const rest = chunk.subarray(toHead.length);
      if (rest.length > 0) tail = Buffer.from(Buffer.concat([tail, rest]).subarray(-tailMax || Infinity));
      if (tailMax === 0) tail = Buffer.alloc(0);
      return readBytes <= READ_BYTES_MAX;
    },
    text() {
      const left = readBytes - headBytes - tail.length;
      const marker = left > 0 ? `\n[... ${left} bytes left out ...]\n` : '';
      return Buffer.concat([...head, Buffer.from(marker), tail])
        .toString('utf8')
        .toWellFormed();
    },
  };
}
