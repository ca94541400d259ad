import type { Transaction } from 'kysely';
import type { Tables } from '../tables.ts';

const REASON = 'Its creator was disabled or removed. Enable the creator and its keys, and provision it again.';

/** Agents stop with the user that made them: their runs pause before the next step. */
export async function suspendInternsOf(transaction: Transaction<Tables>, userId: string, atMs: number): Promise<void> {
  await transaction
    .updateTable('interns')
    .set({ status: 'stopped', step: null, failure: REASON, updated_at_ms: atMs })
    .where('creator_id', '=', userId)
    .where('status', 'in', ['queued', 'provisioning', 'running', 'failed'])
    .execute();
}
