import { readFile } from 'node:fs/promises';
import type { AuthenticationResult } from '@azure/msal-node';
import { credentialError, CredentialError, type Authorize } from '../contract.ts';
import type { EntraSettings } from './options.ts';

/** learn.microsoft.com "Azure OpenAI: Microsoft Entra ID", read 2026-11. */
const RESOURCE = 'https://cognitiveservices.azure.com';

type FetchToken = () => Promise<AuthenticationResult | null>;

/**
 * Bearer tokens of Entra ID: of an application with a secret, of a workload whose cluster vouches for it, else of the
 * machine's managed identity. The library keeps a token until shortly before it ends.
 */
export function createEntraAuthorize(settings: EntraSettings): Authorize {
  let source: Promise<FetchToken> | undefined;
  return async () => {
    source ??= load(settings);
    try {
      const result = await (await source)();
      if (result !== null && result.accessToken !== '') return { authorization: `Bearer ${result.accessToken}` };
    } catch (error) {
      throw credentialError('Entra ID gave no token', error);
    }
    throw new CredentialError('Entra ID gave no token');
  };
}

/** With the first call: it takes 31 MB and a quarter of a second, which those without Entra ID should not pay. */
async function load(settings: EntraSettings): Promise<FetchToken> {
  const { authority, tenantId, clientId, clientSecret, tokenFile } = settings;
  const { ConfidentialClientApplication, ManagedIdentityApplication } = await import('@azure/msal-node');
  if (tenantId === undefined || clientId === undefined || (clientSecret ?? tokenFile) === undefined) {
    const identity = new ManagedIdentityApplication(
      clientId === undefined ? {} : { managedIdentityIdParams: { userAssignedClientId: clientId } },
    );
    return () => identity.acquireToken({ resource: RESOURCE });
  }
  const application = new ConfidentialClientApplication({
    auth: {
      clientId,
      authority: `${authority}/${tenantId}`,
      // Without this the library first calls Microsoft to verify the host.
      knownAuthorities: [new URL(authority).host],
      ...(clientSecret === undefined
        ? // The cluster replaces the file every hour.
          { clientAssertion: async () => (await readFile(tokenFile ?? '', 'utf8')).trim() }
        : { clientSecret }),
    },
  });
  return () => application.acquireTokenByClientCredential({ scopes: [`${RESOURCE}/.default`] });
}
