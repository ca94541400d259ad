import { z } from 'zod';
import { CREDIT_USD_MAX } from '../../../accounts/limits/credits.ts';
import { nanoFromUsd } from '../../../lib/money.ts';
import { changeOf, defineCreditChange, noteSchema } from './credit-shape.ts';

export const adjustCredits = defineCreditChange({
  path: '/credits/adjustments',
  operationId: 'adjustCredits',
  summary: 'Correct the balance of the account',
  errors: [400, 409, 413],
  body: z
    .strictObject({
      amount: z
        .number()
        .min(-CREDIT_USD_MAX)
        .max(CREDIT_USD_MAX)
        .describe('USD, signed and not 0, in steps of 0.000000001.'),
      note: noteSchema,
    })
    .meta({ id: 'AdjustCreditsRequest' }),
  change: (context) =>
    context.services.credits.adjust({ ...changeOf(context), amountNanoUsd: nanoFromUsd(context.body.amount) }),
});
