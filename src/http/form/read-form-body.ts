import type { IncomingMessage } from 'node:http';
import type { BusboyFileStream } from '@fastify/busboy';
import { GatewayError, invalid } from '../../canonical/gateway-error.ts';
import { NoRoomError } from '../../lib/files/no-room.ts';
import { SPOOLED_IN_MEMORY_BYTES, type Spool, type SpooledFile } from '../../lib/files/spool.ts';
import { formatPath } from '../../wire/gateway/validation/check-shape.ts';
import type { BodyShare } from '../body-budget.ts';
import { brokenForm, parseForm, type FormLimits, type FormReading } from './parse-form.ts';

/** What a route takes of a form. */
export interface FormRules {
  readonly filesMax: number;
  /** Of one file. */
  readonly fileBytesMax: number;
  /** Fields that are files. Every other field is text. */
  readonly fileFields: ReadonlySet<string>;
}

/** A file of a form, under the name of its field. */
export interface FormFile {
  /** Without the brackets of a list. */
  readonly field: string;
  readonly file: SpooledFile;
}

/** A form that has come to its end. */
export interface FormBody {
  /** Each field with all of its values, in their order. The brackets of lists are taken off. */
  readonly fields: ReadonlyMap<string, readonly string[]>;
  /** To be closed when the request is over. */
  readonly files: readonly FormFile[];
}

export interface FormBodyDeps {
  readonly spool: Spool;
  readonly idleMs: number;
  readonly totalMs: number;
}

const PARTS_MAX = 64;
const FIELD_BYTES_MAX = 1_048_576;
/** All fields of a form that are no files. */
const FIELDS_BYTES_MAX = 8_388_608;
const RETRY_AFTER_MS = 5_000;

/** The largest form that can keep to the rules. */
export function largestForm({ filesMax, fileBytesMax }: FormRules): number {
  return filesMax * fileBytesMax + FIELDS_BYTES_MAX;
}

/**
 * Reads a form to its end, and keeps its files in the spool.
 * @param share of memory, which is taken of as the form comes
 * @throws GatewayError 400 with the name of the field; 413; 408 when it comes too slowly; 503 without room
 */
export function readFormBody(
  request: IncomingMessage,
  rules: FormRules,
  deps: FormBodyDeps,
  share: BodyShare,
): Promise<FormBody> {
  const declared = Number(request.headers['content-length'] ?? 0);
  const bytesMax = largestForm(rules);
  if (declared > bytesMax)
    return Promise.reject(new GatewayError('payload_too_large', `The form is larger than ${bytesMax} bytes.`));
  const { 'content-encoding': encoding = 'identity' } = request.headers;
  if (encoding !== 'identity')
    return Promise.reject(new GatewayError('invalid_request', 'Content-Encoding: a form is not read compressed.'));
  return new Promise((resolve, reject) => {
    new FormReader(request, { rules, deps, share }, resolve, reject).start();
  });
}

interface ReaderInput {
  readonly rules: FormRules;
  readonly deps: FormBodyDeps;
  readonly share: BodyShare;
}

/** A class, because it lives as long as its form arrives. */
class FormReader {
  readonly #request: IncomingMessage;
  readonly #input: ReaderInput;
  readonly #resolve: (form: FormBody) => void;
  readonly #reject: (error: unknown) => void;
  readonly #fields = new Map<string, string[]>();
  readonly #files: FormFile[] = [];
  #fieldBytes = 0;
  /** Writes the file before the next one, and the last one before the end. */
  #writing: Promise<void> = Promise.resolve();
  #reading: FormReading | undefined;
  #isFailed = false;

  constructor(
    request: IncomingMessage,
    input: ReaderInput,
    resolve: (form: FormBody) => void,
    reject: (error: unknown) => void,
  ) {
    this.#request = request;
    this.#input = input;
    this.#resolve = resolve;
    this.#reject = reject;
  }

