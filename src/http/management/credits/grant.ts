import { z } from 'zod';
import { nanoFromUsd } from '../../../lib/money.ts';
import { assert } from '../../../lib/assert.ts';
import { defineRoute, NOTHING } from '../route.ts';
import { amountSchema, serializeEntry, entrySchema, noteSchema } from './credit-shape.ts';

/** @spec money-44 */
const bodySchema = z
  .strictObject({
    amount: amountSchema,
    note: noteSchema,
    workspace_id: z.uuid().optional().describe('The workspace that it is meant for. All workspaces share one balance.'),
  })
  .meta({ id: 'GrantCreditsRequest' });

const answerSchema = z.strictObject({ data: entrySchema });

export const grantCredits = defineRoute({
  method: 'POST',
  path: '/credits/grants',
  scope: 'management',
  readsRecords: true,
  operationId: 'grantCredits',
  tag: 'Credits',
  summary: 'Give the account credit',
  audited: 'values',
  params: NOTHING,
  query: NOTHING,
  body: bodySchema,
  responses: {
    200: { description: 'The entry that this idempotency key made before.', schema: answerSchema },
    201: { description: 'The entry in the ledger.', schema: answerSchema },
  },
  errors: [400, 409, 413],
  idempotent: true,
  async handle({ principal, body, headers, services }) {
    assert(principal !== undefined, 'a management route has a caller');
    const idempotencyKey = headers['idempotency-key'];
    const workspaceId = body.workspace_id === undefined ? undefined : await services.workspaces.idOf(body.workspace_id);
    const { entry, isNew } = await services.credits.grant({
      accountId: principal.accountId,
      amountNanoUsd: nanoFromUsd(body.amount),
      note: body.note,
      author: principal.keyHash,
      ...(workspaceId !== undefined && { workspaceId }),
      ...(typeof idempotencyKey === 'string' && { idempotencyKey }),
    });
    return { status: isNew ? 201 : 200, changesNothing: !isNew, body: { data: serializeEntry(entry) } };
  },
});
