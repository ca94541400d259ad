import { z } from 'zod';

/** The most that a limit may be, USD: nano-USD count exactly in a double up to a little above. */
export const LIMIT_USD_MAX = 9_000_000;

export const limitResetSchema = z
  .enum(['daily', 'weekly', 'monthly'])
  .nullable()
  .describe('When the spend that counts against the limit starts again from zero, in UTC. Null: never.');

const usd = z.number().describe('USD.');

/** Spend of a key: all time and the running UTC day, week and month. */
export const spendShape = {
  usage: usd,
  usage_daily: usd,
  usage_weekly: usd,
  usage_monthly: usd,
  byok_usage: usd.describe('USD at list price on BYOK credentials.'),
  byok_usage_daily: usd,
  byok_usage_weekly: usd,
  byok_usage_monthly: usd,
};
