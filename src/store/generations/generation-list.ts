import type { Database } from '../engine/database.ts';
import { generationRows, type GenerationRow } from './columns.ts';

/** Selects generations. An absent member does not restrict. */
export interface GenerationFilter {
  /** Unix ms. Older ones are left out. */
  readonly sinceMs: number;
  readonly limit: number;
  readonly keyHash?: string;
  readonly workspaceId?: string;
  readonly model?: string;
  readonly provider?: string;
  readonly sessionId?: string;
  /** The hash that identifies the end user. */
  readonly endUserHash?: string;
  /** Only those that were answered with a status of 400 or more. */
  readonly failed?: boolean;
}

const COLUMNS = {
  keyHash: 'key_hash',
  workspaceId: 'workspace_id',
  model: 'model',
  provider: 'provider',
  sessionId: 'session_id',
  endUserHash: 'end_user_hash',
} as const;

/** Lists the newest first. */
export async function listGenerations(
  { reports }: Pick<Database, 'reports'>,
  { sinceMs, limit, failed, ...wanted }: GenerationFilter,
): Promise<readonly GenerationRow[]> {
  let query = reports.selectFrom('generations').selectAll().where('created_at_ms', '>=', sinceMs);
  for (const member of ['keyHash', 'workspaceId', 'model', 'provider', 'sessionId', 'endUserHash'] as const) {
    const value = wanted[member];
    if (value !== undefined) query = query.where(COLUMNS[member], '=', value);
  }
  if (failed === true) query = query.where('status', '>=', 400);
  const rows = await query.orderBy('created_at_ms', 'desc').orderBy('id', 'desc').limit(limit).execute();
  return rows.map(generationRows.toRow);
}
