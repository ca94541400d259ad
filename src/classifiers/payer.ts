import type { AdmitKey } from '../accounts/keys/authenticate.ts';
import type { Principal } from '../accounts/principal.ts';
import { GatewayError } from '../canonical/gateway-error.ts';
import type { ClassifierRow } from '../resources/classifiers.ts';

/** `undefined`: the key is gone, or is not of the classifier's workspace any more. */
export async function payerOf(
  admitKey: AdmitKey,
  { payerKeyHash, workspaceId }: Pick<ClassifierRow, 'payerKeyHash' | 'workspaceId'>,
): Promise<Principal | undefined> {
  try {
    const principal = await admitKey(payerKeyHash);
    return principal.kind === 'normal' && principal.workspaceId === workspaceId ? principal : undefined;
  } catch (error) {
    if (error instanceof GatewayError && error.status === 401) return undefined;
    throw error;
  }
}
