import { z } from 'zod';
import type { KeyLimit } from '../../../accounts/limits/key-limits.ts';
import { usdFromNano } from '../../../lib/money.ts';
import { serializeTime } from '../../../resources/columns.ts';
import { defineRoute, NO_BODY, NOTHING } from '../route.ts';
import { keyPathSchema } from './key-shape.ts';
import { touchKey } from './touch-key.ts';

export const keyLimitSchema = z
  .strictObject({
    kind: z
      .enum(['key', 'issuer', 'workspace', 'guardrail', 'account'])
      .describe('The key itself, the key that issued it, its workspace, a guardrail, or the credit of the account.'),
    subject: z.string().describe('The spending that counts: `key:HASH`, `workspace:ID`, `member:ID` or `account:ID`.'),
    limit: z.number().describe('USD. Of the account: what it was given.'),
    spent: z.number().describe('USD, in the current window.'),
    left: z.number().describe('USD; below zero when it was overspent.'),
    reset: z.enum(['daily', 'weekly', 'monthly']).nullable(),
    resets_at: z.iso.datetime().nullable(),
  })
  .meta({ id: 'KeyLimit' });

export const getKeyLimits = defineRoute({
  method: 'GET',
  path: '/keys/{hash}/limits',
  scope: 'management',
  readsRecords: true,
  operationId: 'getKeyLimits',
  tag: 'API keys',
  summary: 'List what bounds the spending of a key, of all layers, the tightest first',
  params: keyPathSchema,
  query: NOTHING,
  body: NO_BODY,
  responses: { 200: { description: 'Its limits.', schema: z.strictObject({ data: z.array(keyLimitSchema) }) } },
  errors: [404],
  users: ({ params, services }) => touchKey(services, params.hash),
  async handle({ params, services }) {
    const record = await services.keys.get(params.hash, 'normal');
    const limits = await services.keyLimits.of([record]);
    return { status: 200, body: { data: (limits.get(record.hash) ?? []).map(serializeLimit) } };
  },
});

export function serializeLimit(limit: KeyLimit): z.output<typeof keyLimitSchema> {
  const { kind, subject, limitNanoUsd, spentNanoUsd, leftNanoUsd, reset, resetsAtMs } = limit;
  return {
    kind,
    subject,
    limit: usdFromNano(limitNanoUsd),
    spent: usdFromNano(spentNanoUsd),
    left: usdFromNano(leftNanoUsd),
    reset,
    resets_at: resetsAtMs === null ? null : serializeTime(resetsAtMs),
  };
}
