import { transportFailure } from '../../canonical/failure/classify-failure.ts';
import type { UpstreamFailure } from '../../canonical/failure/failure.ts';
import type { Endpoint } from '../../catalog/model.ts';
import type { OutboundRequest } from '../../lib/net/http-client.ts';
import { CredentialError, type Provider } from '../../providers/contract.ts';
import type { Candidate } from '../../routing/route-plan.ts';

export interface UpstreamDeps {
  readonly providers: ReadonlyMap<string, Provider>;
  /** The provider with the candidate's own credential. @throws CredentialError */
  readonly byokUpstream: (candidate: Candidate, keyHash: string | undefined) => Promise<Upstream>;
}

/** The provider that is called, and the endpoint. */
export interface Upstream {
  readonly provider: Provider;
  /** As it is called there: a credential may have another name for the model. */
  readonly endpoint: Endpoint;
}

const CREDENTIAL_FAILURE: UpstreamFailure = {
  kind: 'connect',
  errorType: 'provider_unavailable',
  status: 502,
  mayTry: 'next-endpoint',
  message: "The gateway's credentials for the provider do not work.",
};
const OWN_CREDENTIAL_FAILURE: UpstreamFailure = {
  ...CREDENTIAL_FAILURE,
  message: "The account's own credential for the provider does not work.",
};
/** At once but for credentials that are had from elsewhere. */
export function tryAuthorize(
  provider: Provider,
  authorize: () => OutboundRequest | Promise<OutboundRequest>,
): OutboundRequest | UpstreamFailure | Promise<OutboundRequest | UpstreamFailure> {
  try {
    const outbound = authorize();
    if (!(outbound instanceof Promise)) return outbound;
    return outbound.catch((error: unknown) => credentialFailure(error, provider));
  } catch (error) {
    return credentialFailure(error, provider);
  }
}

/**
 * The reason is for the operator's log: no caller sees an upstream's own words with a status of 5xx.
 * @throws what is no CredentialError: a bug
 */
function credentialFailure(error: unknown, { isByok }: { readonly isByok?: true }): UpstreamFailure {
  if (!(error instanceof CredentialError)) throw error;
  return { ...(isByok === true ? OWN_CREDENTIAL_FAILURE : CREDENTIAL_FAILURE), upstreamMessage: error.message };
}

/** At once but for a credential of the account's own. */
export function upstreamOf(
  deps: UpstreamDeps,
  candidate: Candidate,
  keyHash: string | undefined,
): Upstream | UpstreamFailure | Promise<Upstream | UpstreamFailure> {
  const { endpoint, credential } = candidate;
  if (credential !== undefined)
    return deps.byokUpstream(candidate, keyHash).catch((error: unknown) => credentialFailure(error, { isByok: true }));
  const provider = deps.providers.get(endpoint.provider);
  return provider === undefined ? transportFailure('connect') : { provider, endpoint };
}
