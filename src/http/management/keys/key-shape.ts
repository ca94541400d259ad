import { z } from 'zod';
import type { KeyRecord } from '../../../accounts/keys/keys.ts';
import { usdFromNano } from '../../../lib/money.ts';
import { serializeUsd } from '../../../resources/columns.ts';
import { keyResource } from '../../../resources/keys.ts';
import type { spendShape } from '../../../resources/shapes.ts';

export const { schema: keySchema } = keyResource;

/** The path of one key. An invalid hash is an unknown one: 404. */
export const keyPathSchema = z.strictObject({
  hash: z.string().describe('SHA-256 of the key, 64 lower-case hex digits: the `hash` of its record.'),
});

export function serializeKey(record: KeyRecord): z.output<typeof keySchema> {
  const limitRemaining = serializeUsd(record.limitRemainingNanoUsd);
  return keyResource.serialize(record, {
    external_user: null,
    limit_remaining: limitRemaining,
    ...serializeSpend(record),
  });
}

export function serializeSpend({
  own,
  byok,
}: Pick<KeyRecord, 'own' | 'byok'>): Record<keyof typeof spendShape, number> {
  return {
    usage: usdFromNano(own.total),
    usage_daily: usdFromNano(own.day),
    usage_weekly: usdFromNano(own.week),
    usage_monthly: usdFromNano(own.month),
    byok_usage: usdFromNano(byok.total),
    byok_usage_daily: usdFromNano(byok.day),
    byok_usage_weekly: usdFromNano(byok.week),
    byok_usage_monthly: usdFromNano(byok.month),
  };
}
