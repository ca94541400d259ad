import { z } from 'zod';
import { nanoFromUsd } from '../../../lib/money.ts';
import { amountSchema, changeOf, defineCreditChange, noteSchema } from './credit-shape.ts';

/** @spec money-44 */
export const grantCredits = defineCreditChange({
  path: '/credits/grants',
  operationId: 'grantCredits',
  summary: 'Give the account credit',
  errors: [400, 409, 413],
  body: z
    .strictObject({
      amount: amountSchema,
      note: noteSchema,
      workspace_id: z
        .uuid()
        .optional()
        .describe('The workspace that it is meant for. All workspaces share one balance.'),
    })
    .meta({ id: 'GrantCreditsRequest' }),
  async change(context) {
    const { body, services } = context;
    const workspaceId = body.workspace_id === undefined ? undefined : await services.workspaces.idOf(body.workspace_id);
    return services.credits.grant({
      ...changeOf(context),
      amountNanoUsd: nanoFromUsd(body.amount),
      ...(workspaceId !== undefined && { workspaceId }),
    });
  },
});
