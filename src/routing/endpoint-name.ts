import type { Endpoint } from '../catalog/model.ts';

/** A name is looked up for every endpoint of every request: made once, it is not hashed again either. */
const names = new WeakMap<Endpoint, string>();

/** The name of an endpoint in metrics and sessions: the same upstream model at the same provider, in one tier. */
export function endpointName(endpoint: Endpoint): string {
  const known = names.get(endpoint);
  if (known !== undefined) return known;
  const { provider, upstreamModel, serviceTier } = endpoint;
  const name =
    serviceTier === undefined ? `${provider} ${upstreamModel}` : `${provider} ${upstreamModel} ${serviceTier}`;
  names.set(endpoint, name);
  return name;
}

/** What health knows a candidate by: one credential may be spent or revoked while the others work. */
export function candidateName({
  endpoint,
  credential,
}: {
  readonly endpoint: Endpoint;
  readonly credential?: { readonly id: string };
}): string {
  const name = endpointName(endpoint);
  return credential === undefined ? name : `${name} #${credential.id}`;
}
