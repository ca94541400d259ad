import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Clock } from '../../../lib/clock.ts';
import type { CursorRow, RefusedRecord } from '../../../store/exports/columns.ts';
import type { CursorChanges, CursorCounts, Cursors } from '../../../store/exports/cursors.ts';
import type { ExportRows } from '../../../store/exports/export-rows.ts';
import type { LogSwitches } from '../../content-log.ts';
import type { BatchLimits } from '../contract.ts';
import type { LiveDestination } from '../destinations.ts';
import type { Poster } from '../post.ts';
import { limitsOf, TICK_MS } from './batch-limits.ts';
import { afterFailure, waitAfter, type DeliveryStop } from './delivery-state.ts';
import { readPage, type PageDeps, type PageItem } from './read-page.ts';
import { BatchSender } from './send-batch.ts';

export type ExportOutcome = 'sent' | 'dropped' | 'failed';

export interface SenderDeps extends Pick<PageDeps, 'findContent' | 'patterns' | 'followsSampledFlag'> {
  readonly rows: Pick<ExportRows, 'read' | 'end'>;
  readonly cursors: Pick<Cursors, 'open' | 'take' | 'save' | 'release' | 'find'>;
  readonly switches: { get(workspaceId: string): LogSwitches | Promise<LogSwitches> };
  readonly poster: Pick<Poster, 'post'>;
  readonly clock: Clock;
  /** From 0 up to, not including, 1. */
  readonly random: () => number;
  readonly catchUpMs: number;
  /** 0: never. */
  readonly suspendAfterMs: number;
  readonly onOutcome: (type: string, outcome: ExportOutcome, count: number) => void;
  readonly onState: (live: LiveDestination, before: CursorRow['state'], after: CursorRow) => void;
  readonly onWarning: (live: LiveDestination, message: string) => void;
}

const LEASE_MS = 10_000;
const RENEW_MS = 2_000;
const PAGE_ROWS = 200;
const FAILURES_KEPT = 100;
const WARN_EVERY_MS = 3_600_000;

/** Sends the records of one destination, in their order, from where it stopped. */
export class Sender {
  readonly #deps: SenderDeps;
  readonly live: LiveDestination;
  readonly #limits: BatchLimits;
  readonly #batches: BatchSender;
  readonly #stop = new AbortController();
  /** Of its own: a destination that was changed has another sender, and one of both at a time has the turn. */
  readonly #holder = randomUUID();
  #cursor: CursorRow | undefined;
  /** Not before this moment, monotonic. */
  #dueMs = 0;
  /** When records were first seen that wait for others. */
  #gatheringSinceMs: number | undefined;
  #hasMore = true;
  #warnedMs = -Infinity;
  #running: Promise<void> | undefined;
  #isClosing = false;
  /** Until when the turn lasts, monotonic; another process may have it afterwards. */
  #turnUntilMs = -Infinity;

