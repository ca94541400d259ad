import type { RateLimiterAbstract } from 'rate-limiter-flexible';
import { assert } from '../../lib/assert.ts';
import { createLruCache, entriesOf } from '../../lib/cache/lru-cache.ts';
import type { Clock } from '../../lib/clock.ts';
import type { RateLimitState, Permit, PermitResult, PermitRequest, Rate, SlotRequest } from '../contract.ts';
import type { RunStep, StepCall } from './step-pipeline.ts';
import { RETURN_SLOTS, permitStep } from './rate-limit-scripts.ts';
import type { LocalRateLimits } from '../memory/rate-limits.ts';
import { addTo, countUsed, createPermit, secondsOf, takeOf, type TakenRate, type UseCounter } from '../rates.ts';
import { RedisAway, type RedisLink } from './link.ts';

export interface RedisRateLimitsDeps {
  readonly link: RedisLink;
  /** The prefix of all keys, with a tag in braces, so that a cluster keeps them in one place. */
  readonly prefix: string;
  readonly clock: Clock;
  /** Counts while Redis is away. */
  readonly local: LocalRateLimits;
}

/** Requests whose slots were returned while Redis was away; slots of further ones expire by themselves. */
const UNREPORTED_MAX = 10_000;

const NO_SLOTS: SlotRequest = { id: '', expiresInMs: 0, subjects: [] };

type ReturnedSlots = Pick<SlotRequest, 'id' | 'subjects'>;

/** Slots and counts that all processes share; those of this process alone while Redis is away. */
export class RedisRateLimits implements RateLimitState {
  readonly #link: RedisLink;
  readonly #prefix: string;
  readonly #clock: Clock;
  readonly #local: LocalRateLimits;
  readonly #unreported = createLruCache<string, ReturnedSlots>(UNREPORTED_MAX);
  readonly #counter: UseCounter;
  #counting: Promise<Counting> | undefined;
  #catchingUp: Promise<void> | undefined;

