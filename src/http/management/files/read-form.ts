import type { IncomingMessage } from 'node:http';
import { Busboy, type BusboyFileStream, type BusboyInstance } from '@fastify/busboy';
import { GatewayError, invalid } from '../../../canonical/gateway-error.ts';

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
const HEADER_BYTES_MAX = 16_384;
const FILE_FIELD = 'file';

/** @throws GatewayError 400 for a request without a form */
export function readForm(request: IncomingMessage): UploadForm {
  return new Form(request, openBusboy(request));
}

function openBusboy({ headers }: IncomingMessage): BusboyInstance {
  const { 'content-type': contentType = '' } = headers;
  if (!/^multipart\/form-data\s*;/i.test(contentType))
    throw new GatewayError('invalid_request', 'Content-Type: must be multipart/form-data, with the file as "file".');
  try {
    return new Busboy({
      headers: { ...headers, 'content-type': contentType },
      limits: {
        fields: FIELDS_MAX,
        fieldSize: FIELD_BYTES_MAX,
        // One more than allowed, so that a second file is noticed.
        files: 2,
        parts: FIELDS_MAX + 2,
        headerSize: HEADER_BYTES_MAX,
      },
      isPartAFile: (field, _type, filename) => filename !== undefined || field === FILE_FIELD,
    });
  } catch (cause) {
    throw broken(cause);
  }
}

/** A class, because it lives as long as its form arrives. */
class Form implements UploadForm {
  readonly #request: IncomingMessage;
  readonly #busboy: BusboyInstance;
  readonly #fields = new Map<string, string>();
  readonly #found = Promise.withResolvers<UploadedFile>();
  readonly #ended = Promise.withResolvers<void>();
  readonly #idle: NodeJS.Timeout;
  readonly #limit: NodeJS.Timeout;
  #file: BusboyFileStream | undefined;
  #closed = false;

  constructor(request: IncomingMessage, busboy: BusboyInstance) {
    this.#request = request;
    this.#busboy = busboy;
    // Whatever needs one of them awaits it; a form that fails before is no unhandled rejection.
    this.#found.promise.catch(() => undefined);
    this.#ended.promise.catch(() => undefined);
    this.#idle = setTimeout(() => this.#fail(tooSlow()), IDLE_MS);
    this.#limit = setTimeout(() => this.#fail(tooSlow()), FORM_MS_MAX);
    busboy.on('field', (name, value, _nameCut, valueCut) => this.#addField(name, value, valueCut));
    busboy.on('file', (name, stream, filename) => this.#addFile(name, stream, filename));
    busboy.on('error', (error) => this.#fail(broken(error)));
    busboy.on('finish', () => this.#finish());
    for (const limit of ['partsLimit', 'fieldsLimit', 'filesLimit'] as const)
      busboy.on(limit, () => this.#fail(new GatewayError('invalid_request', 'The form has too many parts.')));
    request.on('data', () => this.#idle.refresh());
    request.on('error', (error) => this.#fail(broken(error)));
    request.on('close', () => {
      if (!request.complete) this.#fail(broken());
    });
    request.pipe(busboy);
  }

  file(): Promise<UploadedFile> {
    return this.#found.promise;
  }

  fields(): Readonly<Record<string, string>> {
    return Object.fromEntries(this.#fields);
  }

  close(): void {
    if (this.#closed) return;
    this.#closed = true;
    clearTimeout(this.#idle);
    clearTimeout(this.#limit);
    this.#request.unpipe(this.#busboy);
    this.#file?.destroy();
    this.#busboy.destroy();
  }

  #addField(name: string, value: string, isCut: boolean): void {
    if (isCut) this.#fail(invalid(`form.${name}`, `is longer than ${FIELD_BYTES_MAX} bytes`));
    else this.#fields.set(name, value);
  }

  #addFile(name: string, stream: BusboyFileStream, filename: string | undefined): void {
    // An error of a stream without a listener would end the process.
    stream.on('error', (error) => this.#fail(broken(error)));
    if (name === FILE_FIELD && filename !== undefined && this.#file === undefined) {
      this.#file = stream;
      this.#found.resolve({ filename, chunks: this.#read(stream) });
      return;
    }
    stream.resume();
    if (name !== FILE_FIELD) this.#fail(invalid(`form.${name}`, 'is a file: the file is expected as "file"'));
    else if (filename === undefined) this.#fail(invalid('file', 'must have a filename'));
    else this.#fail(invalid('file', 'stands in the form twice'));
  }

  async *#read(stream: BusboyFileStream): AsyncGenerator<Uint8Array> {
    const chunks: AsyncIterable<Uint8Array> = stream;
    for await (const chunk of chunks) yield chunk;
    await this.#ended.promise;
  }

  #finish(): void {
    if (this.#file === undefined) this.#fail(invalid('file', 'is required'));
    else this.#ended.resolve();
  }

  #fail(error: GatewayError): void {
    this.#found.reject(error);
    this.#ended.reject(error);
    clearTimeout(this.#idle);
    clearTimeout(this.#limit);
    this.#request.unpipe(this.#busboy);
    this.#file?.destroy(error);
  }
}

function broken(cause?: unknown): GatewayError {
  return new GatewayError('invalid_request', 'The form could not be read to its end.', { cause });
}

function tooSlow(): GatewayError {
  return new GatewayError('timeout', 'The request body arrived too slowly.', { status: 408 });
}
