import { randomBytes } from 'node:crypto';
import type { ByteSource } from '../files/spool.ts';

/** A part of a form that is sent: a text, or a file. */
export type FormPart =
  | { readonly name: string; readonly value: string }
  | {
      readonly name: string;
      readonly file: ByteSource;
      readonly filename: string;
      /** Media type. */
      readonly type: string;
    };

/** A form as it is sent, its length known before. */
export interface FormBody extends ByteSource {
  readonly contentType: string;
}

const BOUNDARY_BYTES = 16;

/** Multipart, as browsers write it. Files are read while they are sent. @source RFC 7578; html.spec.whatwg.org, "Multipart form data" */
export function encodeForm(parts: readonly FormPart[]): FormBody {
  const boundary = `form-${randomBytes(BOUNDARY_BYTES).toString('hex')}`;
  const heads = parts.map((part) => Buffer.from(headOf(part, boundary)));
  const tail = Buffer.from(`--${boundary}--\r\n`);
  const bytes = parts.reduce((sum, part, at) => {
    const content = 'file' in part ? part.file.bytes : Buffer.byteLength(part.value);
    return sum + (heads[at]?.length ?? 0) + content + LINE_END.length;
  }, tail.length);
  return {
    contentType: `multipart/form-data; boundary=${boundary}`,
    bytes,
    async *chunks() {
      for (const [at, part] of parts.entries()) {
        yield heads[at] ?? LINE_END;
        if ('file' in part) yield* part.file.chunks();
        else yield Buffer.from(part.value);
        yield LINE_END;
      }
      yield tail;
    },
  };
}

const LINE_END = Buffer.from('\r\n');

function headOf(part: FormPart, boundary: string): string {
  const name = `--${boundary}\r\ncontent-disposition: form-data; name="${escapeName(part.name)}"`;
  if (!('file' in part)) return `${name}\r\n\r\n`;
  return `${name}; filename="${escapeName(part.filename)}"\r\ncontent-type: ${part.type}\r\n\r\n`;
}

function escapeName(name: string): string {
  return name.replaceAll('\r', '%0D').replaceAll('\n', '%0A').replaceAll('"', '%22');
}
