import { sql } from 'kysely';
import type { Clock } from '../../lib/clock.ts';
import type { ResponseOwner } from '../../state/contract.ts';
import type { Database } from '../engine/database.ts';
import { numberOf } from '../portable.ts';
import type { MediaStore } from './media.ts';

/** Deletes rows with all that belongs to them. */
export interface Clearing {
  remove(ids: readonly string[]): Promise<void>;
  removeOf(owner: ResponseOwner): Promise<void>;
  /** Deletes what has expired, what is over the quota of a key, and what is left of broken writes. `true`: there is more. */
  clearAway(): Promise<boolean>;
}

export interface ClearingDeps {
  readonly database: Database;
  readonly clock: Clock;
  readonly media: Pick<MediaStore, 'clearAway'>;
  readonly bytesMaxPerKey: number;
  /** Of the events of a background response, since its end. */
  readonly eventsMs: number;
}

const CLEAR_AT_ONCE_MAX = 500;
/** What belongs to no row may be of one that is being written. */
const LEFTOVERS_EVERY_MS = 600_000;

export function createClearing({ database, clock, media, bytesMaxPerKey, eventsMs }: ClearingDeps): Clearing {
  const { kysely } = database;
  let leftoversMs = -Infinity;

  /** The row itself first: from then on it is unknown. */
  async function remove(ids: readonly string[]): Promise<void> {
    if (ids.length === 0) return;
    await kysely.deleteFrom('stored_responses').where('id', 'in', ids).execute();
    await removeRuns(ids);
    await Promise.all([
      kysely.deleteFrom('stored_items').where('response_id', 'in', ids).execute(),
      kysely.deleteFrom('stored_media_uses').where('response_id', 'in', ids).execute(),
    ]);
  }

  /** Without its run a background response is stopped where it runs. */
  async function removeRuns(ids: readonly string[]): Promise<void> {
    if (ids.length === 0) return;
    await kysely.deleteFrom('background_responses').where('id', 'in', ids).execute();
    await kysely.deleteFrom('response_events').where('response_id', 'in', ids).execute();
  }

  async function clearEvents(): Promise<boolean> {
    const ended = await kysely
      .selectFrom('background_responses')
      .select('id')
      .where('ended_at_ms', '<=', clock.nowMs() - eventsMs)
      .limit(CLEAR_AT_ONCE_MAX)
      .execute();
    await removeRuns(ended.map(({ id }) => id));
    return ended.length === CLEAR_AT_ONCE_MAX;
  }

  /** Each step is bounded. */
  async function clearLeftovers(): Promise<void> {
    if (clock.monotonicMs() - leftoversMs < LEFTOVERS_EVERY_MS) return;
    leftoversMs = clock.monotonicMs();
    await removeLeftovers(database, clock.nowMs() - LEFTOVERS_EVERY_MS);
    await media.clearAway(CLEAR_AT_ONCE_MAX);
  }

  return {
    remove,
    async removeOf(owner) {
      for (let hasMore = true; hasMore;) {
        const rows = await oldestOf(database, owner);
        await remove(rows.map(({ id }) => id));
        hasMore = rows.length > 0;
      }
    },
    async clearAway() {
      const expired = await kysely
        .selectFrom('stored_responses')
        .select('id')
        .where('expires_at_ms', '<=', clock.nowMs())
        .limit(CLEAR_AT_ONCE_MAX)
        .execute();
      await remove(expired.map(({ id }) => id));
      let hasMore = (await clearEvents()) || expired.length === CLEAR_AT_ONCE_MAX;
      for (const { owner, bytes } of await readOwners(database)) {
        if (bytes <= bytesMaxPerKey) continue;
        const over = firstOf(await oldestOf(database, owner), bytes - bytesMaxPerKey);
        await remove(over);
        hasMore ||= over.length === CLEAR_AT_ONCE_MAX;
      }
      await clearLeftovers();
      return hasMore;
    },
  };
}

interface OwnerBytes {
  readonly owner: ResponseOwner;
  readonly bytes: number;
}

export async function readOwners({ reports }: Database): Promise<readonly OwnerBytes[]> {
  const rows = await reports
    .selectFrom('stored_responses')
    .select(['account_id', 'workspace_id', 'key_hash', ({ fn }) => fn.sum('size_bytes').as('bytes')])
    .groupBy(['account_id', 'workspace_id', 'key_hash'])
    .execute();
  return rows.map((row) => ({
    owner: { accountId: row.account_id, workspaceId: row.workspace_id, keyHash: row.key_hash },
    bytes: numberOf(row.bytes),
  }));
}

interface RowSize {
  readonly id: string;
  readonly bytes: number;
}

async function oldestOf({ reports }: Database, owner: ResponseOwner): Promise<readonly RowSize[]> {
  const rows = await reports
    .selectFrom('stored_responses')
    .select(['id', 'size_bytes'])
    .where('account_id', '=', owner.accountId)
    .where('workspace_id', '=', owner.workspaceId)
    .where('key_hash', '=', owner.keyHash)
    .orderBy('created_at_ms')
    .limit(CLEAR_AT_ONCE_MAX)
    .execute();
  return rows.map(({ id, size_bytes: bytes }) => ({ id, bytes: numberOf(bytes) }));
}

/** As many as take so many bytes. */
function firstOf(rows: readonly RowSize[], bytes: number): readonly string[] {
  let left = bytes;
  return rows.flatMap((row) => {
    if (left <= 0) return [];
    left -= row.bytes;
    return [row.id];
  });
}

/** Of rows that a process did not finish writing or deleting. */
async function removeLeftovers({ kysely }: Database, beforeMs: number): Promise<void> {
  for (const table of ['stored_items', 'stored_media_uses', 'response_events'].map((name) => sql.table(name)))
    await sql`
      delete from ${table} where written_at_ms < ${beforeMs} and not exists (
        select 1 from stored_responses where stored_responses.id = ${table}.response_id
      )`.execute(kysely);
}
