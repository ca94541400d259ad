import { setTimeout as sleep } from 'node:timers/promises';
import type { Clock } from '../lib/clock.ts';
import { createHousekeeping } from '../lib/async/housekeeping.ts';
import { JournalBehindError } from '../journal/apply-loop.ts';
import type { Journal } from '../journal/journal.ts';
import type { JournalStore } from '../journal/store.ts';
import type { JournalPositions, SharedState } from '../state/contract.ts';
import { POSITION_EVERY_MS } from '../state/position-bounds.ts';

export interface AppliedRecordsDeps {
  readonly journal: Journal;
  readonly store: Pick<JournalStore, 'readCheckpoints'>;
  readonly state: Pick<SharedState, 'positions'>;
  readonly clock: Pick<Clock, 'monotonicMs'>;
}

/** Which records the database has, of those that this process and others have written. */
export interface AppliedRecords {
  /**
   * Settles when the database has all records that were written before by processes which live.
   * @throws JournalBehindError when that takes too long, or records of a process that is gone wait
   */
  wait(): Promise<void>;
  /** Streams of processes that are gone or stopped, with records that the database lacks. */
  silentStreams(): Promise<readonly string[]>;
  /** Applies what processes that are gone have left, and begins to publish the position of this one. */
  start(): Promise<void>;
  /** Stores what is left. */
  close(): Promise<void>;
}

const WAIT_MS_MAX = 2_000;
const LOOK_EVERY_MS = 10;

export function createAppliedRecords({ journal, store, state, clock }: AppliedRecordsDeps): AppliedRecords {
  const { positions } = state;
  const publisher = positions && createPublisher(journal, positions);
  const behindOf = async (published: ReadonlyMap<string, number>): Promise<readonly string[]> => {
    const others = [...published].filter(([stream]) => stream !== journal.stream);
    if (others.length === 0) return [];
    const stored = await store.readCheckpoints(others.map(([stream]) => stream));
    return others.filter(([stream, position]) => (stored.get(stream) ?? 0) < position).map(([stream]) => stream);
  };
  /** While the shared state is away this process counts by itself. */
  const read = async () => (await positions?.read().catch(() => undefined)) ?? { live: NONE, silent: NONE };
  return {
    async wait() {
      if (journal.status().hasOrphans) throw new JournalBehindError();
      await journal.caughtUp();
      if (positions === undefined) return;
      const untilMs = clock.monotonicMs() + WAIT_MS_MAX;
      while ((await behindOf((await read()).live)).length > 0) {
        if (clock.monotonicMs() > untilMs) throw new JournalBehindError();
        await sleep(LOOK_EVERY_MS);
      }
    },
    silentStreams: async () => behindOf((await read()).silent),
    async start() {
      await journal.start();
      publisher?.start();
    },
    async close() {
      await journal.close();
      await publisher?.close();
    },
  };
}

const NONE: ReadonlyMap<string, number> = new Map();

/**
 * Publishes the position of this process while the database lacks some of its records: with each write, before what is
 * written is charged and its responses end.
 */
function createPublisher(journal: Journal, positions: JournalPositions) {
  let published = 0;
  journal.onFinished((stream) => positions.withdraw(stream));
  journal.onWritten((position) => {
    published = position;
    void positions.publish(journal.stream, position);
  });
  const renewal = createHousekeeping({
    async work() {
      const { position, unapplied } = journal.status();
      if (unapplied > 0) {
        published = position;
        await positions.publish(journal.stream, position);
      } else if (published > 0) {
        published = 0;
        await positions.withdraw(journal.stream);
      }
      return false;
    },
    everyMs: POSITION_EVERY_MS,
    pauseMs: 0,
    onFailed: () => undefined,
  });
  return {
    start: () => renewal.start(),
    async close() {
      await renewal.stop();
    },
  };
}
