import type { Database } from '../engine/database.ts';
import { generationRows, type GenerationRow } from './columns.ts';

/** Which generations. What is absent does not matter. */
export interface GenerationFilter {
  /** Unix ms. Older ones are not looked at. */
  readonly sinceMs: number;
  readonly limit: number;
  readonly keyHash?: string;
  readonly workspaceId?: string;
  readonly model?: string;
  readonly provider?: string;
  readonly sessionId?: string;
  /** The hash under which the end user is known. */
  readonly endUserHash?: string;
  /** Those alone that were answered with a status of 400 or more. */
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

/** Newest first. */
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
