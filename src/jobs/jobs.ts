import { randomUUID } from 'node:crypto';
import { assert } from '../lib/assert.ts';
import { createHousekeeping, type Housekeeping } from '../lib/async/housekeeping.ts';
import type { JsonObject } from '../lib/json.ts';
import type { Job } from '../store/jobs/columns.ts';
import type { Added, JobStore } from '../store/jobs/jobs.ts';
import type { JobKind } from './contract.ts';
import { KEEP_MS, OPEN_MAX, type JobsDeps, type JobTimes } from './engine-deps.ts';
import { Runner } from './runner.ts';

/** Work that outlives a request, for every area: each registers its kinds, and adds jobs by them. */
export interface Jobs {
  /** Before `start`. */
  register(kind: JobKind): void;
  /** Adds a job, unless one of its id is there. */
  add(job: AddedJob): Promise<Added>;
  find(id: string): Promise<Job | undefined>;
  /** The newest first, at most 100. */
  ofSubject(kind: string, subjectId: string): Promise<readonly Job[]>;
  /** A page of all of them, the newest first. */
  readonly list: JobStore['list'];
  /** How many there are, by kind and state. */
  readonly count: JobStore['count'];
  /** Ends a job that waits, and stops one that runs. @returns whether it was not over */
  cancel(kind: string, id: string): Promise<boolean>;
  /** Lets a job run on that waits for something outside. @returns whether it waited */
  wake(id: string, checkpoint?: JsonObject): Promise<boolean>;
  /** Deletes the oldest jobs of a subject that wait to run, beyond so many. @returns how many */
  dropOldest(kind: string, subjectId: string, keepMax: number): Promise<number>;
  /** Before any process of the gateway works. */
  recover(): Promise<void>;
  start(): void;
  /** Ends what runs: it goes on where it left off, in this process or another. */
  close(): Promise<void>;
}

export interface AddedJob {
  readonly kind: string;
  readonly subjectId: string;
  /** Default: a random one. Of two jobs with one id, the first stays. */
  readonly id?: string;
  readonly delayMs?: number;
  readonly checkpoint?: JsonObject;
}

const LISTED_MAX = 100;
const TIMES: JobTimes = { tickMs: 1_000, leaseMs: 60_000, renewMs: 20_000, closeMs: 5_000 };
const CLEAR_EVERY_MS = 600_000;
const CLEAR_PAUSE_MS = 1_000;

export function createJobs(deps: JobsDeps): Jobs {
  const { store } = deps;
  const times = { ...TIMES, ...deps.times };
  const kinds = new Map<string, JobKind>();
  const runner = new Runner({ ...deps, times, kinds, owner: randomUUID() });
  const keep = (work: () => Promise<boolean>, everyMs: number, pauseMs: number): Housekeeping =>
    createHousekeeping({ work, everyMs, pauseMs, onFailed: deps.onHousekeepingFailed });
  const rounds = [
    keep(() => runner.round(), times.tickMs, times.tickMs),
    keep(() => runner.renew(), times.renewMs, times.renewMs),
    keep(() => store.clearAway(), CLEAR_EVERY_MS, CLEAR_PAUSE_MS),
  ];
  const kindOf = (name: string): JobKind => {
    const kind = kinds.get(name);
    assert(kind !== undefined, `the kind of job ${name} is registered`);
    return kind;
  };
  return {
    register(kind) {
      assert(!kinds.has(kind.kind), `the kind of job ${kind.kind} is registered once`);
      kinds.set(kind.kind, kind);
    },
    async add({ kind, subjectId, id = randomUUID(), delayMs = 0, checkpoint = {} }) {
      const { openMax = OPEN_MAX } = kindOf(kind);
      const added = await store.add({ id, kind, subjectId, delayMs, checkpoint }, openMax);
      if (added === 'added' && delayMs === 0) runner.nudge();
      return added;
    },
    find: (id) => store.find(id),
    ofSubject: (kind, subjectId) => store.ofSubject(kind, subjectId, LISTED_MAX),
    list: (filter, window) => store.list(filter, window),
    count: () => store.count(),
    async cancel(kind, id) {
      const wasOpen = await store.cancel(id, kindOf(kind).keepMs ?? KEEP_MS);
      if (wasOpen) runner.stop(id);
      return wasOpen;
    },
    async wake(id, checkpoint) {
      const wasWaiting = await store.wake(id, checkpoint);
      if (wasWaiting) runner.nudge();
      return wasWaiting;
    },
    dropOldest: (kind, subjectId, keepMax) => store.dropOldest(kind, subjectId, keepMax),
    async recover() {
      // On PostgreSQL another gateway may live, and leases say so.
      if (deps.isAlone && deps.runs) await store.forgetRunners();
    },
    start() {
      if (!deps.runs || kinds.size === 0) return;
      runner.start();
      for (const round of rounds) round.start();
    },
    async close() {
      await Promise.all(rounds.map((round) => round.stop()));
      await runner.close();
    },
  };
}
