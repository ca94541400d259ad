import type { VaultSecretRow } from '../store/vault/columns.ts';

/**
 * Whether a value is older than the operator wants. Nothing here knows when one changed that a back end outside has.
 * @param maxAgeMs absent: none is
 */
export function isStale(
  { external, updatedAtMs }: Pick<VaultSecretRow, 'external' | 'updatedAtMs'>,
  maxAgeMs: number | undefined,
  nowMs: number,
): boolean {
  return maxAgeMs !== undefined && external === null && nowMs - updatedAtMs > maxAgeMs;
}
