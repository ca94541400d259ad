import type { IncomingMessage } from 'node:http';
import { createRequire } from 'node:module';
import type { Busboy as BusboyClass, BusboyFileStream, BusboyInstance } from '@fastify/busboy';
import { GatewayError, invalid } from '../../canonical/gateway-error.ts';
import { formatPath } from '../../wire/gateway/validation/check-shape.ts';

/** What a form may hold, and how slowly it may come. */
export interface FormLimits {
  readonly fieldsMax: number;
  /** Of one field. */
  readonly fieldBytesMax: number;
  readonly filesMax: number;
  /** Fields that are files, whether they have a file name or not. */
  readonly fileFields: ReadonlySet<string>;
  /** How paths call the form; absent: by the names of its fields alone. */
  readonly root?: string;
  /** Longest pause between two pieces. */
  readonly idleMs: number;
  /** From the first piece to the last. */
  readonly totalMs: number;
}

/** Takes the parts of a form in the order in which they come. */
export interface FormHandler {
  onField(name: string, value: string): void;
  /** The form goes on when its stream has been read. */
  onFile(name: string, stream: BusboyFileStream, filename: string | undefined): void;
  /** All parts have come: it is too late to fail the form. */
  onEnd(): void;
  /** Once at most, and no part comes after it. */
  onFailed(error: GatewayError): void;
}

/** A form that is being read. */
export interface FormReading {
  /** Ends the form with an error; what is left of it is not read. */
  fail(error: GatewayError): void;
  /** What is left of it is not read. */
  close(): void;
}

/** Loads the parser with the first form, in the turn in which the form begins. */
const load = createRequire(import.meta.url);

const HEADER_BYTES_MAX = 16_384;
const FIELD_NAME_CHARS_MAX = 200;

/** Whether a request brings a form. */
export function isForm({ headers }: IncomingMessage): boolean {
  return /^multipart\/form-data\s*;/i.test(headers['content-type'] ?? '');
}

/**
 * Reads a multipart form as it arrives, so that no file has to fit into memory.
 * @throws GatewayError 400 for a head that describes no form
 */
export function parseForm(request: IncomingMessage, limits: FormLimits, handler: FormHandler): FormReading {
  const reading = new Reading(request, openBusboy(request, limits), limits, handler);
  reading.start();
  return reading;
}

function openBusboy({ headers }: IncomingMessage, limits: FormLimits): BusboyInstance {
  const { fieldsMax, fieldBytesMax, filesMax, fileFields } = limits;
  const { Busboy }: { readonly Busboy: typeof BusboyClass } = load('@fastify/busboy');
  try {
    return new Busboy({
      headers: { ...headers, 'content-type': headers['content-type'] ?? '' },
      limits: {
        fields: fieldsMax,
        fieldSize: fieldBytesMax,
        // One more than allowed, so that it is noticed.
        files: filesMax + 1,
        parts: fieldsMax + filesMax + 1,
        headerSize: HEADER_BYTES_MAX,
      },
      isPartAFile: (field, _type, filename) => filename !== undefined || (field !== undefined && fileFields.has(field)),
    });
  } catch (cause) {
    throw brokenForm(cause);
  }
}

/** A class, because it lives as long as its form arrives. */
class Reading implements FormReading {
  readonly #request: IncomingMessage;
  readonly #busboy: BusboyInstance;
  readonly #limits: FormLimits;
  readonly #handler: FormHandler;
  readonly #idle: NodeJS.Timeout;
  readonly #total: NodeJS.Timeout;
  readonly #onData = (): void => void this.#idle.refresh();
  #files = 0;
  #file: BusboyFileStream | undefined;
  #isOver = false;

  constructor(request: IncomingMessage, busboy: BusboyInstance, limits: FormLimits, handler: FormHandler) {
    this.#request = request;
    this.#busboy = busboy;
    this.#limits = limits;
    this.#handler = handler;
    this.#idle = setTimeout(() => this.fail(tooSlow()), limits.idleMs);
    this.#total = setTimeout(() => this.fail(tooSlow()), limits.totalMs);
  }

  start(): void {
    const request = this.#request;
    const busboy = this.#busboy;
    busboy.on('field', (name, value, _nameCut, isCut) => this.#takeField(name, value, isCut));
    busboy.on('file', (name, stream, filename) => this.#takeFile(name, stream, filename));
    busboy.on('error', (error) => this.fail(brokenForm(error)));
    busboy.on('finish', () => {
      if (this.#isOver) return;
      this.#end();
      this.#handler.onEnd();
    });
    for (const limit of ['partsLimit', 'fieldsLimit', 'filesLimit'] as const)
      busboy.on(limit, () => this.fail(new GatewayError('invalid_request', 'The form has too many parts.')));
    request.on('data', this.#onData);
    request.on('error', (error) => this.fail(brokenForm(error)));
    request.on('close', () => {
      if (!request.complete) this.fail(brokenForm());
    });
    request.pipe(busboy);
  }

  fail(error: GatewayError): void {
    if (this.#isOver) return;
    this.#stop(error);
    this.#handler.onFailed(error);
  }

  close(): void {
    if (!this.#isOver) this.#stop();
  }

  #stop(error?: GatewayError): void {
    this.#end();
    this.#request.off('data', this.#onData);
    this.#request.unpipe(this.#busboy);
    this.#request.pause();
    this.#file?.destroy(error);
    this.#busboy.destroy();
  }

  #end(): void {
    this.#isOver = true;
    clearTimeout(this.#idle);
    clearTimeout(this.#total);
  }

  #takeField(name: string | undefined, value: string, isCut: boolean): void {
    if (this.#isOver || !this.#isName(name)) return;
    if (isCut) this.fail(invalid(this.#path(name), `is longer than ${this.#limits.fieldBytesMax} bytes`));
    else this.#handler.onField(name, value);
  }

  /** Fails the form where it is none. */
  #isName(name: string | undefined): name is string {
    const problem =
      name === undefined || name === ''
        ? 'a part without a name'
        : `a name of more than ${FIELD_NAME_CHARS_MAX} characters`;
    const isName = name !== undefined && name !== '' && name.length <= FIELD_NAME_CHARS_MAX;
    if (!isName) this.fail(new GatewayError('invalid_request', `The form has ${problem}.`));
    return isName;
  }

  #takeFile(name: string | undefined, stream: BusboyFileStream, filename: string | undefined): void {
    // An error of a stream without a listener would end the process.
    stream.on('error', (error) => this.fail(brokenForm(error)));
    this.#files += 1;
    if (this.#isOver || !this.#isName(name)) stream.resume();
    else if (this.#files > this.#limits.filesMax) {
      stream.resume();
      this.fail(invalid(this.#path(name), `is one file too many: a form may have ${this.#limits.filesMax}`));
    } else {
      this.#file = stream;
      this.#handler.onFile(name, stream, filename);
    }
  }

  #path(name: string): string {
    return formatPath([name], this.#limits.root);
  }
}

export function brokenForm(cause?: unknown): GatewayError {
  return new GatewayError('invalid_request', 'The form could not be read to its end.', { cause });
}

function tooSlow(): GatewayError {
  return new GatewayError('timeout', 'The request body arrived too slowly.', { status: 408 });
}
