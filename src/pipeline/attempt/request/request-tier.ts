import type { GenerationRequest } from '../../../canonical/request.ts';
import type { Endpoint } from '../../../catalog/model.ts';

/**
 * The request names the tier of the endpoint's price: a tier with an endpoint of its own is requested there, whatever let
 * that endpoint in, and nowhere else. @spec route-30
 */
export function setServiceTier(
  request: GenerationRequest,
  { serviceTier: own, tiersApart }: Pick<Endpoint, 'serviceTier' | 'tiersApart'>,
): GenerationRequest {
  const { serviceTier: requested } = request.settings;
  const tier = own ?? (requested !== undefined && tiersApart?.has(requested) === true ? 'default' : requested);
  return tier === undefined || tier === requested
    ? request
    : { ...request, settings: { ...request.settings, serviceTier: tier } };
}
