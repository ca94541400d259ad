import { systemClock, type Clock } from '../../lib/clock.ts';
import { withTimeout } from '../../lib/async/with-timeout.ts';

/** Stores one batch. Returns the items that were refused for good, by index; the others are durable. */
export type AppendBatch<Item> = (
  items: readonly Item[],
) => Promise<readonly { readonly index: number; readonly error: Error }[]>;

export interface AppendQueueOptions<Item> {
  /** Throws when nothing of the batch was stored; the queue then retries it. Must be idempotent. */
  readonly appendBatch: AppendBatch<Item>;
  /** Whether a batch that failed with this error is worth another try. */
  readonly isTransient: (error: unknown) => boolean;
  /** Called when items begin to wait because a batch failed, and when one is stored again. Must not throw. */
  readonly onStuck?: (isStuck: boolean, error?: unknown) => void;
  /**
   * Keeps items elsewhere until they can be stored, and is responsible for them from then on. The queue calls it with
   * items that waited for long, that found no room, or that are left at the close. False: it cannot keep them. Never
   * rejects. Where the store was slow, the items may come to be stored all the same.
   */
  readonly keep?: (items: readonly Item[]) => Promise<boolean>;
  /** Called once for each item that is given up. */
  readonly onLost: (item: Item, error: Error) => void;
  readonly itemsMax?: number;
  /** How long the store may be silent about an item before the item is kept elsewhere, ms. */
  readonly keepAfterMs?: number;
  /** Default: the system's clock. */
  readonly clock?: Pick<Clock, 'monotonicMs'>;
  /**
   * Waits before each further try of the batch that failed, ms. After the last try its items are given up, unless they
   * were kept elsewhere before.
   */
  readonly retryDelaysMs?: readonly number[];
}

export interface AppendQueue<Item> {
  /** Whether an item has waited for so long that the store alone no longer shows what happened. */
  isBehind(): boolean;
  /** Settles when the item is durable or kept, or was given up (`onLost` was called). Never rejects. */
  append(item: Item): Promise<void>;
  /** Items that are neither durable nor kept nor given up. */
  pending(): number;
  /**
   * Tries what is left once more without waiting; afterwards nothing is pending. Later items are kept or given up at
   * once.
   */
  close(): Promise<void>;
}

const ITEMS_MAX = 20_000;
/** Less than the time after which a caller of `append` goes on without the result (`STORE_WAIT_MS`). */
const BEHIND_MS = 1_500;
/** Encoding a batch takes some microseconds a row, in which no stream moves. */
const BATCH_ITEMS_MAX = 250;
const GATHER_TURNS_MAX = 8;
/** Bridges a database that is away for two minutes. */
const RETRY_DELAYS_MS: readonly number[] = [50, 100, 200, 400, 800, 1_600, 3_200, ...Array<number>(23).fill(5_000)];

/** Items that failed so often are kept elsewhere, so that they survive the process: after 1.5 s. */
const TRIES_BEFORE_KEPT = 6;

/**
 * A silent store fails no try, so time decides: a server behind a network that swallows everything, a disk that stalls.
 */
const KEEP_AFTER_MS = 1_500;
/** Items that waited for so long behind others still get a try of this length: the store may be back. */
const TRY_MS_MIN = 100;

interface Entry<Item> {
  readonly item: Item;
  readonly sinceMs: number;
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
  readonly #itemsMax: number;
  readonly #retryDelaysMs: readonly number[];
  readonly #clock: Pick<Clock, 'monotonicMs'>;
  #waiting: Entry<Item>[] = [];
  /** The batch under way. */
  #batch: readonly Entry<Item>[] = [];
  /** Promises of refused items that may still be kept elsewhere. */
  readonly #refused = new Set<Promise<void>>();
  #draining: Promise<void> | undefined;
  /** Whether the last batch, if there was one, had more than one item: more may be about to come. */
  #isBusy = true;
  #closed = false;
  #stuck = false;
  #stopPause: (() => void) | undefined;

  constructor(options: AppendQueueOptions<Item>) {
    this.#options = options;
    this.#itemsMax = options.itemsMax ?? ITEMS_MAX;
    this.#retryDelaysMs = options.retryDelaysMs ?? RETRY_DELAYS_MS;
    this.#clock = options.clock ?? systemClock;
  }

  isBehind(): boolean {
    const oldest = this.#batch[0] ?? this.#waiting[0];
    if (oldest === undefined) return this.#refused.size > 0;
    return this.#clock.monotonicMs() - oldest.sinceMs >= BEHIND_MS;
  }

