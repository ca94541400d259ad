import { z } from 'zod';
import { CREDIT_USD_MAX, NOTE_CHARS_MAX, type CreditChange, type Grant } from '../../../accounts/limits/credits.ts';
import { assert } from '../../../lib/assert.ts';
import { ledgerEntryResource, type LedgerEntry } from '../../../resources/ledger-entries.ts';
import { defineRoute, NOTHING, type ManagementRoute, type RouteContext } from '../route.ts';

export const amountSchema = z.number().positive().max(CREDIT_USD_MAX).describe('USD, in steps of 0.000000001.');
export const noteSchema = z.string().min(1).max(NOTE_CHARS_MAX).describe('Why.');

export const { schema: entrySchema } = ledgerEntryResource;

export function serializeEntry(entry: LedgerEntry): z.output<typeof entrySchema> {
  return ledgerEntryResource.serialize(entry, {});
}

type ChangeContext<Body> = RouteContext<Record<string, never>, Record<string, never>, Body>;

/** What every change of a balance says: its account, its reason, and its idempotency key. */
export function changeOf({
  principal,
  headers,
  body,
}: ChangeContext<{ readonly note: string }>): Omit<Grant, 'amountNanoUsd'> {
  assert(principal !== undefined, 'a management route has a caller');
  const idempotencyKey = headers['idempotency-key'];
  return {
    accountId: principal.accountId,
    note: body.note,
    author: principal.keyHash,
    ...(typeof idempotencyKey === 'string' && { idempotencyKey }),
  };
}

const answerSchema = z.strictObject({ data: entrySchema });

/** A route that adds one entry to the ledger, once for each idempotency key. */
export function defineCreditChange<Body extends z.ZodType<{ readonly note: string }>>({
  body,
  change,
  ...facts
}: Pick<ManagementRoute, 'path' | 'operationId' | 'summary' | 'errors'> & {
  readonly body: Body;
  /** @throws GatewayError */
  readonly change: (context: ChangeContext<z.output<Body>>) => Promise<CreditChange>;
}): ManagementRoute {
  return defineRoute({
    ...facts,
    method: 'POST',
    scope: 'management',
    readsRecords: true,
    tag: 'Credits',
    audited: 'values',
    params: NOTHING,
    query: NOTHING,
    body,
    responses: {
      200: { description: 'The entry that this idempotency key made before.', schema: answerSchema },
      201: { description: 'The entry in the ledger.', schema: answerSchema },
    },
    idempotent: true,
    async handle(context) {
      const { entry, isNew } = await change(context);
      return { status: isNew ? 201 : 200, changesNothing: !isNew, body: { data: serializeEntry(entry) } };
    },
  });
}
