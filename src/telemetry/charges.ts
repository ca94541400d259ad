import type { Charges } from '../store/generations.ts';
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
  const subjects = [`key:${keyHash}`, `workspace:${workspaceId}`, `account:${accountId}`];
  if (memberId !== null) subjects.push(`member:${memberId}`);
  const day_start_ms = createdMs - (createdMs % DAY_MS);
  const own = subjects.map((subject) => ({ subject, day_start_ms, is_byok: 0, nano_usd: nanoUsd }) as const);
  const byok = subjects.map((subject) => ({ subject, day_start_ms, is_byok: 1, nano_usd: listNanoUsd ?? 0 }) as const);
  return {
    spend: [...(nanoUsd > 0 ? own : []), ...(listNanoUsd === undefined ? [] : byok)],
    entries: nanoUsd > 0 ? [usageEntry()] : [],
  };

  function usageEntry(): Charges['entries'][number] {
    return {
      id: `${id}:usage`,
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
