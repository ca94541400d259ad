import type { GenerationRequest } from '../canonical/request.ts';
import type { Endpoint } from '../catalog/model.ts';

/**
 * What is asked for is what the endpoint's price is of: a tier with an endpoint of its own is asked for there, whoever let
 * that endpoint in, and nowhere else. @source generation.md 3.5
 */
export function askForTier(
  request: GenerationRequest,
  { serviceTier: own, tiersApart }: Pick<Endpoint, 'serviceTier' | 'tiersApart'>,
): GenerationRequest {
  const { serviceTier: asked } = request.settings;
  const tier = own ?? (asked !== undefined && tiersApart?.has(asked) === true ? 'default' : asked);
  return tier === undefined || tier === asked
    ? request
    : { ...request, settings: { ...request.settings, serviceTier: tier } };
}