  start(): void {
    const { rules, deps } = this.#input;
    try {
      this.#reading = parseForm(this.#request, this.#limits(rules, deps), {
        onField: (name, value) => this.#addField(name, value),
        onFile: (name, stream, filename) => this.#addFile(name, stream, filename),
        onEnd: () => void this.#writing.then(() => this.#finish()),
        onFailed: (error) => this.#fail(error),
      });
    } catch (error) {
      this.#fail(error);
    }
  }

  #limits({ filesMax, fileFields }: FormRules, { idleMs, totalMs }: FormBodyDeps): FormLimits {
    return {
      fieldsMax: PARTS_MAX - filesMax,
      fieldBytesMax: FIELD_BYTES_MAX,
      filesMax,
      fileFields: new Set([...fileFields, ...[...fileFields].map((name) => `${name}[]`)]),
      idleMs,
      totalMs,
    };
  }

  #addField(name: string, value: string): void {
    const bytes = Buffer.byteLength(name) + Buffer.byteLength(value);
    this.#fieldBytes += bytes;
    if (this.#fieldBytes > FIELDS_BYTES_MAX)
      return this.#reading?.fail(
        new GatewayError('payload_too_large', `The fields of the form are larger than ${FIELDS_BYTES_MAX} bytes.`),
      );
    if (!this.#takeMemory(bytes)) return undefined;
    const plain = withoutBrackets(name);
    const before = this.#fields.get(plain);
    if (before === undefined) this.#fields.set(plain, [value]);
    else before.push(value);
    return undefined;
  }

  #addFile(name: string, stream: BusboyFileStream, filename: string | undefined): void {
    const field = withoutBrackets(name);
    if (!this.#input.rules.fileFields.has(field)) {
      const problem = filename === undefined ? 'is not expected here' : 'is a file, and must be text';
      this.#reading?.fail(invalid(formatPath([name]), problem));
      return;
    }
    this.#writing = this.#writing.then(() => this.#spool(field, stream));
  }

  /** Never rejects: what goes wrong ends the form. */
  async #spool(field: string, stream: BusboyFileStream): Promise<void> {
    const { rules, deps } = this.#input;
    const writer = deps.spool.create();
    let bytes = 0;
    try {
      const chunks: AsyncIterable<Uint8Array> = stream;
      for await (const chunk of chunks) {
        bytes += chunk.length;
        if (bytes > rules.fileBytesMax)
          throw new GatewayError('payload_too_large', `${field}: is larger than ${rules.fileBytesMax} bytes`, {
            issues: [{ path: field, message: `is larger than ${rules.fileBytesMax} bytes` }],
          });
        const isInMemory = bytes - chunk.length < SPOOLED_IN_MEMORY_BYTES;
        if (isInMemory) this.#input.share.take(chunk.length, 1);
        await writer.write(chunk);
      }
      if (this.#isFailed) writer.discard();
      else this.#files.push({ field, file: writer.end() });
    } catch (error) {
      writer.discard();
      const known = asFormError(error);
      if (known !== undefined) this.#reading?.fail(known);
      else if (!this.#isFailed) {
        this.#reading?.close();
        this.#fail(error);
      }
    }
  }

  #takeMemory(bytes: number): boolean {
    try {
      this.#input.share.take(bytes);
      return true;
    } catch (error) {
      this.#reading?.fail(asFormError(error) ?? brokenForm(error));
      return false;
    }
  }

  #finish(): void {
    if (!this.#isFailed) this.#resolve({ fields: this.#fields, files: this.#files });
  }

  #fail(error: unknown): void {
    this.#isFailed = true;
    for (const { file } of this.#files) file.close();
    this.#reject(error);
  }
}

/** `image[]` and `image[2]` say the same as `image`. */
function withoutBrackets(name: string): string {
  return name.replace(/\[\d{0,4}\]$/, '');
}

/** What the caller is to know; `undefined`: a fault of the disk, which is the operator's. */
function asFormError(error: unknown): GatewayError | undefined {
  if (error instanceof GatewayError) return error;
  if (!(error instanceof NoRoomError)) return undefined;
  return new GatewayError(
    'provider_overloaded',
    'The gateway has no room left on its disk for the files of this form. Send it again later.',
    { status: 503, retryAfterMs: RETRY_AFTER_MS, cause: error },
  );
}
