import { createHash } from 'node:crypto';
import type { Clock } from '../../lib/clock.ts';
import type { Database } from '../engine/database.ts';
import { storedMediaRows } from './columns.ts';
import type { Sealing, Workspace } from './sealing.ts';

/** Large files of items, each kept once for a workspace: clients send a conversation again with every request. */
export interface MediaStore {
  /** Keeps the files that stand in the text. @returns the text with their names in their place */
  takeOut(responseId: string, text: string, of: Workspace): Promise<string>;
  /** Puts the files back. */
  putBack(text: string, of: Workspace): Promise<string>;
  /** Deletes files that no response has any more. */
  clearAway(limit: number): Promise<void>;
}

/** A data URL in JSON, without its quotes, from this length on. */
const LARGE_URL = /"(data:[^"\\]{65536,})"/g;
const NAME = /"stored-media:([0-9a-f]{64})"/g;
const IN_ONE_QUERY_MAX = 50;
/** A file that nothing uses may be about to be used: its use is written first, and read by another statement. */
const UNUSED_MS_MIN = 600_000;

interface MediaDeps {
  readonly database: Database;
  readonly sealing: Sealing;
  readonly clock: Pick<Clock, 'nowMs'>;
}

export function createMediaStore(deps: MediaDeps): MediaStore {
  const { kysely } = deps.database;
  return {
    async takeOut(responseId, text, { accountId, workspaceId }) {
      const found = new Map<string, string>();
      const named = text.replaceAll(LARGE_URL, (_match, url: string) => {
        const id = createHash('sha256').update(`${accountId} ${workspaceId} `).update(url).digest('hex');
        found.set(id, url);
        return `"stored-media:${id}"`;
      });
      if (found.size === 0) return text;
      const writtenAtMs = deps.clock.nowMs();
      await kysely
        .insertInto('stored_media_uses')
        .values([...found.keys()].map((id) => ({ response_id: responseId, media_id: id, written_at_ms: writtenAtMs })))
        .onConflict((conflict) => conflict.doNothing())
        .execute();
      for (const [id, url] of found) await keep(deps, id, url, { accountId, workspaceId });
      return named;
    },
    async putBack(text, of) {
      const ids = [...new Set([...text.matchAll(NAME)].flatMap(([, id]) => id ?? []))];
      const urls = new Map<string, string>();
      for (let at = 0; at < ids.length; at += IN_ONE_QUERY_MAX)
        await read(deps, ids.slice(at, at + IN_ONE_QUERY_MAX), of, urls);
      return urls.size === 0
        ? text
        : text.replaceAll(NAME, (name, id: string) => (urls.has(id) ? `"${urls.get(id)}"` : name));
    },
    clearAway: (limit) => clearAway(deps, limit),
  };
}

async function keep(
  { database: { kysely }, sealing, clock }: MediaDeps,
  id: string,
  url: string,
  of: Workspace,
): Promise<void> {
  const usedAtMs = clock.nowMs();
  const { numUpdatedRows } = await kysely
    .updateTable('stored_media')
    .set({ used_at_ms: usedAtMs })
    .where('id', '=', id)
    .executeTakeFirst();
  if (numUpdatedRows > 0n) return;
  const row = { id, ...of, usedAtMs, ...(await sealing.seal(url, of)) };
  await kysely
    .insertInto('stored_media')
    .values(storedMediaRows.toColumns(row))
    .onConflict((conflict) => conflict.column('id').doUpdateSet({ used_at_ms: usedAtMs }))
    .execute();
}

async function read(
  { database: { kysely }, sealing }: MediaDeps,
  ids: readonly string[],
  of: Workspace,
  urls: Map<string, string>,
): Promise<void> {
  const rows = await kysely
    .selectFrom('stored_media')
    .select(['id', 'sealed'])
    .where('id', 'in', ids)
    .where('account_id', '=', of.accountId)
    .where('workspace_id', '=', of.workspaceId)
    .execute();
  for (const { id, sealed } of rows) urls.set(id, await sealing.open(sealed, of));
}

async function clearAway({ database: { kysely }, clock }: MediaDeps, limit: number): Promise<void> {
  const beforeMs = clock.nowMs() - UNUSED_MS_MIN;
  await kysely
    .deleteFrom('stored_media')
    .where('id', 'in', (media) =>
      media
        .selectFrom('stored_media')
        .select('stored_media.id')
        .where('used_at_ms', '<', beforeMs)
        .where((is) =>
          is.not(
            is.exists(
              is
                .selectFrom('stored_media_uses')
                .select('media_id')
                .whereRef('stored_media_uses.media_id', '=', 'stored_media.id'),
            ),
          ),
        )
        .limit(limit),
    )
    // Once more, for what was used while this statement waited.
    .where('used_at_ms', '<', beforeMs)
    .execute();
}
