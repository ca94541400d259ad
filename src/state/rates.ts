import type { RateLimiterAbstract } from 'rate-limiter-flexible';
import type { Clock } from '../lib/clock.ts';
import type { Permit, Rate } from './contract.ts';

/** One place where uses are counted. */
export interface UseCounter {
  /** @returns everything that was used in the running period, with this; and when the period ends */
  add(subject: string, uses: number, periodMs: number): Promise<{ readonly used: number; readonly endsInMs: number }>;
}

/** A rate, as far as it was taken. */
export interface TakenRate extends Rate {
  readonly endsAtMs: number;
}

/** Nothing is given back so close to the end of a period: it would be taken off the next one. */
const GIVE_BACK_MS_MIN = 100;

/** Who takes more than there is gets all of it. */
export function takeOf({ take, limit }: Rate): number {
  return Math.min(take, limit);
}

/** More than was taken is counted whenever it is known; less is given back to the period that it was taken from. */
export async function correct(counter: UseCounter, taken: TakenRate, used: number, clock: Clock): Promise<void> {
  const { subject, periodMs, endsAtMs } = taken;
  const take = takeOf(taken);
  const isOver = clock.monotonicMs() + GIVE_BACK_MS_MIN > endsAtMs;
  if (used > take || (used < take && !isOver)) await counter.add(subject, used - take, periodMs);
}

/** What was used in truth of all that was taken. Never rejects. */
export async function countUsed(
  counter: UseCounter,
  taken: readonly TakenRate[],
  used: ReadonlyMap<string, number>,
  clock: Clock,
): Promise<void> {
  await Promise.all(
    taken.map(async (one) => {
      const inTruth = used.get(one.subject);
      // What cannot be told is not counted: the period is soon over.
      if (inTruth !== undefined) await correct(counter, one, inTruth, clock).catch(() => undefined);
    }),
  );
}

/** @param end what is to be done when it is over, with what was used in truth. Never rejects */
export function passUntil(end: (used: ReadonlyMap<string, number>) => Promise<void>): Permit {
  let over: Promise<void> | undefined;
  return { end: (used = new Map()) => (over ??= end(used)) };
}

/** Counts by a limiter of the library, whose own limits are not used: each key has another. */
export async function addTo(
  limiter: RateLimiterAbstract,
  subject: string,
  uses: number,
  periodMs: number,
): Promise<{ readonly used: number; readonly endsInMs: number }> {
  const options = { customDuration: secondsOf(periodMs) };
  const counted = uses < 0 ? limiter.reward(subject, -uses, options) : limiter.penalty(subject, uses, options);
  const { consumedPoints, msBeforeNext } = await counted;
  return { used: consumedPoints, endsInMs: msBeforeNext };
}

/** Periods of the library are whole seconds. */
export function secondsOf(periodMs: number): number {
  return Math.max(1, Math.round(periodMs / 1_000));
}
