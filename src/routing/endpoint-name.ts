import type { Endpoint } from '../catalog/model.ts';

/** A name is looked up for every endpoint of every request: made once, it is not hashed again either. */
const names = new WeakMap<Endpoint, string>();

/** What health, figures and sessions know an endpoint by: the same upstream model at the same provider, in one tier. */
export function endpointName(endpoint: Endpoint): string {
  const known = names.get(endpoint);
  if (known !== undefined) return known;
  const { provider, upstreamModel, serviceTier } = endpoint;
  const name =
    serviceTier === undefined ? `${provider} ${upstreamModel}` : `${provider} ${upstreamModel} ${serviceTier}`;
  names.set(endpoint, name);
  return name;
}
