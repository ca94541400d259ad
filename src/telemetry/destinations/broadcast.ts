import { setTimeout as sleep } from 'node:timers/promises';
import { isSampled } from '../is-sampled.ts';
import type { ExportedGeneration } from './contract.ts';
import type { Destinations, LiveDestination } from './destinations.ts';
import { createExportQueue, type ExportOutcome, type ExportQueue } from './export-queue.ts';
import { fitsRules } from './filter-rules.ts';
import type { PatternSearch } from './pattern-search.ts';
import type { Poster } from './post.ts';

/** Sends generations to the destinations of their workspaces. No request waits for it. */
export interface Broadcast {
  /** Whether a destination may select a generation of this workspace and key. */
  isWanted(workspaceId: string, keyHash: string): boolean;
  offer(generation: ExportedGeneration): void;
  /** Reads the destinations and their filters again. @throws Error when they cannot be read */
  refresh(): Promise<void>;
  /** Sends what waits, as far as that takes no longer. */
  close(): Promise<void>;
}

export interface BroadcastDeps {
  readonly destinations: Pick<Destinations, 'live'>;
  readonly poster: Pick<Poster, 'post'>;
  /** Closed with the broadcast. */
  readonly patterns: PatternSearch;
  readonly nowMs: () => number;
  readonly random: () => number;
  readonly onOutcome: (type: string, outcome: ExportOutcome, count: number) => void;
}

const CLOSE_MS_MAX = 2_000;

interface Receiver {
  readonly live: LiveDestination;
  readonly queue: ExportQueue;
}

export function createBroadcast(deps: BroadcastDeps): Broadcast {
  /** By destination and version of it: a change makes another. */
  let refreshed: Promise<void> = Promise.resolve();
  const closing = new Set<Promise<void>>();
  /** Generations whose filter rules are being looked at in a thread. */
  const filtering = new Set<Promise<void>>();
  let receivers = new Map<string, Receiver>();

  function open(live: LiveDestination): Receiver {
    const { row } = live;
    const reported = {
      cost: row.sendsCost,
      identity: row.sendsIdentity,
      requestContext: row.sendsRequestContext,
      content: !row.privacyMode,
    };
    const queue = createExportQueue({
      serialize: (batch) => live.open.serialize(batch, reported, deps.nowMs()),
      post: (call) => deps.poster.post(call),
      onOutcome: (outcome, count) => deps.onOutcome(row.type, outcome, count),
      random: deps.random,
    });
    return { live, queue };
  }

  return {
    isWanted(workspaceId, keyHash) {
      for (const { live } of receivers.values()) if (isOf(live, workspaceId, keyHash)) return true;
      return false;
    },
    offer(generation) {
      const { workspaceId, keyHash } = generation.identity;
      for (const { live, queue } of receivers.values())
        if (isOf(live, workspaceId, keyHash) && isOfShare(live, generation)) judge(live, queue, generation);
    },
    refresh() {
      // One after the other: an earlier reading that ends later must not bring back what is gone.
      refreshed = refreshed.then(refresh, refresh);
      return refreshed;
    },
    async close() {
      await Promise.race([Promise.all(filtering), sleep(CLOSE_MS_MAX, undefined, { ref: false })]);
      await deps.patterns.close();
      await Promise.all([...closing, ...[...receivers.values()].map(({ queue }) => queue.close(CLOSE_MS_MAX))]);
    },
  };

  function judge({ row, filterRules }: LiveDestination, queue: ExportQueue, generation: ExportedGeneration): void {
    const fits = filterRules === null || fitsRules(filterRules, generation, deps.patterns);
    if (typeof fits === 'boolean') {
      if (fits) queue.offer(generation);
      return;
    }
    const judged = fits
      .then((does) => does && queue.offer(generation))
      // Whether it was wanted is not known: it is counted with those for which there was no room.
      .catch(() => deps.onOutcome(row.type, 'dropped', 1))
      .then(() => void filtering.delete(judged));
    filtering.add(judged);
  }

  async function refresh(): Promise<void> {
    const next = new Map<string, Receiver>();
    for (const live of await deps.destinations.live()) {
      const name = `${live.row.id} ${live.row.updatedAtMs}`;
      next.set(name, receivers.get(name) ?? open(live));
    }
    const gone = [...receivers].filter(([name]) => !next.has(name)).map(([, receiver]) => receiver);
    receivers = next;
    // Their remaining records are sent meanwhile; only the end of the process waits for that.
    for (const { queue } of gone) {
      const closed = queue.close(CLOSE_MS_MAX).finally(() => closing.delete(closed));
      closing.add(closed);
    }
  }
}

function isOf({ row }: LiveDestination, workspaceId: string, keyHash: string): boolean {
  return row.workspaceId === workspaceId && (row.apiKeyHashes === null || row.apiKeyHashes.includes(keyHash));
}

/** A session is sent whole or not at all, to each destination by itself. @spec destination-3 */
function isOfShare({ row }: LiveDestination, generation: ExportedGeneration): boolean {
  const group = generation.sessionId ?? generation.id;
  return isSampled(`${row.id}:${group}`, row.samplingPpm);
}
