import { z } from 'zod';
import { KEY_LIMIT_USD_MAX, type KeyRecord } from '../../../accounts/keys.ts';
import { nanoFromUsd, usdFromNano } from '../../../lib/money.ts';
import { defaultPluginsSchema, drawDefaultPlugins } from '../default-plugins.ts';
import { defaultPreferencesSchema, drawDefaultPreferences } from '../default-preferences.ts';

export const limitResetSchema = z
  .enum(['daily', 'weekly', 'monthly'])
  .nullable()
  .describe('When the spend that counts against the limit starts again from zero, in UTC. Null: never.');

export const limitUsdSchema = z
  .number()
  .min(0)
  .max(KEY_LIMIT_USD_MAX)
  .nullable()
  .describe('The most that the key may spend, USD. Null: no limit.');

/** The path of one key. An impossible hash is an unknown one: 404. */
export const keyPathSchema = z.strictObject({
  hash: z.string().describe('SHA-256 of the key, 64 lower-case hex digits: the `hash` of its record.'),
});

const usd = z.number().describe('USD.');

/** Spend of a key: all time and the running UTC day, week and month. */
export const spendShape = {
  usage: usd,
  usage_daily: usd,
  usage_weekly: usd,
  usage_monthly: usd,
  byok_usage: usd.describe('USD at list price on credentials that callers brought.'),
  byok_usage_daily: usd,
  byok_usage_weekly: usd,
  byok_usage_monthly: usd,
};

/** @source areas.md 1 "Key record"; reference shapes, `GET /keys` */
export const keySchema = z
  .strictObject({
    hash: z.string(),
    label: z.string().describe('A masked excerpt of the key.'),
    name: z.string(),
    disabled: z.boolean(),
    created_at: z.iso.datetime(),
    updated_at: z.iso.datetime().nullable(),
    expires_at: z.iso.datetime().nullable(),
    creator_user_id: z.string().nullable(),
    workspace_id: z.string(),
    limit: z.number().nullable(),
    limit_remaining: z.number().nullable(),
    limit_reset: limitResetSchema,
    include_byok_in_limit: z.boolean(),
    default_provider_preferences: defaultPreferencesSchema,
    default_plugins: defaultPluginsSchema,
    ...spendShape,
  })
  .meta({ id: 'ApiKey' });

export function drawKey(record: KeyRecord): z.output<typeof keySchema> {
  return {
    hash: record.hash,
    label: record.label,
    name: record.name,
    disabled: record.disabled,
    created_at: drawTime(record.createdAtMs),
    updated_at: record.updatedAtMs === null ? null : drawTime(record.updatedAtMs),
    expires_at: record.expiresAtMs === null ? null : drawTime(record.expiresAtMs),
    creator_user_id: record.creatorUserId,
    workspace_id: record.workspaceId,
    limit: drawUsd(record.limitNanoUsd),
    limit_remaining: drawUsd(record.limitRemainingNanoUsd),
    limit_reset: record.limitReset,
    include_byok_in_limit: record.includeByokInLimit,
    default_provider_preferences: drawDefaultPreferences(record.defaultPreferences),
    default_plugins: drawDefaultPlugins(record.defaultPlugins),
    ...drawSpend(record),
  };
}

export function drawSpend({ own, byok }: Pick<KeyRecord, 'own' | 'byok'>): Record<keyof typeof spendShape, number> {
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

export function drawUsd(nanoUsd: number | null): number | null {
  return nanoUsd === null ? null : usdFromNano(nanoUsd);
}

export function drawTime(atMs: number): string {
  return new Date(atMs).toISOString();
}

/** USD as sent to nano-USD, to the nearest. */
export function readUsd(usdAmount: number | null): number | null {
  return usdAmount === null ? null : nanoFromUsd(usdAmount);
}
