import { z } from 'zod';
import { DEFAULT_ACCOUNT_ID } from '../../../accounts/principal.ts';
import { usdFromNano } from '../../../lib/money.ts';
import { defineRoute, NO_BODY, NOTHING } from '../route.ts';

/** @spec money-42 */
const creditsSchema = z
  .strictObject({
    total_credits: z.number().describe('USD: everything that was granted, adjusted and given back.'),
    total_usage: z.number().describe('USD: everything that was used. The balance is the difference.'),
  })
  .meta({ id: 'Credits' });

export const getCredits = defineRoute({
  method: 'GET',
  path: '/credits',
  scope: 'management',
  readsRecords: true,
  operationId: 'getCredits',
  tag: 'Credits',
  summary: 'Show the credit that the account was given and used',
  params: NOTHING,
  query: NOTHING,
  body: NO_BODY,
  responses: { 200: { description: 'Both sums.', schema: z.strictObject({ data: creditsSchema }) } },
  errors: [],
  async handle({ principal, services }) {
    const { credits, usage } = await services.credits.totals(principal?.accountId ?? DEFAULT_ACCOUNT_ID);
    return { status: 200, body: { data: { total_credits: usdFromNano(credits), total_usage: usdFromNano(usage) } } };
  },
});
