import type { Charges } from '../store/generations/generations.ts';
import type { Flag } from '../resources/columns.ts';
import { chargeId } from '../store/generations/settlement.ts';
import type { GenerationRecord } from './record.ts';

const DAY_MS = 86_400_000;

/**
 * The charges of a generation: an entry of the account's ledger, and its part in the spending of each subject. BYOK
 * calls owe nothing, and count apart, at list price. An unknown price costs nothing.
 * @spec money-40, money-43
 */
export function chargesOf({ id, createdMs, principal, cost, listNanoUsd }: GenerationRecord): Charges {
  const { accountId, keyHash, memberId, workspaceId } = principal;
  const nanoUsd = cost?.totalNanoUsd ?? 0;
  const day_start_ms = createdMs - (createdMs % DAY_MS);
  const subjects = [`key:${keyHash}`, `workspace:${workspaceId}`, `account:${accountId}`];
  if (memberId !== null) subjects.push(`member:${memberId}`);
  const spent = (is_byok: Flag, nano_usd: number) =>
    subjects.map((subject) => ({ subject, day_start_ms, is_byok, nano_usd }));
  return {
    spend: [...(nanoUsd > 0 ? spent(0, nanoUsd) : []), ...(listNanoUsd === undefined ? [] : spent(1, listNanoUsd))],
    entries: nanoUsd > 0 ? [usageEntry()] : [],
  };

  function usageEntry(): Charges['entries'][number] {
    return {
      id: chargeId(id),
      at_ms: createdMs,
      account_id: accountId,
      kind: 'usage',
      amount_nano_usd: -nanoUsd,
      generation_id: id,
      key_hash: keyHash,
      workspace_id: workspaceId,
      note: null,
      author: null,
    };
  }
}
