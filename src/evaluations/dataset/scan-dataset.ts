import { createHash } from 'node:crypto';
import { GatewayError } from '../../canonical/gateway-error.ts';
import { ITEMS_MAX, DATASET_BYTES_MAX } from '../../resources/evaluations.ts';
import type { DatasetItem } from './item.ts';
import { parseLine } from './parse-line.ts';

/** Lines that are named of those that are wrong. */
const FAULTS_MAX = 10;
const LINE_BYTES_MAX = 8_388_608;
const LINE_FEED = 10;

/** What is known of a dataset once it was read. */
export interface DatasetFacts {
  readonly items: number;
  readonly bytes: number;
  /** Of all bytes, in hexadecimal. */
  readonly sha256: string;
  /** Items that a judge is to look at. */
  readonly judged: number;
}

/**
 * Checks a dataset line by line as it arrives, and passes its bytes on. A class, because it holds a line that has begun.
 */
export class DatasetScan {
  readonly #hash = createHash('sha256');
  readonly #decoder = new TextDecoder('utf-8', { fatal: true });
  readonly #faults: string[] = [];
  readonly #ids = new Map<string, number>();
  readonly #check: (item: DatasetItem) => string | undefined;
  #begun: Uint8Array[] = [];
  #begunBytes = 0;
  #bytes = 0;
  #line = 0;
  #judged = 0;

  /** @param check what else is wrong with an item: of its messages and tools, which the format of requests knows */
  constructor(check: (item: DatasetItem) => string | undefined) {
    this.#check = check;
  }

  /** @throws GatewayError 400 for lines that are wrong, 413 for more bytes than a dataset may have */
  async *pass(chunks: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
    for await (const chunk of chunks) {
      this.#bytes += chunk.length;
      if (this.#bytes > DATASET_BYTES_MAX)
        throw new GatewayError('payload_too_large', `A dataset has at most ${DATASET_BYTES_MAX} bytes.`);
      this.#hash.update(chunk);
      this.#take(chunk);
      yield chunk;
    }
    if (this.#begunBytes > 0) this.#end();
    if (this.#ids.size === 0 && this.#faults.length === 0) this.#faults.push('has no line');
    if (this.#faults.length > 0) throw badLines(this.#faults);
  }

  facts(): DatasetFacts {
    return { items: this.#ids.size, bytes: this.#bytes, sha256: this.#hash.digest('hex'), judged: this.#judged };
  }

  #take(chunk: Uint8Array): void {
    let start = 0;
    for (let end = chunk.indexOf(LINE_FEED); end >= 0; end = chunk.indexOf(LINE_FEED, start)) {
      this.#begin(chunk.subarray(start, end));
      this.#end();
      start = end + 1;
    }
    if (start < chunk.length) this.#begin(chunk.slice(start));
  }

  #begin(bytes: Uint8Array): void {
    this.#begunBytes += bytes.length;
    if (this.#begunBytes <= LINE_BYTES_MAX) this.#begun.push(bytes);
  }

  #end(): void {
    const [bytes, length] = [Buffer.concat(this.#begun), this.#begunBytes];
    this.#begun = [];
    this.#begunBytes = 0;
    this.#line++;
    const fault = length > LINE_BYTES_MAX ? `is longer than ${LINE_BYTES_MAX} bytes` : this.#faultOf(bytes);
    if (fault !== undefined) this.#note(`line ${this.#line}: ${fault}`);
  }

  #note(fault: string): void {
    this.#faults.push(fault);
    if (this.#faults.length === FAULTS_MAX) throw badLines(this.#faults);
  }

  #faultOf(bytes: Uint8Array): string | undefined {
    const text = this.#textOf(bytes);
    if (text === undefined) return 'is not UTF-8';
    // The last line of many files is empty, and so are those between parts.
    if (text.trim() === '') return undefined;
    const parsed = parseLine(text);
    if ('fault' in parsed) return parsed.fault;
    const { item } = parsed;
    const before = this.#ids.get(item.id);
    if (before !== undefined) return `has the id of line ${before}: ${JSON.stringify(item.id)}`;
    if (this.#ids.size === ITEMS_MAX) throw badLines([`has more than ${ITEMS_MAX} lines`]);
    this.#ids.set(item.id, this.#line);
    if (item.checks.some(({ type }) => type === 'judge')) this.#judged++;
    return this.#check(item);
  }

  #textOf(bytes: Uint8Array): string | undefined {
    try {
      return this.#decoder.decode(bytes);
    } catch {
      return undefined;
    }
  }
}

function badLines(faults: readonly string[]): GatewayError {
  return new GatewayError('invalid_request', `file: ${faults.join('; ')}`, {
    issues: faults.map((message) => ({ path: 'file', message })),
  });
}
