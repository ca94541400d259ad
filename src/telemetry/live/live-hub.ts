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
  | { readonly kind: 'counts'; readonly counts: LiveCounts; readonly last: number }
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
  /**
   * @param owner of the view, whose share of all views has a bound; without it, the bound of all views alone holds
   * @returns what ends it; `undefined` where there are too many
   */
  subscribe(listener: (event: LiveEvent) => void, owner?: string): (() => void) | undefined;
  /** Rows after a number; `undefined` where some of them are gone. */
  rowsAfter(last: number): readonly LiveRow[] | undefined;
  /** The number of the last row. */
  readonly last: number;
}

const SUBSCRIBERS_MAX = 20;
/** Views of one owner, so that one of many leaves room for the others. */
const OF_ONE_OWNER_MAX = 4;
const RING_ROWS = 2_000;
const FRAME_MS = 250;
const FRAMES_A_SECOND = 4;
/** 1,000 a second. */
const FRAME_ROWS_MAX = 250;
const SAY_EVERY_MS = 5_000;
/** A process that says nothing any more has no view. */
const WATCHED_MS = 15_000;
/** A view that comes back within it, after its connection broke, misses nothing. */
const AWAY_MS_MAX = 5_000;
/** Of rows in one message to other processes: Redis' bus drops what is longer than 65,536 with its escapes, at most twice this. */
const MESSAGE_CHARS_MAX = 32_000;
const WATCH_TOPIC = 'live-watch';
const ROWS_TOPIC = 'live-rows';
const COUNTS_TOPIC = 'live-counts';

export function createLiveHub(deps: LiveHubDeps): LiveHub {
  return new RecordHub(deps);
}

class RecordHub implements LiveHub {
  isWatched = false;
  last = 0;
  readonly #deps: LiveHubDeps;
  /** Owners by what their views listen with. */
  readonly #subscribers = new Map<(event: LiveEvent) => void, string | undefined>();
  #ring: LiveRow[] = [];
  /** Since then nothing views here. */
  #leftMs = -Infinity;
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
    deps.bus.subscribe(ROWS_TOPIC, (message) => this.#takeRows(message));
    deps.bus.subscribe(COUNTS_TOPIC, (message) => this.#takeCounts(message));
  }

  offer(record: GenerationRecord): void {
    if (!this.isWatched) return;
    count(this.#ownCounts, record);
    if (this.#rows.length < FRAME_ROWS_MAX) this.#rows.push(this.#deps.toRow(record));
    else this.#isSampled = true;
  }

  subscribe(listener: (event: LiveEvent) => void, owner?: string): (() => void) | undefined {
    if (this.#subscribers.size >= SUBSCRIBERS_MAX) return undefined;
    if (owner !== undefined && countOf(this.#subscribers.values(), owner) >= OF_ONE_OWNER_MAX) return undefined;
    this.#subscribers.set(listener, owner);
    this.#watch();
    this.#say();
    return () => {
      if (this.#subscribers.delete(listener) && this.#subscribers.size === 0)
        this.#leftMs = this.#deps.clock.monotonicMs();
    };
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
    const isForOwn = this.#isViewed(nowMs);
    if (!isForOwn) this.#forget();
    if (!isForOwn && !isForOthers) {
      clearInterval(this.#timer);
      this.isWatched = false;
      [this.#rows, this.#isSampled, this.#ownCounts] = [[], false, openCounts()];
      return;
    }
    if (isForOwn && nowMs - this.#saidMs >= SAY_EVERY_MS) this.#say();
    const [rows, isSampled, counts] = [this.#rows, this.#isSampled, this.#ownCounts];
    [this.#rows, this.#isSampled, this.#ownCounts] = [[], false, openCounts()];
    if (isForOthers && counts.requests > 0) this.#announce(rows, isSampled, counts);
    if (!isForOwn) return;
    add(this.#counts, counts);
    this.#deliver(rows, isSampled);
    this.#frames++;
    if (this.#frames % FRAMES_A_SECOND !== 0) return;
    const { costNanoUsd, ...others } = this.#counts;
    this.#counts = openCounts();
    this.#emit({ kind: 'counts', counts: { ...others, cost: usdFromNano(costNanoUsd) }, last: this.last });
    this.#emit({ kind: 'tick' });
  }

  /** Whether a view is here, or left a moment ago and may come back. */
  #isViewed(nowMs: number): boolean {
    return this.#subscribers.size > 0 || nowMs - this.#leftMs < AWAY_MS_MAX;
  }

  /** From here on rows are missing: the numbers that views saw until now lead to a gap. */
  #forget(): void {
    if (this.#ring.length === 0) return;
    this.#ring = [];
    this.last++;
  }

  /** Tells other processes, the counts apart: they are exact whatever becomes of rows. */
  #announce(rows: readonly LiveRow[], isSampled: boolean, counts: OpenCounts): void {
    const { bus } = this.#deps;
    bus.announce(COUNTS_TOPIC, JSON.stringify(counts));
    const { parts, isWhole } = partsOf(rows);
    for (const part of parts)
      bus.announce(ROWS_TOPIC, `{"rows":[${part.join(',')}],"is_sampled":${isSampled || !isWhole}}`);
  }

  /** The next frame of others may come in a moment. */
  #say(): void {
    this.#saidMs = this.#deps.clock.monotonicMs();
    this.#deps.bus.announce(WATCH_TOPIC, '');
  }

  #takeRows(message: string): void {
    if (!this.#isViewed(this.#deps.clock.monotonicMs())) return;
    const sent = parseJson(message);
    if (!isJsonObject(sent) || !Array.isArray(sent['rows'])) return;
    this.#deliver(sent['rows'].filter(isRow), sent['is_sampled'] === true);
  }

  #takeCounts(message: string): void {
    if (!this.#isViewed(this.#deps.clock.monotonicMs())) return;
    const counts = parseJson(message);
    if (isJsonObject(counts)) add(this.#counts, parseCounts(counts));
  }

  #deliver(rows: readonly LiveRow[], isSampled: boolean): void {
    if (rows.length === 0) return;
    this.#ring.push(...rows);
    this.last += rows.length;
    if (this.#ring.length > RING_ROWS) this.#ring.splice(0, this.#ring.length - RING_ROWS);
    this.#emit({ kind: 'rows', rows, isSampled, last: this.last });
  }

  #emit(event: LiveEvent): void {
    for (const subscriber of this.#subscribers.keys()) subscriber(event);
  }
}

function countOf(owners: Iterable<string | undefined>, owner: string): number {
  let times = 0;
  for (const each of owners) if (each === owner) times++;
  return times;
}

/** Rows as JSON, in parts that fit a message. `isWhole`: none is too long for a message of its own. */
function partsOf(rows: readonly LiveRow[]): { readonly parts: readonly string[][]; readonly isWhole: boolean } {
  const parts: string[][] = [];
  let room = 0;
  let isWhole = true;
  for (const row of rows) {
    const text = JSON.stringify(row);
    if (text.length > MESSAGE_CHARS_MAX) {
      isWhole = false;
      continue;
    }
    if (room < text.length) {
      parts.push([]);
      room = MESSAGE_CHARS_MAX;
    }
    parts.at(-1)?.push(text);
    room -= text.length;
  }
  return { parts, isWhole };
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
