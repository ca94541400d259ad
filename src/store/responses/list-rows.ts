import type { KeptResponse, ResponseListing } from '../../state/contract.ts';
import type { Database } from '../engine/database.ts';
import { numberOf, storableText } from '../portable.ts';

/** What of the responses of a workspace is not sealed, the newest first. */
export async function listRows(
  { reports }: Pick<Database, 'reports'>,
  { accountId, workspaceId, keyHashes, limit, after }: ResponseListing,
  nowMs: number,
): Promise<readonly KeptResponse[]> {
  if (keyHashes?.length === 0) return [];
  let query = reports
    .selectFrom('stored_responses as kept')
    .leftJoin('background_responses as task', 'task.id', 'kept.id')
    .select(['kept.id', 'kept.key_hash', 'kept.status', 'kept.parent_id', 'kept.created_at_ms'])
    .select(['kept.size_bytes', 'kept.expires_at_ms', 'task.runs', 'task.state'])
    .where('kept.account_id', '=', accountId)
    .where('kept.workspace_id', '=', workspaceId)
    .where((is) => is.or([is('kept.expires_at_ms', 'is', null), is('kept.expires_at_ms', '>', nowMs)]));
  if (keyHashes !== undefined) query = query.where('kept.key_hash', 'in', keyHashes.map(storableText));
  if (after !== undefined)
    query = query.where((is) =>
      is.or([
        is('kept.created_at_ms', '<', after.createdAtMs),
        is.and([is('kept.created_at_ms', '=', after.createdAtMs), is('kept.id', '<', storableText(after.id))]),
      ]),
    );
  const rows = await query.orderBy('kept.created_at_ms', 'desc').orderBy('kept.id', 'desc').limit(limit).execute();
  return rows.map((row) => ({
    id: row.id,
    owner: { accountId, workspaceId, keyHash: row.key_hash },
    // The row itself is written when it is accepted, and when it has ended.
    status: row.status === 'queued' && row.state === 'running' ? 'in_progress' : row.status,
    parentId: row.parent_id,
    createdAtMs: numberOf(row.created_at_ms),
    bytes: numberOf(row.size_bytes),
    expiresAtMs: row.expires_at_ms === null ? null : numberOf(row.expires_at_ms),
    runs: row.runs === null ? null : numberOf(row.runs),
  }));
}
