import type { RateLimiterAbstract } from 'rate-limiter-flexible';
import type { Clock } from '../../lib/clock.ts';
import type { Rate, RateAnswer, Rates, RateTicket } from './contract.ts';

/** One place where uses are counted. */
export interface UseCounter {
  /** @returns everything that was used in the running period, with this; and when the period ends */
  add(subject: string, uses: number, periodMs: number): Promise<{ readonly used: number; readonly endsInMs: number }>;
}

export interface RatesParts {
  readonly clock: Clock;
  readonly local: UseCounter;
  /** Where all processes count; `undefined`: it is away. */
  readonly shared?: () => UseCounter | undefined;
}

/** Nothing is given back so close to the end of a period: it would be taken off the next one. */
const GIVE_BACK_MS_MIN = 100;

interface Taken extends Rate {
  readonly endsAtMs: number;
}

export function createRates({ clock, local, shared = () => undefined }: RatesParts): Rates {
  return {
    async take(rates) {
      const counter = shared();
      if (counter !== undefined)
        try {
          return await takeFrom(counter, rates, clock);
        } catch {
          // Who cannot be asked is no reason to refuse; here it is counted as well as it can be.
        }
      return takeFrom(local, rates, clock);
    },
  };
}

async function takeFrom(counter: UseCounter, rates: readonly Rate[], clock: Clock): Promise<RateAnswer> {
  const taken = new Map<string, Taken>();
  // One owner after the other: a flood that its own limit refuses must not eat, not even for a moment, what it shares.
  for (const ofOwner of Map.groupBy(rates, ({ owner }) => owner).values()) {
    const answers = await Promise.all(ofOwner.map((asked) => takeOne(counter, asked, clock)));
    for (const { one } of answers) taken.set(one.subject, one);
    const refused = answers.find(({ used, one: { limit } }) => used > limit || limit <= 0);
    if (refused === undefined) continue;
    await Promise.all([...taken.values()].map((one) => correct(counter, one, 0, clock)));
    const { used, endsInMs, one } = refused;
    const remaining = Math.max(0, one.limit - used + one.take);
    return { ok: false, subject: one.subject, limit: one.limit, remaining, retryAfterMs: endsInMs };
  }
  return { ok: true, ticket: ticketOf(counter, taken, clock) };
}

async function takeOne(counter: UseCounter, asked: Rate, clock: Clock) {
  const take = Math.min(asked.take, asked.limit);
  const { used, endsInMs } = await counter.add(asked.subject, take, asked.periodMs);
  const one: Taken = { ...asked, take, endsAtMs: clock.monotonicMs() + endsInMs };
  return { one, used, endsInMs };
}

function ticketOf(counter: UseCounter, taken: Map<string, Taken>, clock: Clock): RateTicket {
  return {
    async count(subject, used) {
      const one = taken.get(subject);
      if (one === undefined) return;
      taken.delete(subject);
      // What cannot be told is not counted: the period is soon over.
      await correct(counter, one, used, clock).catch(() => undefined);
    },
  };
}

/** More than was taken is counted whenever it is known; less is given back to the period that it was taken from. */
async function correct(counter: UseCounter, taken: Taken, used: number, clock: Clock): Promise<void> {
  const { subject, take, periodMs, endsAtMs } = taken;
  const isOver = clock.monotonicMs() + GIVE_BACK_MS_MIN > endsAtMs;
  if (used > take || (used < take && !isOver)) await counter.add(subject, used - take, periodMs);
}

/** Counts by a limiter of the library, whose own limits are not used: each key has another. */
export async function addTo(
  limiter: RateLimiterAbstract,
  subject: string,
  uses: number,
  periodMs: number,
): Promise<{ readonly used: number; readonly endsInMs: number }> {
  const options = { customDuration: Math.max(1, Math.round(periodMs / 1_000)) };
  const counted = uses < 0 ? limiter.reward(subject, -uses, options) : limiter.penalty(subject, uses, options);
  const { consumedPoints, msBeforeNext } = await counted;
  return { used: consumedPoints, endsInMs: msBeforeNext };
}

/** Counts of this process alone; each is gone when its period is over. */
export function createLocalCounter(): UseCounter {
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
