import type { RateLimiterAbstract } from 'rate-limiter-flexible';
import type { Clock } from '../lib/clock.ts';
import type { Permit, Rate } from './contract.ts';

/** A place where uses are counted. */
export interface UseCounter {
  /** @returns everything that was used in the current period, including this; and when the period ends */
  add(subject: string, uses: number, periodMs: number): Promise<{ readonly used: number; readonly endsInMs: number }>;
}

/** A rate with what was taken of it. */
export interface TakenRate extends Rate {
  readonly endsAtMs: number;
}

/** Nothing is returned so close to the end of a period: it would be taken off the next one. */
const GIVE_BACK_MS_MIN = 100;

/** Limits a take to the limit: a request that takes more gets all of it. */
export function takeOf({ take, limit }: Rate): number {
  return Math.min(take, limit);
}

/**
 * Corrects a count to the actual use: more is counted at any time; less is returned to the period that it was taken
 * from.
 */
export async function correctCount(counter: UseCounter, taken: TakenRate, used: number, clock: Clock): Promise<void> {
  const { subject, periodMs, endsAtMs } = taken;
  const take = takeOf(taken);
  const isOver = clock.monotonicMs() + GIVE_BACK_MS_MIN > endsAtMs;
  if (used > take || (used < take && !isOver)) await counter.add(subject, used - take, periodMs);
}

/** Counts the actual use of everything that was taken. Never rejects. */
export async function countUsed(
  counter: UseCounter,
  taken: readonly TakenRate[],
  used: ReadonlyMap<string, number>,
  clock: Clock,
): Promise<void> {
  await Promise.all(
    taken.map(async (one) => {
      const inTruth = used.get(one.subject);
      // A correction that fails is dropped: the period ends soon.
      if (inTruth !== undefined) await correctCount(counter, one, inTruth, clock).catch(() => undefined);
    }),
  );
}

/** @param end runs once, when the request has ended, with the actual use. Never rejects */
export function createPermit(end: (used: ReadonlyMap<string, number>) => Promise<void>): Permit {
  let over: Promise<void> | undefined;
  return { end: (used = new Map()) => (over ??= end(used)) };
}

/** Counts with a limiter of the library, without the library's own limits: each key has another limit. */
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

/** Converts to whole seconds, the library's unit of periods. */
export function secondsOf(periodMs: number): number {
  return Math.max(1, Math.round(periodMs / 1_000));
}
