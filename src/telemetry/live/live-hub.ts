import type { Clock } from '../../lib/clock.ts';
import { isJsonObject, parseJson, type Json, type JsonObject } from '../../lib/json.ts';
import { usdFromNano } from '../../lib/money.ts';
import { statusOf } from '../generation-row.ts';
import type { GenerationRecord } from '../record.ts';

/** A generation that has just ended, as lists show it. */
export interface LiveRow extends JsonObject {
  readonly id: string;
  readonly api_key_hash: string;
}

/** What has happened since the last counts. Exact, also where rows are left out. */
export interface LiveCounts {
  readonly requests: number;
  readonly errors: number;
  readonly tokens: number;
  /** USD, of those whose price is known. */
  readonly cost: number;
  /** By class: `2xx`. */
  readonly per: Readonly<Record<string, number>>;
}

/** What a subscriber gets. */
export type LiveEvent =
  /** `isSampled`: there were more. `last`: the number of the last one. */
  | { readonly kind: 'rows'; readonly rows: readonly LiveRow[]; readonly isSampled: boolean; readonly last: number }
  | { readonly kind: 'counts'; readonly counts: LiveCounts }
  | { readonly kind: 'tick' };

/** Messages between processes: the part of the invalidation bus that is used. */
export interface LiveBus {
  announce(topic: string, message: string): void;
  subscribe(topic: string, listener: (message: string) => void): void;
}

export interface LiveHubDeps {
  readonly clock: Pick<Clock, 'monotonicMs'>;
  readonly bus: LiveBus;
  readonly toRow: (record: GenerationRecord) => LiveRow;
}

/**
 * Tells views what happens as it happens. While there is none it costs one look at a boolean for each record. With several
 * processes each tells the others, only while one of them says that it has a view.
 */
export interface LiveHub {
  /** Whether anything views, here or in another process: only then is a record offered. */
  readonly isWatched: boolean;
  /** Never throws. */
  offer(record: GenerationRecord): void;
  /** @returns what ends it; `undefined` where there are too many */
  subscribe(listener: (event: LiveEvent) => void): (() => void) | undefined;
  /** Rows after a number; `undefined` where some of them are gone. */
  rowsAfter(last: number): readonly LiveRow[] | undefined;
  /** The number of the last row. */
  readonly last: number;
}

const SUBSCRIBERS_MAX = 20;
const RING_ROWS = 2_000;
const FRAME_MS = 250;
const FRAMES_A_SECOND = 4;
/** 1,000 a second. */
const FRAME_ROWS_MAX = 250;
const SAY_EVERY_MS = 5_000;
/** A process that says nothing any more has no view. */
const WATCHED_MS = 15_000;
const WATCH_TOPIC = 'live-watch';
const FRAME_TOPIC = 'live-frame';

export function createLiveHub(deps: LiveHubDeps): LiveHub {
  return new RecordHub(deps);
}

class RecordHub implements LiveHub {
  isWatched = false;
  last = 0;
  readonly #deps: LiveHubDeps;
  readonly #subscribers = new Set<(event: LiveEvent) => void>();
  readonly #ring: LiveRow[] = [];
  /** Until then another process has a view. */
  #watchedUntilMs = -1;
  #saidMs = -Infinity;
  #timer: NodeJS.Timeout | undefined;
  #frames = 0;
  #rows: LiveRow[] = [];
  #isSampled = false;
  #counts = openCounts();
  /** Of this process, for the others. */
  #ownCounts = openCounts();

