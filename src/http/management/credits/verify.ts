import { z } from 'zod';
import type { Reconciliation } from '../../../accounts/limits/reconciliations.ts';
import { DEFAULT_ACCOUNT_ID } from '../../../accounts/principal.ts';
import { serializeTime } from '../../../resources/columns.ts';
import { defineRoute, NO_BODY, NOTHING } from '../route.ts';

const digits = z.string().regex(/^-?\d+$/);
const count = z.int().min(0);

const reconciliationSchema = z
  .strictObject({
    id: z.uuid(),
    status: z.enum(['running', 'agrees', 'differs', 'failed']),
    started_at: z.iso.datetime(),
    ended_at: z.iso.datetime().nullable(),
    duration_ms: count.nullable(),
    generations: count.nullable().describe('Those that cost something.'),
    entries: count.nullable().describe('Charges in the ledger.'),
    subjects: count.nullable().describe('Keys, workspaces, members and the account, whose sums by day were compared.'),
    cost_nano_usd: digits.nullable().describe('What the generations cost, exactly.'),
    charged_nano_usd: digits.nullable().describe('What the ledger took for them, exactly.'),
    differences: z
      .array(
        z.strictObject({
          what: z.enum(['charge', 'spend', 'requests', 'balance']),
          of: z.string().describe('The generation, the subject with its day, or the account.'),
          unit: z.enum(['nano_usd', 'requests']),
          expected: digits.describe('By the generations, or by the entries.'),
          found: digits,
        }),
      )
      .nullable()
      .describe('At most 100 of each kind: so many have a common cause.'),
  })
  .meta({ id: 'Reconciliation' });

const answerSchema = z.strictObject({ data: reconciliationSchema });
const FACTS = { scope: 'management', tag: 'Credits', query: NOTHING, body: NO_BODY } as const;

export const startReconciliation = defineRoute({
  ...FACTS,
  method: 'POST',
  path: '/credits/verify',
  readsRecords: true,
  onlyReads: true,
  operationId: 'startReconciliation',
  summary: 'Compare every record with the ledger; one comparison runs at a time',
  params: NOTHING,
  responses: { 202: { description: 'It runs, or one that ran already.', schema: answerSchema } },
  errors: [],
  handle({ principal, services }) {
    const started = services.reconciliations.start(principal?.accountId ?? DEFAULT_ACCOUNT_ID);
    return { status: 202, body: { data: serialize(started) } };
  },
});

export const getReconciliation = defineRoute({
  ...FACTS,
  method: 'GET',
  path: '/credits/verify/{id}',
  operationId: 'getReconciliation',
  summary: 'Show how a comparison with the ledger ended',
  params: z.strictObject({ id: z.uuid() }),
  responses: { 200: { description: 'The comparison.', schema: answerSchema } },
  errors: [404],
  handle({ principal, params, services }) {
    const found = services.reconciliations.find(principal?.accountId ?? DEFAULT_ACCOUNT_ID, params.id);
    return { status: 200, body: { data: serialize(found) } };
  },
});

function serialize(reconciliation: Reconciliation): z.output<typeof reconciliationSchema> {
  const { id, status, startedAtMs, endedAtMs, compared } = reconciliation;
  return {
    id,
    status,
    started_at: serializeTime(startedAtMs),
    ended_at: endedAtMs === null ? null : serializeTime(endedAtMs),
    duration_ms: endedAtMs === null ? null : Math.max(0, endedAtMs - startedAtMs),
    generations: compared?.generations ?? null,
    entries: compared?.entries ?? null,
    subjects: compared?.subjects ?? null,
    cost_nano_usd: compared?.costNanoUsd ?? null,
    charged_nano_usd: compared?.chargedNanoUsd ?? null,
    differences:
      compared?.differences.map(({ what, of, expected, found }) => ({
        what,
        of,
        unit: what === 'requests' ? 'requests' : 'nano_usd',
        expected: String(expected),
        found: String(found),
      })) ?? null,
  };
}
