import { withTimeout } from '../../lib/async/with-timeout.ts';
import type { MessageLink } from '../../lib/net/message-link.ts';
import {
  ReservationsBusy,
  type InvalidationBus,
  type JournalPositions,
  type LoadSpent,
  type PermitRequest,
  type PermitResult,
  type RateLimitState,
  type ReservationResult,
  type Reservations,
  type SharedState,
  type SharedValues,
  type TextCache,
} from '../contract.ts';
import { createPermit } from '../rates.ts';
import { TEXT_CHARS_MAX } from '../text-bounds.ts';
import { responsesOver } from './response-rows.ts';
import type { SentPermit, SentReservation, StateProcedures, WorkerStateProcedures } from './procedures.ts';

type FirstLink = MessageLink<StateProcedures>;

/** A request waits no longer than this for a value, and for a text. */
const VALUE_MS_MAX = 50;
const TEXT_MS_MAX = 100;
const VALUE_CHARS_MAX = 65_536;
/** A request that could not be counted may be tried again after this. */
const RETRY_MS = 1_000;

/** The state of the first process as a worker uses it. */
export interface WorkerState {
  readonly procedures: WorkerStateProcedures;
  /** @param link to the first process, which calls the procedures */
  over(link: FirstLink): SharedState;
}

export function createWorkerState(): WorkerState {
  const loads = new OpenLoads();
  const listeners = new Map<string, ((message: string) => void)[]>();
  return {
    procedures: {
      loadSpent: (asked) => loads.read(asked.loads, asked.subject),
      hear({ topic, message }) {
        for (const listener of listeners.get(topic) ?? []) listener(message);
      },
    },
    over: (link) => ({
      reservations: reservationsOver(link, loads),
      rateLimitState: rateLimitsOver(link),
      invalidations: invalidationsOver(link, listeners),
      values: valuesOver(link),
      positions: positionsOver(link),
      texts: textsOver(link),
      responses: responsesOver(link),
      // Where the first process does not answer, nothing does: it ends, and this one with it.
      ping: () => Promise.resolve(),
      close: () => undefined,
    }),
  };
}

/** How the sums of requests are read that wait for the first process. */
class OpenLoads {
  readonly #open = new Map<number, { readonly loadSpent: LoadSpent; error?: unknown }>();
  #opened = 0;

  /** @throws what `loadSpent` throws, also where that is why the first process failed; otherwise ReservationsBusy */
  async run<Value>(loadSpent: LoadSpent, ask: (loads: number) => Promise<Value>): Promise<Value> {
    const loads = ++this.#opened;
    const own: { readonly loadSpent: LoadSpent; error?: unknown } = { loadSpent };
    this.#open.set(loads, own);
    try {
      return await ask(loads);
    } catch (cause) {
      if ('error' in own) throw own.error;
      throw new ReservationsBusy('The first process could not reserve.', { cause });
    } finally {
      this.#open.delete(loads);
    }
  }

  async read(loads: number, subject: string): Promise<number> {
    const own = this.#open.get(loads);
    if (own === undefined) throw new Error('The request that needed the sum is over.');
    try {
      return await own.loadSpent(subject);
    } catch (error) {
      own.error = error;
      throw error;
    }
  }
}

function reservationsOver(link: FirstLink, loads: OpenLoads): Reservations {
  const resultOf = (sent: SentReservation): ReservationResult => {
    if (!sent.ok) return sent;
    const { reserved, permitted } = sent;
    return {
      ok: true,
      reservedNanoUsd: new Map(reserved),
      ...(permitted !== undefined && { permitted: permitResultOf(link, permitted) }),
    };
  };
  return {
    reserve: async (reservation, loadSpent) =>
      resultOf(await loads.run(loadSpent, (number) => link.call('reserve', { reservation, loads: number }))),
    check: async (allowances, loadSpent) =>
      resultOf(await loads.run(loadSpent, (number) => link.call('check', { allowances, loads: number }))),
    async settle(id, charges) {
      await link.call('settle', { id, charges });
    },
    async release(id) {
      await link.call('release', id);
    },
    async forget(owner) {
      await link.call('forget', owner);
    },
  };
}

function permitResultOf(link: FirstLink, sent: SentPermit): PermitResult {
  if (!sent.ok) return sent;
  return {
    ok: true,
    permit: createPermit((used) =>
      link.call('endPermit', { permit: sent.permit, used: [...used] }).catch(() => undefined),
    ),
  };
}

function rateLimitsOver(link: FirstLink): RateLimitState {
  return {
    async acquire(requested) {
      try {
        return permitResultOf(link, await link.call('acquire', requested));
      } catch {
        return refusalOf(requested);
      }
    },
  };
}

/** What cannot be counted is not admitted. */
function refusalOf({ slots, rates: [rate] }: PermitRequest): PermitResult {
  if (rate === undefined) return { ok: false, by: 'slots', subject: slots?.subjects[0]?.subject ?? '' };
  const { subject, limit } = rate;
  return { ok: false, by: 'rates', subject, limit, remaining: 0, retryAfterMs: RETRY_MS };
}

function invalidationsOver(link: FirstLink, listeners: Map<string, ((message: string) => void)[]>): InvalidationBus {
  return {
    announce: (topic, message) => link.tell('announce', { topic, message }),
    subscribe(topic, listener) {
      listeners.set(topic, [...(listeners.get(topic) ?? []), listener]);
    },
  };
}

function positionsOver(link: FirstLink): JournalPositions {
  return {
    // Before the charge that comes next, and before the end of the response.
    async publish(stream, position) {
      link.tell('publishPosition', { stream, position });
      link.flush();
    },
    withdraw: async (stream) => link.tell('withdrawPosition', stream),
    async read() {
      const { live, silent } = await link.call('readPositions', undefined);
      return { live: new Map(live), silent: new Map(silent) };
    },
  };
}

function valuesOver(link: FirstLink): SharedValues {
  return {
    get: async (key) => (await withTimeout(link.call('getValue', key), VALUE_MS_MAX).catch(() => null)) ?? undefined,
    set(key, value, lifeMs) {
      if (value.length <= VALUE_CHARS_MAX) link.tell('setValue', { name: key, text: value, lifeMs });
    },
  };
}

function textsOver(link: FirstLink): TextCache {
  return {
    get: async (name) => (await withTimeout(link.call('getText', name), TEXT_MS_MAX).catch(() => null)) ?? undefined,
    set(name, text, lifeMs) {
      if (text.length > TEXT_CHARS_MAX) link.tell('deleteText', name);
      else link.tell('setText', { name, text, lifeMs });
    },
    delete: (name) => link.tell('deleteText', name),
  };
}
