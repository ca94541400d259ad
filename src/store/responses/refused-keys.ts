import type { Clock } from '../../lib/clock.ts';
import type { Database } from '../engine/database.ts';

/** Those of some keys that are refused by now: disabled, expired or deleted. Keys of the environment never are. */
export type FindRefusedKeys = (hashes: readonly string[]) => Promise<ReadonlySet<string>>;

/** @param clock for the end of keys that expire */
export function createFindRefusedKeys(
  { kysely }: Pick<Database, 'kysely'>,
  clock: Pick<Clock, 'nowMs'>,
): FindRefusedKeys {
  return async (hashes) => {
    if (hashes.length === 0) return new Set();
    const rows = await kysely
      .selectFrom('keys')
      .select('hash')
      .where('hash', 'in', hashes)
      .where((is) =>
        is.or([is('disabled', '=', 1), is('deleted_at_ms', 'is not', null), is('expires_at_ms', '<=', clock.nowMs())]),
      )
      .execute();
    return new Set(rows.map(({ hash }) => hash));
  };
}
