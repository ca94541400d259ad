import type { PipelineStage } from '../../canonical/route-report.ts';
import type { Catalog } from '../../catalog/model.ts';
import type { Clock } from '../../lib/clock.ts';
import type { JsonObject } from '../../lib/json.ts';
import type { GenerationRouteRow } from '../../store/accounts/columns.ts';
import type { RouteStore } from '../../store/generations/generation-routes.ts';
import { createAppendQueue } from '../append-queue.ts';
import type { GenerationRecord } from '../record.ts';
import { packDecision, unpackDecision } from './packed-decision.ts';
import { serializeDecision } from './route-decision.ts';

/**
 * How requests were routed and why: of all that failed, fell back, were continued by another endpoint, had a stage of a plugin, router, tool or guardrail, or
 * wanted metadata, and of a share of the rest. It is written behind the response, and may be lost with the process.
 */
export interface RouteLog {
  /** Keeps the decision of a request that has ended, or not. Never throws. */
  offer(record: GenerationRecord): void;
  /** Absent: none was kept, or it is older than it may be. */
  find(generationId: string): Promise<JsonObject | undefined>;
  /** Deletes what is older than it may be; bounded work. `true`: there is more. */
  purge(): Promise<boolean>;
  close(): Promise<void>;
}

export interface RouteLogDeps {
  readonly store: RouteStore;
  readonly catalog: Pick<Catalog, 'find'>;
  readonly clock: Clock;
  /** From 0 up to, not including, 1. */
  readonly random: () => number;
  /** Of the requests that nothing happened to, from 0 to 1. */
  readonly sample: number;
  readonly retentionMs: number;
  readonly onLost: (error: unknown) => void;
}

/** Some 2 kB each, as text. */
const WAITING_MAX = 1_000;
const RETRY_DELAYS_MS = [500, 2_000, 8_000];
/** Fifty commits a second in place of one delayed the slowest requests to three times as long. */
const GATHER_MS = 1_000;
const PURGE_ROWS = 500;

export function createRouteLog(deps: RouteLogDeps): RouteLog {
  const { store, catalog, clock, onLost } = deps;
  const queue = createAppendQueue<GenerationRouteRow>({
    appendBatch: (rows) => store.insert(rows),
    onLost: (_row, error) => onLost(error),
    itemsMax: WAITING_MAX,
    retryDelaysMs: RETRY_DELAYS_MS,
    gatherMs: GATHER_MS,
  });
  let underWay = 0;

  async function keep(record: GenerationRecord): Promise<void> {
    const { id: generationId, createdMs: createdAtMs } = record;
    await queue.append({ generationId, createdAtMs, body: await packDecision(serializeDecision(record, catalog)) });
  }

  return {
    offer(record) {
      if (!isKept(record, deps)) return;
      if (underWay >= WAITING_MAX) return onLost(new Error('Too many decisions wait.'));
      underWay++;
      keep(record)
        .catch(onLost)
        .finally(() => underWay--);
    },
    async find(generationId) {
      const row = await store.find(generationId);
      if (row === undefined || row.createdAtMs < clock.nowMs() - deps.retentionMs) return undefined;
      return unpackDecision(row.body);
    },
    async purge() {
      return (await store.removeBefore(clock.nowMs() - deps.retentionMs, PURGE_ROWS)) === PURGE_ROWS;
    },
    close: () => queue.close(),
  };
}

function isKept(record: GenerationRecord, { random, sample }: Pick<RouteLogDeps, 'random' | 'sample'>): boolean {
  const { report, error, failure, attempts, rescues, request } = record;
  // A key that sends too fast must not fill the database with refusals.
  if (error?.rateLimit !== undefined) return false;
  if (report.plan === undefined && report.pipeline.length === 0) return false;
  const isNotable =
    error !== undefined ||
    failure !== undefined ||
    attempts.length > 1 ||
    rescues.length > 0 ||
    report.pipeline.some(isOfWork) ||
    request.directives.serviceMetadata;
  return isNotable || (sample > 0 && random() < sample);
}

/** Every request with tools has one of routing, which says in what order endpoints were tried: the plan says so, too. */
function isOfWork({ type }: PipelineStage): boolean {
  return type !== 'routing';
}