  constructor(deps: LiveHubDeps) {
    this.#deps = deps;
    deps.bus.subscribe(WATCH_TOPIC, () => {
      this.#watchedUntilMs = deps.clock.monotonicMs() + WATCHED_MS;
      this.#watch();
    });
    deps.bus.subscribe(FRAME_TOPIC, (message) => this.#take(message));
  }

  offer(record: GenerationRecord): void {
    if (!this.isWatched) return;
    count(this.#ownCounts, record);
    if (this.#rows.length < FRAME_ROWS_MAX) this.#rows.push(this.#deps.toRow(record));
    else this.#isSampled = true;
  }

  subscribe(listener: (event: LiveEvent) => void): (() => void) | undefined {
    if (this.#subscribers.size >= SUBSCRIBERS_MAX) return undefined;
    this.#subscribers.add(listener);
    this.#watch();
    this.#say();
    return () => void this.#subscribers.delete(listener);
  }

  rowsAfter(last: number): readonly LiveRow[] | undefined {
    const missing = this.last - last;
    if (missing < 0 || missing > this.#ring.length) return undefined;
    return missing === 0 ? [] : this.#ring.slice(-missing);
  }

  #watch(): void {
    if (this.isWatched) return;
    this.isWatched = true;
    this.#timer = setInterval(() => this.#frame(), FRAME_MS).unref();
  }

  #frame(): void {
    const nowMs = this.#deps.clock.monotonicMs();
    const isForOthers = this.#watchedUntilMs > nowMs;
    if (this.#subscribers.size === 0 && !isForOthers) {
      clearInterval(this.#timer);
      this.isWatched = false;
      this.#rows = [];
      this.#ownCounts = openCounts();
      return;
    }
    if (this.#subscribers.size > 0 && nowMs - this.#saidMs >= SAY_EVERY_MS) this.#say();
    const [rows, isSampled, counts] = [this.#rows, this.#isSampled, this.#ownCounts];
    [this.#rows, this.#isSampled, this.#ownCounts] = [[], false, openCounts()];
    if (isForOthers && counts.requests > 0)
      this.#deps.bus.announce(FRAME_TOPIC, JSON.stringify({ rows, is_sampled: isSampled, counts }));
    if (this.#subscribers.size === 0) return;
    add(this.#counts, counts);
    this.#deliver(rows, isSampled);
    this.#frames++;
    if (this.#frames % FRAMES_A_SECOND !== 0) return;
    const { costNanoUsd, ...others } = this.#counts;
    this.#counts = openCounts();
    this.#emit({ kind: 'counts', counts: { ...others, cost: usdFromNano(costNanoUsd) } });
    this.#emit({ kind: 'tick' });
  }

  /** The next frame of others may come in a moment. */
  #say(): void {
    this.#saidMs = this.#deps.clock.monotonicMs();
    this.#deps.bus.announce(WATCH_TOPIC, '');
  }

  #take(message: string): void {
    if (this.#subscribers.size === 0) return;
    const frame = parseJson(message);
    if (!isJsonObject(frame)) return;
    const { rows, counts, is_sampled: isSampled } = frame;
    if (isJsonObject(counts)) add(this.#counts, parseCounts(counts));
    if (Array.isArray(rows)) this.#deliver(rows.filter(isRow), isSampled === true);
  }

  #deliver(rows: readonly LiveRow[], isSampled: boolean): void {
    if (rows.length === 0) return;
    this.#ring.push(...rows);
    this.last += rows.length;
    if (this.#ring.length > RING_ROWS) this.#ring.splice(0, this.#ring.length - RING_ROWS);
    this.#emit({ kind: 'rows', rows, isSampled, last: this.last });
  }

  #emit(event: LiveEvent): void {
    for (const subscriber of this.#subscribers) subscriber(event);
  }
}

interface OpenCounts {
  requests: number;
  errors: number;
  tokens: number;
  costNanoUsd: number;
  readonly per: Record<string, number>;
}

function openCounts(): OpenCounts {
  return { requests: 0, errors: 0, tokens: 0, costNanoUsd: 0, per: {} };
}

function count(counts: OpenCounts, record: GenerationRecord): void {
  const status = statusOf(record);
  const kind = `${Math.floor(status / 100)}xx`;
  counts.requests++;
  if (status >= 400) counts.errors++;
  counts.tokens += (record.usage?.promptTokens ?? 0) + (record.usage?.completionTokens ?? 0);
  counts.costNanoUsd += record.cost?.totalNanoUsd ?? 0;
  counts.per[kind] = (counts.per[kind] ?? 0) + 1;
}

function add(sum: OpenCounts, more: OpenCounts): void {
  sum.requests += more.requests;
  sum.errors += more.errors;
  sum.tokens += more.tokens;
  sum.costNanoUsd += more.costNanoUsd;
  for (const [kind, times] of Object.entries(more.per)) sum.per[kind] = (sum.per[kind] ?? 0) + times;
}

/** Of another process, which may be of another version. */
function parseCounts(sent: JsonObject): OpenCounts {
  const per = isJsonObject(sent['per']) ? Object.entries(sent['per']) : [];
  return {
    requests: numberOf(sent['requests']),
    errors: numberOf(sent['errors']),
    tokens: numberOf(sent['tokens']),
    costNanoUsd: numberOf(sent['costNanoUsd']),
    per: Object.fromEntries(per.map(([kind, times]) => [kind, numberOf(times)])),
  };
}

function numberOf(value: Json | undefined): number {
  return typeof value === 'number' ? value : 0;
}

function isRow(value: Json): value is LiveRow {
  return isJsonObject(value) && typeof value['id'] === 'string' && typeof value['api_key_hash'] === 'string';
}
