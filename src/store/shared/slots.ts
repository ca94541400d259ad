import type { Clock } from '../../lib/clock.ts';
import type { Slots } from './contract.ts';
import { redisScript } from './redis-script.ts';
import type { RedisLink } from './redis-link.ts';

/** Slots of this process alone. As many as there are requests under way; those of a subject that has none take nothing. */
export function createMemorySlots({ clock }: { readonly clock: Clock }): Slots {
  const subjects = new Map<string, Map<string, number>>();
  return {
    enter({ subject, limit, id, expiresInMs }) {
      const nowMs = clock.monotonicMs();
      const taken = subjects.get(subject) ?? new Map<string, number>();
      for (const [other, untilMs] of taken) if (untilMs <= nowMs) taken.delete(other);
      const isFree = taken.has(id) || taken.size < limit;
      if (isFree) taken.set(id, nowMs + expiresInMs);
      if (taken.size > 0) subjects.set(subject, taken);
      return Promise.resolve(isFree);
    },
    leave({ subject, id }) {
      const taken = subjects.get(subject);
      taken?.delete(id);
      if (taken?.size === 0) subjects.delete(subject);
      return Promise.resolve();
    },
  };
}

export interface SharedSlotsParts {
  readonly link: RedisLink;
  readonly prefix: string;
  readonly local: Slots;
}

/** Key: who is in, by the end. Values: id, limit, life ms. Times are microseconds by the clock of Redis. */
const ENTER = redisScript(`
local time = redis.call('TIME')
local now = tonumber(time[1]) * 1000000 + tonumber(time[2])
redis.call('ZREMRANGEBYSCORE', KEYS[1], '-inf', string.format('%.0f', now))
local isIn = redis.call('ZSCORE', KEYS[1], ARGV[1])
if not isIn and redis.call('ZCARD', KEYS[1]) >= tonumber(ARGV[2]) then return 0 end
redis.call('ZADD', KEYS[1], string.format('%.0f', now + tonumber(ARGV[3]) * 1000), ARGV[1])
if redis.call('PTTL', KEYS[1]) < tonumber(ARGV[3]) then redis.call('PEXPIRE', KEYS[1], ARGV[3]) end
return 1
`);

/** Slots that all processes share; of this process alone while Redis is away. */
export function createSharedSlots({ link, prefix, local }: SharedSlotsParts): Slots {
  const keyOf = (subject: string): string => `${prefix}slots:${subject}`;
  return {
    enter: (slot) =>
      link
        .call((client) => ENTER(client, [keyOf(slot.subject)], [slot.id, slot.limit, Math.ceil(slot.expiresInMs)]))
        .then(
          (entered) => entered === 1,
          () => local.enter(slot),
        ),
    async leave(slot) {
      await local.leave(slot);
      // One that cannot be told ends by itself.
      await link.call((client) => client.zrem(keyOf(slot.subject), slot.id)).catch(() => undefined);
    },
  };
}
