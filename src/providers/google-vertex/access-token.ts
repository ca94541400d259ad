import type { AuthClient, GoogleAuth } from 'google-auth-library';
import { credentialError, CredentialError, type Authorize } from '../contract.ts';

const SCOPE = 'https://www.googleapis.com/auth/cloud-platform';

/** The library never looks again for the account of a machine that it did not find: a pod's may come after the pod. */
const LOOKED_AGAIN_AFTER_MS = 30_000;

/**
 * Bearer tokens of a credential, fetched with the first call and kept by the library until shortly before they end.
 * @param credentials what a credentials file holds; absent: application-default credentials
 */
export function createTokenAuthorize(
  credentials: Readonly<Record<string, unknown>> | undefined,
  nowMs: () => number = Date.now,
): Authorize {
  let auth: Promise<AuthClient | GoogleAuth> | undefined;
  let lookAgainMs = Number.POSITIVE_INFINITY;
  return async () => {
    if (nowMs() >= lookAgainMs) {
      auth = undefined;
      lookAgainMs = Number.POSITIVE_INFINITY;
    }
    auth ??= load(credentials);
    try {
      // With the project that pays, where the credential is a person's and not a service's.
      const headers = Object.fromEntries(await (await auth).getRequestHeaders());
      lookAgainMs = Number.POSITIVE_INFINITY;
      if (headers['authorization'] !== undefined) return headers;
    } catch (error) {
      lookAgainMs = Math.min(lookAgainMs, nowMs() + LOOKED_AGAIN_AFTER_MS);
      throw credentialError("Google's credentials do not work", error, credentials === undefined ? REMEDY : undefined);
    }
    throw new CredentialError('Google gave no access token for the credential');
  };
}

const REMEDY = 'set options.credentials_file, options.credentials, or GOOGLE_APPLICATION_CREDENTIALS';

/** With the first call: it takes 22 MB and 85 ms, which those without Vertex should not pay. */
async function load(credentials: Readonly<Record<string, unknown>> | undefined): Promise<AuthClient | GoogleAuth> {
  const { gcpMetadata, GoogleAuth: Auth, JWT } = await import('google-auth-library');
  if (credentials?.['type'] !== 'service_account') {
    gcpMetadata.resetIsAvailableCache();
    // Of other kinds of credentials the library says once on standard error that they must come from a trusted hand:
    // they name addresses to call. They do, it is the operator's.
    const auth = new Auth({ scopes: SCOPE, ...(credentials !== undefined && { credentials }) });
    auth.useJWTAccessWithScope = true;
    return auth;
  }
  const client = new JWT({
    email: String(credentials['client_email']),
    key: String(credentials['private_key']),
    keyId: String(credentials['private_key_id']),
    scopes: [SCOPE],
  });
  // google.aip.dev 4111: a service account's key signs its own tokens, so no call waits for a token to be fetched.
  client.useJWTAccessWithScope = true;
  return client;
}
