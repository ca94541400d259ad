import type { RateLimiterAbstract } from 'rate-limiter-flexible';
import type { Clock } from '../../lib/clock.ts';
import type { RateLimitState, PermitResult, Rate, RateRefusal, SlotRequest } from '../contract.ts';
import { addTo, correctCount, countUsed, createPermit, takeOf, type TakenRate, type UseCounter } from '../rates.ts';

/** Rate limits of one process, which may also count slots that this process has elsewhere. */
export interface LocalRateLimits extends RateLimitState {
  /** Counts slots that were taken elsewhere, until they are returned. */
  adopt(slots: SlotRequest): void;
  leave(slots: Pick<SlotRequest, 'id' | 'subjects'>): void;
}

/** Keeps the slots and counts of this process alone: those of running requests, and of periods that have not ended. */
export function createMemoryRateLimits({ clock }: { readonly clock: Clock }): LocalRateLimits {
  const slots = new MemorySlots(clock);
  const counter = createLocalCounter();
  return {
    async acquire({ slots: requested, rates }): Promise<PermitResult> {
      const full = requested && slots.enter(requested);
      if (full !== undefined) return { ok: false, by: 'slots', subject: full };
      const taken = await takeAll(counter, rates, clock);
      const leave = (): void => {
        if (requested !== undefined) slots.leave(requested);
      };
      if ('ok' in taken) {
        leave();
        return taken;
      }
      const permit = createPermit((used) => {
        leave();
        return countUsed(counter, taken, used, clock);
      });
      return { ok: true, permit };
    },
    adopt: (requested) => slots.take(requested),
    leave: (requested) => slots.leave(requested),
  };
}

/** The holders of slots, each with its latest end. */
interface Taken {
  readonly ends: Map<string, number>;
  /** No slot expires earlier: thousands of slots are not searched on each request. */
  earliestMs: number;
}

class MemorySlots {
  readonly #clock: Clock;
  readonly #taken = new Map<string, Taken>();

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** Takes slots. Returns the first subject that is full; then nothing is taken. */
  enter(requested: SlotRequest): string | undefined {
    const nowMs = this.#clock.monotonicMs();
    const full = requested.subjects.find(({ subject, limit }) => {
      const { ends } = this.#takenNow(subject, nowMs);
      return !ends.has(requested.id) && ends.size >= limit;
    });
    if (full === undefined) this.take(requested);
    return full?.subject;
  }

  take({ id, expiresInMs, subjects }: SlotRequest): void {
    const nowMs = this.#clock.monotonicMs();
    for (const { subject } of subjects) {
      const taken = this.#takenNow(subject, nowMs);
      taken.ends.set(id, nowMs + expiresInMs);
      taken.earliestMs = Math.min(taken.earliestMs, nowMs + expiresInMs);
      this.#taken.set(subject, taken);
    }
  }

  leave({ id, subjects }: Pick<SlotRequest, 'id' | 'subjects'>): void {
    for (const { subject } of subjects) {
      const ends = this.#taken.get(subject)?.ends;
      ends?.delete(id);
      if (ends?.size === 0) this.#taken.delete(subject);
    }
  }

  #takenNow(subject: string, nowMs: number): Taken {
    const taken = this.#taken.get(subject) ?? { ends: new Map<string, number>(), earliestMs: Infinity };
    if (nowMs < taken.earliestMs) return taken;
    for (const [id, untilMs] of taken.ends) if (untilMs <= nowMs) taken.ends.delete(id);
    taken.earliestMs = Math.min(...taken.ends.values());
    return taken;
  }
}

/** Takes all rates or none. */
async function takeAll(
  counter: UseCounter,
  rates: readonly Rate[],
  clock: Clock,
): Promise<readonly TakenRate[] | RateRefusal> {
  const taken: TakenRate[] = [];
  // One owner after the other: a flood that its own limit refuses must not use up what it shares, not even for a
  // moment.
  for (const ofOwner of Map.groupBy(rates, ({ owner }) => owner).values()) {
    const answers = await Promise.all(ofOwner.map((requested) => takeOne(counter, requested, clock)));
    taken.push(...answers.map(({ one }) => one));
    const refused = answers.find(({ used, one: { limit } }) => used > limit || limit <= 0);
    if (refused === undefined) continue;
    await Promise.all(taken.map((one) => correctCount(counter, one, 0, clock)));
    const { used, endsInMs, one } = refused;
    const remaining = Math.max(0, one.limit - used + takeOf(one));
    return { ok: false, by: 'rates', subject: one.subject, limit: one.limit, remaining, retryAfterMs: endsInMs };
  }
  return taken;
}

async function takeOne(counter: UseCounter, requested: Rate, clock: Clock) {
  const { used, endsInMs } = await counter.add(requested.subject, takeOf(requested), requested.periodMs);
  const one: TakenRate = { ...requested, endsAtMs: clock.monotonicMs() + endsInMs };
  return { one, used, endsInMs };
}

/** Makes a counter whose counts disappear when their period ends. */
function createLocalCounter(): UseCounter {
  let limiter: Promise<RateLimiterAbstract> | undefined;
  const load = async (): Promise<RateLimiterAbstract> => {
    const { RateLimiterMemory } = await import('rate-limiter-flexible');
    return new RateLimiterMemory({ points: Number.MAX_SAFE_INTEGER, duration: 60 });
  };
  return {
    async add(subject, uses, periodMs) {
      limiter ??= load();
      return addTo(await limiter, subject, uses, periodMs);
    },
  };
}
