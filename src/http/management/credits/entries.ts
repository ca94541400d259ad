import { z } from 'zod';
import { DEFAULT_ACCOUNT_ID } from '../../../accounts/principal.ts';
import { ENTRY_KINDS } from '../../../resources/ledger-entries.ts';
import { filterSchema, pageSchema, pageShape, parseWindow, serializePage } from '../page.ts';
import { defineRoute, NO_BODY, NOTHING } from '../route.ts';
import { entrySchema, serializeEntry } from './credit-shape.ts';

export const listCreditEntries = defineRoute({
  method: 'GET',
  path: '/credits/entries',
  scope: 'management',
  readsRecords: true,
  operationId: 'listCreditEntries',
  tag: 'Credits',
  summary: 'List the entries of the ledger, newest first',
  params: NOTHING,
  query: z.strictObject({
    ...pageShape,
    kind: z.enum(ENTRY_KINDS).optional(),
    key: filterSchema.describe('The hash of the key that a charge was made to.'),
    workspace: filterSchema.describe('Its id.'),
  }),
  body: NO_BODY,
  responses: { 200: { description: 'A page of entries.', schema: pageSchema(entrySchema) } },
  errors: [400],
  async handle({ principal, query, services }) {
    const { kind, key, workspace } = query;
    const page = await services.credits.entries({
      ...parseWindow(query),
      accountId: principal?.accountId ?? DEFAULT_ACCOUNT_ID,
      ...(kind !== undefined && { kind }),
      ...(key !== undefined && { keyHash: key }),
      ...(workspace !== undefined && { workspaceId: workspace }),
    });
    return { status: 200, body: serializePage(page, serializeEntry) };
  },
});
