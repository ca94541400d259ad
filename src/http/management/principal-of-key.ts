import type { AdmitKey } from '../../accounts/keys/authenticate.ts';
import type { Principal } from '../../accounts/principal.ts';
import { GatewayError, invalid } from '../../canonical/gateway-error.ts';

/**
 * Finds whose view an operator takes.
 * @param path of the hash in the request
 * @throws GatewayError 400 for the hash of no normal key, or of one that may not be used
 */
export async function principalOfKey(admitKey: AdmitKey, keyHash: string, path: string): Promise<Principal> {
  try {
    const principal = await admitKey(keyHash);
    if (principal.kind === 'normal') return principal;
  } catch (error) {
    if (!(error instanceof GatewayError && error.type === 'authentication')) throw error;
  }
  throw invalid(
    path,
    'is the hash of no API key that may be used: it is unknown, disabled, expired or a management key',
  );
}