  append(item: Item): Promise<void> {
    return new Promise((settle) => {
      const entry = { item, sinceMs: this.#clock.monotonicMs(), settle };
      if (this.#closed) return this.#refuse(entry, new Error('The store is closed.'));
      if (this.pending() >= this.#itemsMax) return this.#refuse(entry, new Error('Too many rows wait for the store.'));
      this.#waiting.push(entry);
      this.#draining ??= this.#drain();
    });
  }

  pending(): number {
    return this.#waiting.length + this.#batch.length;
  }

  async close(): Promise<void> {
    this.#closed = true;
    this.#stopPause?.();
    await this.#draining;
    await Promise.all(this.#refused);
  }

  async #drain(): Promise<void> {
    while (this.#waiting.length > 0) {
      if (this.#isBusy) await this.#gather();
      const batch = this.#waiting;
      this.#waiting = batch.splice(BATCH_ITEMS_MAX);
      this.#batch = batch;
      this.#isBusy = batch.length > 1;
      const lost = await this.#store(batch.map(({ item }) => item));
      this.#batch = [];
      for (const [index, entry] of batch.entries()) {
        const error = lost.get(index);
        if (error === undefined) entry.settle();
        else this.#giveUp(entry, error);
      }
    }
    this.#draining = undefined;
  }

  /**
   * Waits for the items of a batch. A message to another thread and a sync of the disk cost the same for one item as
   * for many. So, when recent batches had more than one item, a batch grows while every turn of the event loop brings
   * more; a turn that brings none ends the wait. A lone item does not wait: it is on its way when `append` returns.
   */
  async #gather(): Promise<void> {
    for (let turn = 0; turn < GATHER_TURNS_MAX; turn++) {
      const before = this.#waiting.length;
      await nextTurn();
      if (this.#waiting.length === before) return;
    }
  }

  /** Stores the items. Returns those that were given up, by index; the others are durable. */
  async #store(items: readonly Item[]): Promise<ReadonlyMap<number, Error>> {
    const triesBeforeKept = this.#stuck ? 1 : TRIES_BEFORE_KEPT;
    for (let attempt = 0; ; attempt++) {
      const delayMs = this.#closed ? undefined : this.#retryDelaysMs[attempt];
      try {
        const storing = this.#options.appendBatch(items);
        if (await this.#isKeptMeanwhile(storing, items)) return NONE_LOST;
        const refused = await storing;
        this.#notify(false);
        return new Map(refused.map(({ index, error }) => [index, error]));
      } catch (error) {
        if (!this.#options.isTransient(error)) return allLost(items, error);
        this.#notify(true, error);
        const untilKeptMs = this.#untilKeptMs();
        const isDue = attempt + 1 >= triesBeforeKept || untilKeptMs <= 0 || delayMs === undefined;
        if (isDue && (await this.#options.keep?.(items)) === true) return NONE_LOST;
        if (delayMs === undefined) return allLost(items, error);
        // Slow tries leave less time for pauses.
        if (!this.#closed) await this.#pause(isDue ? delayMs : Math.min(delayMs, untilKeptMs));
      }
    }
  }

  /**
   * Keeps the items elsewhere when the store takes too long, whatever the store does with them later. Returns whether
   * it did.
   */
  async #isKeptMeanwhile(storing: Promise<unknown>, items: readonly Item[]): Promise<boolean> {
    const { keep } = this.#options;
    if (keep === undefined) return false;
    const answered = storing.then(
      () => true,
      () => true,
    );
    const limitMs = Math.max(TRY_MS_MIN, this.#untilKeptMs());
    if (await withTimeout(answered, limitMs).catch(() => false)) return false;
    const isKept = await Promise.race([keep(items), answered.then(() => false)]);
    if (isKept) this.#notify(true, new Error('The store does not answer.'));
    return isKept;
  }

  /** The time until the batch under way has waited for so long that it is kept elsewhere. */
  #untilKeptMs(): number {
    const { keep, keepAfterMs = KEEP_AFTER_MS } = this.#options;
    if (keep === undefined) return Number.POSITIVE_INFINITY;
    const sinceMs = this.#batch[0]?.sinceMs ?? 0;
    return keepAfterMs - (this.#clock.monotonicMs() - sinceMs);
  }

  #notify(isStuck: boolean, error?: unknown): void {
    if (isStuck === this.#stuck) return;
    this.#stuck = isStuck;
    this.#options.onStuck?.(isStuck, error);
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

  /** Keeps an item elsewhere, or gives it up, without a place in the queue. */
  #refuse(entry: Entry<Item>, error: Error): void {
    const { keep } = this.#options;
    if (keep === undefined) return this.#giveUp(entry, error);
    const ended = this.#keepOrGiveUp(keep, entry, error).finally(() => this.#refused.delete(ended));
    this.#refused.add(ended);
  }

  async #keepOrGiveUp(
    keep: NonNullable<AppendQueueOptions<Item>['keep']>,
    entry: Entry<Item>,
    error: Error,
  ): Promise<void> {
    if (await keep([entry.item])) entry.settle();
    else this.#giveUp(entry, error);
  }

  #giveUp(entry: Entry<Item>, error: Error): void {
    try {
      this.#options.onLost(entry.item, error);
    } finally {
      entry.settle();
    }
  }
}

function nextTurn(): Promise<void> {
  return new Promise((resolve) => {
    setImmediate(resolve);
  });
}

const NONE_LOST: ReadonlyMap<number, Error> = new Map();

function allLost(items: readonly unknown[], error: unknown): ReadonlyMap<number, Error> {
  const reason = error instanceof Error ? error : new Error(String(error));
  return new Map(items.map((_item, index) => [index, reason]));
}
