import type { Clock } from '../../lib/clock.ts';
import type { Slots, SlotsAsked } from './contract.ts';
import type { RedisStep } from './gathered-steps.ts';
import type { RedisLink } from './redis-link.ts';

/** Slots of this process alone. As many as there are requests under way; those of a subject that has none take nothing. */
export function createMemorySlots({ clock }: { readonly clock: Clock }): Slots {
  const taken = new Map<string, Map<string, number>>();
  const takenNow = (subject: string, nowMs: number): ReadonlyMap<string, number> => {
    const ends = taken.get(subject) ?? new Map<string, number>();
    for (const [id, untilMs] of ends) if (untilMs <= nowMs) ends.delete(id);
    return ends;
  };
  return {
    enter({ id, expiresInMs, subjects }) {
      const nowMs = clock.monotonicMs();
      const full = subjects.find(({ subject, limit }) => {
        const ends = takenNow(subject, nowMs);
        return !ends.has(id) && ends.size >= limit;
      });
      if (full !== undefined) return Promise.resolve(full.subject);
      for (const { subject } of subjects) {
        const ends = taken.get(subject) ?? new Map<string, number>();
        taken.set(subject, ends.set(id, nowMs + expiresInMs));
      }
      return Promise.resolve(undefined);
    },
    leave({ id, subjects }) {
      for (const { subject } of subjects) {
        const ends = taken.get(subject);
        ends?.delete(id);
        if (ends?.size === 0) taken.delete(subject);
      }
      return Promise.resolve();
    },
  };
}

export interface SharedSlotsParts {
  readonly link: RedisLink;
  readonly prefix: string;
  readonly local: Slots;
}

/**
 * Keys: of each subject who is in, by the end. Values: id, life ms, the limit of each. Gives 0, or the number of the first
 * subject that is full, and then takes nothing.
 */
const ENTER: RedisStep = {
  lua: `
local id, lifeMs = ARGV[1], tonumber(ARGV[2])
for i, key in ipairs(KEYS) do
  redis.call('ZREMRANGEBYSCORE', key, '-inf', text(now))
  local isFull = redis.call('ZCARD', key) >= tonumber(ARGV[2 + i])
  if isFull and not redis.call('ZSCORE', key, id) then return i end
end
for _, key in ipairs(KEYS) do
  redis.call('ZADD', key, text(now + lifeMs * 1000), id)
  keep(key, lifeMs)
end
return 0
`,
};

/** The same keys; value: id. */
const LEAVE: RedisStep = {
  lua: `
for _, key in ipairs(KEYS) do redis.call('ZREM', key, ARGV[1]) end
return 1
`,
};

/** Slots that all processes share; of this process alone while Redis is away. */
export function createSharedSlots({ link, prefix, local }: SharedSlotsParts): Slots {
  const keysOf = (subjects: SlotsAsked['subjects']): readonly string[] =>
    subjects.map(({ subject }) => `${prefix}slots:${subject}`);
  return {
    async enter(asked) {
      const { id, expiresInMs, subjects } = asked;
      const values = [id, Math.ceil(expiresInMs), ...subjects.map(({ limit }) => limit)];
      try {
        const full = await link.run(ENTER, keysOf(subjects), values);
        return subjects[Number(full) - 1]?.subject;
      } catch {
        // Who cannot be asked is no reason to refuse; here they are counted as well as it can be.
        return local.enter(asked);
      }
    },
    async leave(asked) {
      await local.leave(asked);
      // One that cannot be told ends by itself.
      await link.run(LEAVE, keysOf(asked.subjects), [asked.id]).catch(() => undefined);
    },
  };
}
