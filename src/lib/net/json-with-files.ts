import { randomBytes } from 'node:crypto';
import type { ByteSource } from '../files/spool.ts';
import type { JsonObject } from '../json.ts';
import type { FormBody } from './form-body.ts';

const TOKEN_BYTES = 16;

/**
 * JSON in which files stand as base64. They are read while it is sent, so that no text of them is in memory.
 * @param build makes the body; what `place` returns stands for the base64 of a file, anywhere in a string
 */
export function encodeJsonWithFiles(build: (place: (file: ByteSource) => string) => JsonObject): FormBody {
  const token = `file-${randomBytes(TOKEN_BYTES).toString('hex')}-`;
  const files: ByteSource[] = [];
  const body = build((file) => `${token}${files.push(file) - 1};`);
  const pieces = JSON.stringify(body)
    .split(new RegExp(`${token}(\\d+);`))
    .map((piece, at) => (at % 2 === 0 ? Buffer.from(piece) : files[Number(piece)]));
  const bytes = pieces.reduce(
    (sum, piece) => sum + (Buffer.isBuffer(piece) ? piece.length : base64Length(piece?.bytes ?? 0)),
    0,
  );
  return {
    contentType: 'application/json',
    bytes,
    async *chunks() {
      for (const piece of pieces) {
        if (Buffer.isBuffer(piece)) yield piece;
        else if (piece !== undefined) yield* asBase64(piece);
      }
    },
  };
}

function base64Length(bytes: number): number {
  return Math.ceil(bytes / 3) * 4;
}

/** Whole groups of three bytes, so that the pieces can be joined. */
async function* asBase64(file: ByteSource): AsyncGenerator<Uint8Array> {
  let left = Buffer.alloc(0);
  for await (const chunk of file.chunks()) {
    const all = left.length === 0 ? Buffer.from(chunk) : Buffer.concat([left, chunk]);
    const whole = all.length - (all.length % 3);
    if (whole > 0) yield Buffer.from(all.toString('base64', 0, whole), 'latin1');
    left = Buffer.from(all.subarray(whole));
  }
  if (left.length > 0) yield Buffer.from(left.toString('base64'), 'latin1');
}
