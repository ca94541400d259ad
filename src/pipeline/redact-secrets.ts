import type { UpstreamFailure } from '../canonical/failure.ts';
import { CENSOR } from '../lib/censor-secrets.ts';
import type { ProviderSettings } from '../providers/contract.ts';
import { censorIdentities } from './censor-identities.ts';

/** Shorter than any credential; a header like `x-mode: fast` is none. */
const SECRET_CHARS_MIN = 8;

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
  let clean = censorIdentities(text);
  for (const secret of [apiKey ?? '', ...secrets, ...Object.values(headers)]) {
    if (secret.length < SECRET_CHARS_MIN) continue;
    clean = clean.replaceAll(secret, CENSOR);
    // The text has been cut to its bound: its end may be the beginning of the secret.
    for (let chars = secret.length - 1; chars >= SECRET_CHARS_MIN; chars--)
      if (clean.endsWith(secret.slice(0, chars))) clean = clean.slice(0, -chars) + CENSOR;
  }
  return clean;
}
