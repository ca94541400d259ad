import type { IncomingMessage } from 'node:http';
import type { BusboyFileStream } from '@fastify/busboy';
import { GatewayError, invalid } from '../../../canonical/gateway-error.ts';
import { formatPath } from '../../../wire/gateway/validation/check-shape.ts';
import { isForm, parseForm, type FormLimits, type FormReading } from '../../form/parse-form.ts';

/** A form with one file, read as it arrives: files that do not fit into memory stream through it. */
export interface UploadForm {
  /** @throws GatewayError 400 where there is no file, 408 where it arrives too slowly */
  file(): Promise<UploadedFile>;
  /** Returns the other fields; they are complete once the chunks of the file have ended. */
  fields(): Readonly<Record<string, string>>;
  /** Ends the form: its remaining bytes are not read. */
  close(): void;
}

export interface UploadedFile {
  readonly filename: string;
  /** End with the form, not with the file: fields may follow it. */
  readonly chunks: AsyncIterable<Uint8Array>;
}

/** The longest pause between two chunks. */
const IDLE_MS = 30_000;
/** The time from the first chunk to the last. */
const FORM_MS_MAX = 900_000;
const FIELDS_MAX = 10;
const FIELD_BYTES_MAX = 1_024;
const FILE_FIELD = 'file';
const LIMITS: FormLimits = {
  fieldsMax: FIELDS_MAX,
  fieldBytesMax: FIELD_BYTES_MAX,
  filesMax: 1,
  fileFields: new Set([FILE_FIELD]),
  root: 'form',
  idleMs: IDLE_MS,
  totalMs: FORM_MS_MAX,
};

/** @throws GatewayError 400 for a request without a form */
export function readForm(request: IncomingMessage): UploadForm {
  if (!isForm(request))
    throw new GatewayError('invalid_request', 'Content-Type: must be multipart/form-data, with the file as "file".');
  return new Form(request);
}

/** A class, because it lives as long as its form arrives. */
class Form implements UploadForm {
  readonly #fields = new Map<string, string>();
  readonly #found = Promise.withResolvers<UploadedFile>();
  readonly #ended = Promise.withResolvers<void>();
  readonly #reading: FormReading;
  #isFound = false;

  constructor(request: IncomingMessage) {
    // Whatever needs one of them awaits it; a form that fails before is no unhandled rejection.
    this.#found.promise.catch(() => undefined);
    this.#ended.promise.catch(() => undefined);
    this.#reading = parseForm(request, LIMITS, {
      onField: (name, value) => this.#fields.set(name, value),
      onFile: (name, stream, filename) => this.#addFile(name, stream, filename),
      onEnd: () => this.#finish(),
      onFailed: (error) => this.#fail(error),
    });
  }

  file(): Promise<UploadedFile> {
    return this.#found.promise;
  }

  fields(): Readonly<Record<string, string>> {
    return Object.fromEntries(this.#fields);
  }

  close(): void {
    this.#reading.close();
  }

  #addFile(name: string, stream: BusboyFileStream, filename: string | undefined): void {
    if (name !== FILE_FIELD)
      this.#reading.fail(invalid(formatPath([name], 'form'), 'is a file: the file is expected as "file"'));
    else if (filename === undefined) this.#reading.fail(invalid('file', 'must have a filename'));
    else {
      this.#isFound = true;
      this.#found.resolve({ filename, chunks: this.#read(stream) });
    }
  }

  async *#read(stream: BusboyFileStream): AsyncGenerator<Uint8Array> {
    const chunks: AsyncIterable<Uint8Array> = stream;
    for await (const chunk of chunks) yield chunk;
    await this.#ended.promise;
  }

  #finish(): void {
    if (this.#isFound) this.#ended.resolve();
    else this.#fail(invalid('file', 'is required'));
  }

  #fail(error: GatewayError): void {
    this.#found.reject(error);
    this.#ended.reject(error);
  }
}
