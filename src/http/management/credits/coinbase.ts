import { z } from 'zod';
import { GatewayError } from '../../../canonical/gateway-error.ts';
import { defineRoute, NO_BODY, NOTHING } from '../route.ts';

/** Removed; a client that still calls it gets 410. @spec money-45 */
export const chargeWithCoinbase = defineRoute({
  method: 'POST',
  path: '/credits/coinbase',
  scope: 'public',
  role: 'member',
  operationId: 'createCoinbaseCharge',
  tag: 'Credits',
  summary: 'Always 410: credit is not bought here',
  params: NOTHING,
  query: z.unknown(),
  body: NO_BODY,
  responses: {},
  errors: [410],
  handle() {
    throw new GatewayError('not_found', 'Buying credit with Coinbase was removed. An administrator grants credit.', {
      status: 410,
    });
  },
});