  constructor({ link, prefix, clock, local }: RedisRateLimitsDeps) {
    this.#link = link;
    this.#prefix = prefix;
    this.#clock = clock;
    this.#local = local;
    this.#counter = {
      add: async (subject, uses, periodMs) => addTo((await this.#load()).limiter, subject, uses, periodMs),
    };
    link.onBack((_client, run) => this.#reportAll(run));
  }

  async acquire(requested: PermitRequest): Promise<PermitResult> {
    try {
      const { step, keys, values } = await this.callFor(requested);
      return this.answerTo(requested, await this.#link.run(step, keys, values));
    } catch (error) {
      this.lost(requested, error);
      // An unreachable Redis is no reason to refuse: this process counts as well as it can.
      return this.#local.acquire(requested);
    }
  }

  /** Builds the call to Redis; `answerTo` decodes its reply. */
  async callFor({ slots: { id, expiresInMs, subjects } = NO_SLOTS, rates }: PermitRequest): Promise<StepCall> {
    const { limiter, step } = await this.#load();
    const keys = [...this.#keysOf(subjects), ...rates.map(({ subject }) => limiter.getKey(subject))];
    const limits = subjects.map(({ limit }) => limit);
    const ofRates = rates.flatMap((rate) => [rate.limit, takeOf(rate), secondsOf(rate.periodMs)]);
    return { step, keys, values: [id, Math.ceil(expiresInMs), subjects.length, ...limits, ...ofRates] };
  }

  answerTo({ slots = NO_SLOTS, rates }: PermitRequest, reply: unknown): PermitResult {
    assert(Array.isArray(reply), 'the script gives a list');
    const [outcome, ...rest] = reply.map(Number);
    if (outcome === 1) return { ok: true, permit: this.#permitOf(slots, rates, rest) };
    const [number = 0, used = 0, retryAfterMs = 0] = rest;
    const full = slots.subjects[number - 1];
    if (full !== undefined) return { ok: false, by: 'slots', subject: full.subject };
    const rate = rates[number - slots.subjects.length - 1];
    assert(rate !== undefined, 'the script numbers what it was given');
    const { subject, limit } = rate;
    const remaining = Math.max(0, limit - used + takeOf(rate));
    return { ok: false, by: 'rates', subject, limit, remaining, retryAfterMs };
  }

  /** Handles a call that Redis may have run without an answer: its slots are returned when Redis is back. */
  lost({ slots = NO_SLOTS }: PermitRequest, error: unknown): void {
    if (error instanceof RedisAway && error.mayBeDone) this.#reportLater(slots);
  }

  #permitOf(slots: SlotRequest, rates: readonly Rate[], endsInMs: readonly number[]): Permit {
    const nowMs = this.#clock.monotonicMs();
    const taken = rates.map((rate, at): TakenRate => ({ ...rate, endsAtMs: nowMs + (endsInMs[at] ?? 0) }));
    // Slots that an earlier call of the same request may have taken are in use now.
    this.#unreported.delete(slots.id);
    this.#local.adopt(slots);
    return createPermit(async (used) => {
      this.#local.leave(slots);
      // In one turn of the event loop, so that it is one call.
      await Promise.all([this.#returnSlots(slots), countUsed(this.#counter, taken, used, this.#clock)]);
    });
  }

  async #returnSlots(left: ReturnedSlots): Promise<void> {
    if (left.subjects.length === 0) return;
    try {
      await this.#report(left, this.#link.run);
    } catch {
      this.#reportLater(left);
      return;
    }
    // Returns what was queued between the last step of the catch-up and the first command.
    if (this.#unreported.size > 0) await this.#catchUp().catch(() => undefined);
  }

  /** Catches up; requests that end in one turn share one run. */
  #catchUp(): Promise<void> {
    return (this.#catchingUp ??= this.#reportAll(this.#link.run).finally(() => (this.#catchingUp = undefined)));
  }

  #reportLater(left: ReturnedSlots): void {
    if (left.subjects.length > 0) this.#unreported.set(left.id, left);
  }

  async #reportAll(run: RunStep): Promise<void> {
    const returned = entriesOf(this.#unreported).map(([, left]) => left);
    await Promise.all(returned.map((left) => this.#report(left, run)));
    for (const left of returned) if (this.#unreported.peek(left.id) === left) this.#unreported.delete(left.id);
  }

  async #report({ id, subjects }: ReturnedSlots, run: RunStep): Promise<void> {
    await run(RETURN_SLOTS, this.#keysOf(subjects), [id]);
  }

  #keysOf(subjects: SlotRequest['subjects']): readonly string[] {
    return subjects.map(({ subject }) => `${this.#prefix}slots:${subject}`);
  }

  #load(): Promise<Counting> {
    return (this.#counting ??= loadCounting(this.#link, `${this.#prefix}rate`));
  }
}

interface Counting {
  readonly limiter: RateLimiterAbstract;
  /** Takes slots, and counts with the limiter's script. */
  readonly step: StepCall['step'];
}

/**
 * Loads the library's script: of a client, the library defines one command and calls it. Its calls join those of
 * others.
 */
async function loadCounting({ run }: RedisLink, keyPrefix: string): Promise<Counting> {
  const { RateLimiterRedis } = await import('rate-limiter-flexible');
  const counted = { lua: '' };
  const storeClient = {
    defineCommand: (_name: string, { lua }: { readonly lua: string }): void => void (counted.lua = lua),
    async rlflxIncr([key = '', ...values]: readonly string[]): Promise<readonly number[]> {
      const answer = await run(counted, [key], values);
      assert(Array.isArray(answer), 'the script of the library gives a list');
      // The library adds the numbers up as they are.
      return answer.map(Number);
    },
  };
  const limiter = new RateLimiterRedis({ storeClient, keyPrefix, points: Number.MAX_SAFE_INTEGER, duration: 60 });
  assert(counted.lua !== '', 'the library defines what it calls');
  return { limiter, step: permitStep(counted.lua) };
}
