/** Stores one batch, all of it or nothing. */
export type AppendBatch<Item> = (items: readonly Item[]) => Promise<void>;

export interface AppendQueueOptions<Item> {
  /** Throws when nothing of the batch was stored; the queue then retries it. */
  readonly appendBatch: AppendBatch<Item>;
  /** Called once for each item that is given up. */
  readonly onLost: (item: Item, error: Error) => void;
  readonly itemsMax: number;
  /** Waits before each further try of a batch that failed, ms. After the last try its items are given up. */
  readonly retryDelaysMs: readonly number[];
  /** So long the first item of a batch waits for others: each batch is a commit of its own. Absent: for those of its turn. */
  readonly gatherMs?: number;
}

/** Items on their way to a store, which may be lost with the process. */
export interface AppendQueue<Item> {
  /** Settles when the item is stored, or was given up (`onLost` was called). Never rejects. */
  append(item: Item): Promise<void>;
  /** Tries what is left once more without waiting; afterwards nothing is pending. Later items are given up at once. */
  close(): Promise<void>;
}

const BATCH_ITEMS_MAX = 250;

interface Entry<Item> {
  readonly item: Item;
  readonly settle: () => void;
}

/**
 * Stores items in batches, each as large as what queued up while the one before was stored. The queue retries a failed
 * batch with growing waits, ahead of later items.
 */
export function createAppendQueue<Item>(options: AppendQueueOptions<Item>): AppendQueue<Item> {
  return new Queue(options);
}

class Queue<Item> implements AppendQueue<Item> {
  readonly #options: AppendQueueOptions<Item>;
  #waiting: Entry<Item>[] = [];
  #underWay = 0;
  #draining: Promise<void> | undefined;
  #isClosed = false;
  #stopPause: (() => void) | undefined;

  constructor(options: AppendQueueOptions<Item>) {
    this.#options = options;
  }

  append(item: Item): Promise<void> {
    return new Promise((settle) => {
      const entry = { item, settle };
      if (this.#isClosed) return this.#giveUp([entry], new Error('The store is closed.'));
      if (this.#waiting.length + this.#underWay >= this.#options.itemsMax)
        return this.#giveUp([entry], new Error('Too many rows wait for the store.'));
      this.#waiting.push(entry);
      this.#draining ??= this.#drain();
    });
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    this.#stopPause?.();
    await this.#draining;
  }

  async #drain(): Promise<void> {
    const { gatherMs } = this.#options;
    // The items of one turn go together.
    await Promise.resolve();
    while (this.#waiting.length > 0) {
      if (gatherMs !== undefined && !this.#isClosed) await this.#pause(gatherMs);
      const batch = this.#waiting;
      this.#waiting = batch.splice(BATCH_ITEMS_MAX);
      this.#underWay = batch.length;
      const error = await this.#store(batch.map(({ item }) => item));
      this.#underWay = 0;
      if (error !== undefined) this.#giveUp(batch, error);
      else for (const { settle } of batch) settle();
    }
    this.#draining = undefined;
  }

  /** @returns why the items are given up; `undefined`: they are stored */
  async #store(items: readonly Item[]): Promise<Error | undefined> {
    for (let attempt = 0; ; attempt++) {
      const delayMs = this.#isClosed ? undefined : this.#options.retryDelaysMs[attempt];
      try {
        await this.#options.appendBatch(items);
        return undefined;
      } catch (error) {
        if (delayMs === undefined) return error instanceof Error ? error : new Error(String(error));
        if (!this.#isClosed) await this.#pause(delayMs);
      }
    }
  }

  #pause(delayMs: number): Promise<void> {
    return new Promise((resolve) => {
      const timer = setTimeout(resolve, delayMs);
      this.#stopPause = () => {
        clearTimeout(timer);
        resolve();
      };
    });
  }

  #giveUp(entries: readonly Entry<Item>[], error: Error): void {
    for (const { item, settle } of entries) {
      this.#options.onLost(item, error);
      settle();
    }
  }
}
