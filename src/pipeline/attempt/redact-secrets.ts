import type { UpstreamFailure } from '../../canonical/failure/failure.ts';
import { redactValues } from '../../lib/text/redact-values.ts';
import type { ProviderSettings } from '../../providers/contract.ts';
import { redactIdentities } from './redact-identities.ts';

/**
 * A failure that does not say back what the gateway sent to identify itself. Hosts echo it ("Incorrect API key provided:
 * ..."), and only the value itself tells a key that has no well-known beginning. Nor does it name the operator's accounts.
 */
export function redactSecrets(failure: UpstreamFailure, settings: ProviderSettings): UpstreamFailure {
  const { upstreamMessage, providerCode } = failure;
  if (upstreamMessage === undefined && providerCode === undefined) return failure;
  return {
    ...failure,
    ...(upstreamMessage !== undefined && { upstreamMessage: redact(upstreamMessage, settings) }),
    ...(providerCode !== undefined && { providerCode: redact(providerCode, settings) }),
  };
}

function redact(text: string, { apiKey, secrets = [], headers }: ProviderSettings): string {
  return redactValues(redactIdentities(text), [apiKey ?? '', ...secrets, ...Object.values(headers)]);
}