  constructor(deps: SenderDeps, live: LiveDestination) {
    this.#deps = deps;
    this.live = live;
    this.#limits = limitsOf(live.open);
    this.#batches = new BatchSender({
      live,
      limits: this.#limits,
      poster: deps.poster,
      nowMs: deps.clock.nowMs,
      signal: this.#stop.signal,
      pause: (ms) => this.#pause(ms),
      onTaken: (count) => deps.onOutcome(live.row.type, 'sent', count),
      onRefused: (recordId, status, message) => this.#noteRefused({ recordId, atMs: this.#now(), status, message }),
      onRefusedUnknown: (count) => deps.onOutcome(live.row.type, 'failed', count),
      onWarning: (message) => this.#warn(message),
      redact: live.redact,
    });
  }

  /** There may be records for it. */
  wake(): void {
    this.#hasMore = true;
  }

  get isDue(): boolean {
    if (this.#isClosing || this.#running !== undefined) return false;
    return this.#hasMore && this.#deps.clock.monotonicMs() >= this.#dueMs;
  }

  /** Sends what waits, if it is this sender's turn. Never rejects, but for what the database throws. */
  async run(): Promise<void> {
    if (this.#isClosing) return;
    await (this.#running ??= this.#run().finally(() => (this.#running = undefined)));
  }

  /** Begins no further call, and cuts one off that is under way after a time. What was not sent waits for the next sender. */
  async close(graceMs: number): Promise<void> {
    this.#isClosing = true;
    const running = this.#running?.catch(() => undefined);
    if (running === undefined) return this.#stop.abort();
    await Promise.race([running, sleep(graceMs, undefined, { ref: false })]);
    this.#stop.abort();
    await running;
  }

  async #run(): Promise<void> {
    const { cursors, clock } = this.#deps;
    const { id } = this.live.row;
    const taken = (await this.#take()) ?? (await this.#open());
    if (taken === undefined) {
      this.#dueMs = clock.monotonicMs() + RENEW_MS;
      return;
    }
    this.#cursor = taken;
    let renewing: Promise<unknown> | undefined;
    const renewal = setInterval(() => void (renewing = this.#take().catch(() => undefined)), RENEW_MS).unref();
    try {
      while (this.#mayGoOn && (await this.#sendPage()));
    } finally {
      clearInterval(renewal);
      await renewing;
      this.#cursor = undefined;
      await cursors.release(id, this.#holder).catch(() => undefined);
    }
  }

  /** A process that was stopped for longer than its turn must not go on, nor a sender of an earlier configuration. */
  get #mayGoOn(): boolean {
    return !this.#isClosing && this.#deps.clock.monotonicMs() < this.#turnUntilMs;
  }

  async #take(): Promise<CursorRow | undefined> {
    // Before the database begins to count.
    const sinceMs = this.#deps.clock.monotonicMs();
    const row = await this.#deps.cursors.take(this.live.row.id, this.#holder, LEASE_MS);
    this.#turnUntilMs = row === undefined ? -Infinity : sinceMs + LEASE_MS;
    return row;
  }

  /** A destination of before there were cursors begins now. */
  async #open(): Promise<CursorRow | undefined> {
    const { cursors, rows } = this.#deps;
    const { id } = this.live.row;
    if ((await cursors.find([id])).has(id)) return undefined;
    await cursors.open(id, await rows.end());
    return this.#take();
  }

  /** @returns whether there may be more */
  async #sendPage(): Promise<boolean> {
    const { rows, switches, findContent, patterns, catchUpMs, clock, followsSampledFlag = false } = this.#deps;
    const cursor = this.#cursor;
    if (cursor === undefined) return false;
    const { workspaceId } = this.live.row;
    const found = await rows.read(workspaceId, cursor, Math.max(PAGE_ROWS, this.#limits.records));
    if (found.length === 0 || this.#isGathering(found.length)) {
      this.#hasMore = found.length > 0;
      return false;
    }
    this.#gatheringSinceMs = undefined;
    this.#batches.retain(new Set(found.map(({ generation }) => generation.id)));
    const page = await readPage(found, {
      live: this.live,
      switches: await switches.get(workspaceId),
      findContent,
      patterns,
      followsSampledFlag,
      nowMs: clock.nowMs(),
      ageMsMax: Math.min(catchUpMs, this.#limits.ageMsMax ?? Infinity),
    });
    for (const batch of batchesOf(page, this.#limits))
      if (!this.#mayGoOn || !(await this.#sendBatch(batch))) return false;
    return page.length > 0;
  }

  #isGathering(count: number): boolean {
    const { gatherMs, records } = this.#limits;
    const nowMs = this.#deps.clock.monotonicMs();
    this.#gatheringSinceMs ??= nowMs;
    if (count >= records || nowMs >= this.#gatheringSinceMs + gatherMs - TICK_MS) return false;
    this.#dueMs = this.#gatheringSinceMs + gatherMs - TICK_MS;
    return true;
  }

  /** @returns whether sending may go on */
  async #sendBatch(batch: readonly PageItem[]): Promise<boolean> {
    const generations = batch.flatMap(({ generation }) => generation ?? []);
    const stop = await this.#batches.send(generations);
    if (this.#stop.signal.aborted) return false;
    if (stop !== undefined) return this.#noteFailure(stop);
    const last = batch.at(-1)?.row;
    const succeeded = generations.length > 0 ? this.#succeed() : {};
    const dropped = batch.filter(({ isDropped }) => isDropped === true).length;
    const counts = { ...this.#batches.conclude(generations), dropped };
    const isSaved = await this.#save(
      { ...(last !== undefined && { xid: last.xid, seq: last.seq }), ...succeeded },
      counts,
    );
    if (isSaved && dropped > 0) this.#deps.onOutcome(this.live.row.type, 'dropped', dropped);
    return isSaved;
  }

  #succeed(): CursorChanges {
    return { state: 'ok', failures: 0, failingSinceMs: null, lastSuccessMs: this.#now() };
  }

  async #noteFailure(stop: DeliveryStop): Promise<false> {
    const { clock, random, suspendAfterMs } = this.#deps;
    if (this.#cursor === undefined) return false;
    const after = afterFailure(this.#cursor, stop, this.#now(), suspendAfterMs);
    this.#dueMs = clock.monotonicMs() + waitAfter(after.failures, stop, random());
    await this.#save(after);
    return false;
  }

  /** @returns `false`: it is another sender's turn, or the clean-up gave records up */
  async #save(changes: CursorChanges, counts?: CursorCounts): Promise<boolean> {
    const before = this.#cursor;
    if (before === undefined) return false;
    const after = { ...before, ...changes };
    this.#cursor = after;
    const { xid, seq, state, failures, failingSinceMs, lastSuccessMs, lastError, recentFailures } = after;
    const isSaved = await this.#deps.cursors.save(
      this.live.row.id,
      this.#holder,
      before,
      { xid, seq, state, failures, failingSinceMs, lastSuccessMs, lastError, recentFailures },
      counts,
    );
    if (isSaved && before.state !== state) this.#deps.onState(this.live, before.state, after);
    return isSaved;
  }

  #noteRefused(refused: RefusedRecord): void {
    this.#deps.onOutcome(this.live.row.type, 'failed', 1);
    if (this.#cursor === undefined) return;
    const recentFailures = [...this.#cursor.recentFailures, refused].slice(-FAILURES_KEPT);
    this.#cursor = { ...this.#cursor, recentFailures };
  }

  #warn(message: string): void {
    const nowMs = this.#deps.clock.monotonicMs();
    if (nowMs < this.#warnedMs + WARN_EVERY_MS) return;
    this.#warnedMs = nowMs;
    this.#deps.onWarning(this.live, message);
  }

  #now(): number {
    return Math.floor(this.#deps.clock.nowMs());
  }

  async #pause(ms: number): Promise<void> {
    await sleep(ms, undefined, { signal: this.#stop.signal, ref: false }).catch(() => undefined);
  }
}

/** As many at a time as a call may have. */
function batchesOf(items: readonly PageItem[], { records, bytes }: BatchLimits): readonly (readonly PageItem[])[] {
  const batches: PageItem[][] = [];
  let current: PageItem[] = [];
  let [count, chars] = [0, 0];
  for (const item of items) {
    const isRecord = item.generation !== undefined;
    if (isRecord && count > 0 && (count === records || chars + item.chars > bytes)) {
      batches.push(current);
      current = [];
      [count, chars] = [0, 0];
    }
    current.push(item);
    if (isRecord) count++;
    chars += item.chars;
  }
  return current.length > 0 ? [...batches, current] : batches;
}
