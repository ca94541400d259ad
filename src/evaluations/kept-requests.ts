import { createHash } from 'node:crypto';
import { invalid } from '../canonical/gateway-error.ts';
import type { JsonObject } from '../lib/json.ts';
import { parseLine } from './dataset/parse-line.ts';
import type { DatasetItem } from './dataset/item.ts';

/** Which kept requests are sent again. */
export interface KeptRequestSearch {
  readonly workspaceId: string;
  /** A half-open range, Unix ms. */
  readonly fromMs: number;
  readonly toMs: number;
  /** As requested, or as served. Empty: any. */
  readonly models: readonly string[];
  readonly limit: number;
  /** The response is what is expected. */
  readonly expectsResponse: boolean;
}

/** A request that is kept, with its response. */
export interface KeptRequest {
  readonly id: string;
  readonly sessionId: string | null;
  readonly messages: readonly JsonObject[];
  readonly response: string;
}

/** Reads kept requests, the oldest first, a bounded number of them. `undefined`: one that may not be sent again, or cannot. */
export type ReadKeptRequests = (
  search: Pick<KeptRequestSearch, 'workspaceId' | 'fromMs' | 'toMs' | 'models'>,
) => AsyncIterable<KeptRequest | undefined>;

const GROUP_CHARS = 16;

/** The lines of a dataset, and how many requests were left out. */
export class KeptLines {
  readonly #read: ReadKeptRequests;
  readonly #search: KeptRequestSearch;
  readonly #faultOf: (item: DatasetItem) => string | undefined;
  #skipped = 0;

  constructor(read: ReadKeptRequests, search: KeptRequestSearch, faultOf: (item: DatasetItem) => string | undefined) {
    this.#read = read;
    this.#search = search;
    this.#faultOf = faultOf;
  }

  get skipped(): number {
    return this.#skipped;
  }

  /** @throws GatewayError 400 where there is none */
  async *bytes(): AsyncGenerator<Uint8Array> {
    let made = 0;
    for await (const kept of this.#read(this.#search)) {
      if (made === this.#search.limit) break;
      const line = kept && this.#lineOf(kept);
      if (line === undefined) {
        this.#skipped++;
        continue;
      }
      made++;
      yield Buffer.from(`${line}\n`);
    }
    if (made === 0)
      throw invalid('start', `names a range in which no request can be sent again: ${this.#skipped} are kept`);
  }

  #lineOf({ id, sessionId, messages, response }: KeptRequest): string | undefined {
    const line = JSON.stringify({
      id,
      messages,
      ...(this.#search.expectsResponse && { expected: response }),
      // Two good responses are rarely the same text.
      checks: [{ type: 'judge' }],
      // The requests of a session stand or fall together.
      ...(sessionId !== null && { group: createHash('sha256').update(sessionId).digest('hex').slice(0, GROUP_CHARS) }),
    });
    const parsed = parseLine(line);
    return 'fault' in parsed || this.#faultOf(parsed.item) !== undefined ? undefined : line;
  }
}
