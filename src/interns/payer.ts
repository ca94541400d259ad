import type { Principal } from '../accounts/principal.ts';
import { GatewayError } from '../canonical/gateway-error.ts';
import type { InternRow } from '../store/interns/columns.ts';
import type { RunnerDeps } from './runner-deps.ts';

/** How a run ends whose key was deleted or disabled, or has expired. */
export const PAYER_GONE = { state: 'failed', error: 'payer_gone', ending: null } as const;

/** The key that pays for the runs of an agent. `undefined`: it is gone. */
export async function payerOf(
  { admitKey }: Pick<RunnerDeps, 'admitKey'>,
  { keyHash }: Pick<InternRow, 'keyHash'>,
): Promise<Principal | undefined> {
  try {
    return await admitKey(keyHash);
  } catch (error) {
    if (error instanceof GatewayError && error.status === 401) return undefined;
    throw error;
  }
}
