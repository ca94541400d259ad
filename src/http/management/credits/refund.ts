import { z } from 'zod';
import { nanoFromUsd } from '../../../lib/money.ts';
import { amountSchema, changeOf, defineCreditChange, noteSchema } from './credit-shape.ts';

export const refundGeneration = defineCreditChange({
  path: '/credits/refunds',
  operationId: 'refundGeneration',
  summary: 'Give back what a generation was charged; limits count it all the same',
  errors: [400, 404, 409, 413],
  body: z
    .strictObject({
      generation_id: z.string().min(1).max(256),
      amount: amountSchema.optional().describe('USD. Absent: the whole rest of the charge.'),
      note: noteSchema,
    })
    .meta({ id: 'RefundGenerationRequest' }),
  change: (context) => {
    const { generation_id: generationId, amount } = context.body;
    return context.services.credits.refund({
      ...changeOf(context),
      generationId,
      ...(amount !== undefined && { amountNanoUsd: nanoFromUsd(amount) }),
    });
  },
});
