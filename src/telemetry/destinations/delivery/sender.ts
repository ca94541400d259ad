import { setTimeout as sleep } from 'node:timers/promises';
import type { Clock } from '../../../lib/clock.ts';
import type { CursorRow, RefusedRecord } from '../../../store/exports/columns.ts';
import type { CursorChanges, Cursors } from '../../../store/exports/cursors.ts';
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

export interface SenderDeps extends Pick<PageDeps, 'findContent' | 'patterns'> {
  readonly rows: Pick<ExportRows, 'read' | 'end'>;
  readonly cursors: Pick<Cursors, 'open' | 'take' | 'save' | 'release' | 'find'>;
  readonly switches: { get(workspaceId: string): LogSwitches | Promise<LogSwitches> };
  readonly poster: Pick<Poster, 'post'>;
  /** Names this process. */
  readonly holder: string;
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
  #cursor: CursorRow | undefined;
  /** Not before this moment, monotonic. */
  #dueMs = 0;
  /** When records were first seen that wait for others. */
  #gatheringSinceMs: number | undefined;
  #hasMore = true;
  #warnedMs = -Infinity;
  #running: Promise<void> | undefined;
  #isClosing = false;
  /** Another process sends meanwhile. */
  #isLost = false;

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
      onTaken: (count) => this.#count('sent', count),
      onRefused: (recordId, status, message) => this.#noteRefused({ recordId, atMs: this.#now(), status, message }),
      onRefusedUnknown: (count) => this.#count('failed', count),
      onWarning: (message) => this.#warn(message),
      redact: live.redact,
    });
  }

  /** There may be records for it. */
  wake(): void {
    this.#hasMore = true;
  }

  get isDue(): boolean {
    return this.#running === undefined && this.#hasMore && this.#deps.clock.monotonicMs() >= this.#dueMs;
  }

  /** Sends what waits, if this process may. Never rejects, but for what the database throws. */
  run(): Promise<void> {
    this.#running ??= this.#run().finally(() => (this.#running = undefined));
    return this.#running;
  }

  /** Cuts a call off that is under way after a time. What was not sent waits for the next process. */
  async close(graceMs: number): Promise<void> {
    const running = this.#running?.catch(() => undefined);
    if (running === undefined) return this.#stop.abort();
    this.#hasMore = false;
    this.#isClosing = true;
    await Promise.race([running, sleep(graceMs, undefined, { ref: false })]);
    this.#stop.abort();
    await running;
  }

  async #run(): Promise<void> {
    const { cursors, holder, clock } = this.#deps;
    const { id } = this.live.row;
    const taken = (await cursors.take(id, holder, LEASE_MS)) ?? (await this.#open());
    if (taken === undefined) {
      this.#dueMs = clock.monotonicMs() + RENEW_MS;
      return;
    }
    this.#cursor = taken;
    this.#isLost = false;
    const renewal = setInterval(() => void this.#renew(), RENEW_MS).unref();
    try {
      while (!this.#isClosing && (await this.#sendPage()));
    } finally {
      clearInterval(renewal);
      this.#cursor = undefined;
      await cursors.release(id, holder).catch(() => undefined);
    }
  }

  /** A destination of before there were cursors begins now. */
  async #open(): Promise<CursorRow | undefined> {
    const { cursors, rows, holder } = this.#deps;
    const { id } = this.live.row;
    if ((await cursors.find([id])).has(id)) return undefined;
    await cursors.open(id, await rows.end());
    return cursors.take(id, holder, LEASE_MS);
  }

  /** A process that was stopped for longer than its lease must not go on. */
  async #renew(): Promise<void> {
    const { cursors, holder } = this.#deps;
    const row = await cursors.take(this.live.row.id, holder, LEASE_MS).catch(() => null);
    if (row === undefined) this.#isLost = true;
  }

  /** @returns whether there may be more */
  async #sendPage(): Promise<boolean> {
    const { rows, switches, findContent, patterns, catchUpMs, clock } = this.#deps;
    const cursor = this.#cursor;
    if (cursor === undefined || this.#isLost) return false;
    const { workspaceId } = this.live.row;
    const found = await rows.read(workspaceId, cursor, Math.max(PAGE_ROWS, this.#limits.records));
    if (found.length === 0 || this.#isGathering(found.length)) {
      this.#hasMore = found.length > 0;
      return false;
    }
    this.#gatheringSinceMs = undefined;
    const page = await readPage(found, {
      live: this.live,
      switches: await switches.get(workspaceId),
      findContent,
      patterns,
      nowMs: clock.nowMs(),
      ageMsMax: Math.min(catchUpMs, this.#limits.ageMsMax ?? Infinity),
    });
    for (const batch of batchesOf(page, this.#limits)) if (!(await this.#sendBatch(batch))) return false;
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
    if (this.#stop.signal.aborted || this.#isLost) return false;
    if (stop !== undefined) return this.#noteFailure(stop);
    this.#batches.forget();
    this.#count('dropped', batch.filter(({ isDropped }) => isDropped === true).length);
    const last = batch.at(-1)?.row;
    const succeeded = generations.length > 0 ? this.#succeed() : {};
    return this.#save({ ...(last !== undefined && { xid: last.xid, seq: last.seq }), ...succeeded });
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

  /** @returns `false`: another process sends meanwhile */
  async #save(changes: CursorChanges): Promise<boolean> {
    const before = this.#cursor;
    if (before === undefined) return false;
    const after = { ...before, ...changes };
    this.#cursor = after;
    const { xid, seq, state, failures, failingSinceMs, lastSuccessMs, lastError } = after;
    const { sent, failed, dropped, recentFailures } = after;
    const isSaved = await this.#deps.cursors.save(this.live.row.id, this.#deps.holder, {
      xid,
      seq,
      state,
      failures,
      failingSinceMs,
      lastSuccessMs,
      lastError,
      sent,
      failed,
      dropped,
      recentFailures,
    });
    if (isSaved && before.state !== state) this.#deps.onState(this.live, before.state, after);
    return isSaved;
  }

  #count(outcome: ExportOutcome, count: number): void {
    if (count === 0) return;
    this.#deps.onOutcome(this.live.row.type, outcome, count);
    if (this.#cursor !== undefined) this.#cursor = { ...this.#cursor, [outcome]: this.#cursor[outcome] + count };
  }

  #noteRefused(refused: RefusedRecord): void {
    this.#count('failed', 1);
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
