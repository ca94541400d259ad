import { z } from 'zod';
import { nanoFromUsd } from '../../../lib/money.ts';
import { assert } from '../../../lib/assert.ts';
import { defineRoute, NOTHING } from '../route.ts';
import { amountSchema, drawEntry, entrySchema, noteSchema } from './credit-shape.ts';

/** @source areas.md 2 "admin grant call" */
const bodySchema = z
  .strictObject({
    amount: amountSchema,
    note: noteSchema,
    workspace_id: z.uuid().optional().describe('For whom it is meant. All workspaces draw on one balance.'),
  })
  .meta({ id: 'GrantCreditsRequest' });

export const grantCredits = defineRoute({
  method: 'POST',
  path: '/credits/grants',
  scope: 'management',
  operationId: 'grantCredits',
  tag: 'Credits',
  summary: 'Give the account credit',
  audited: 'values',
  params: NOTHING,
  query: NOTHING,
  body: bodySchema,
  responses: { 201: { description: 'The entry in the ledger.', schema: z.strictObject({ data: entrySchema }) } },
  errors: [400, 413],
  async handle({ principal, body, services }) {
    assert(principal !== undefined, 'a management route has a caller');
    const workspaceId = body.workspace_id === undefined ? undefined : await services.workspaces.idOf(body.workspace_id);
    const entry = await services.credits.grant({
      accountId: principal.accountId,
      amountNanoUsd: nanoFromUsd(body.amount),
      note: body.note,
      author: principal.keyHash,
      ...(workspaceId !== undefined && { workspaceId }),
    });
    return { status: 201, body: { data: drawEntry(entry) } };
  },
});
