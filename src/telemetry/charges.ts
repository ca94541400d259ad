import type { Charges } from '../store/generations.ts';
import type { Flag } from '../store/portable.ts';
import { chargeId } from '../store/settlement.ts';
import type { GenerationRecord } from './record.ts';

const DAY_MS = 86_400_000;

/**
 * What a generation costs those who asked: an entry of the account's ledger, and its part in what each of them spent.
 * Calls on the caller's own credentials owe nothing, and count apart, at list price. An unknown price costs nothing.
 * @source areas.md 0.2 "BYOK spend", 2 "Ledger"
 */
export function chargesOf({ id, createdMs, asker, cost, listNanoUsd }: GenerationRecord): Charges {
  const { accountId, keyHash, memberId, workspaceId } = asker;
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
