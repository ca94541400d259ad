/**
 * Speeds are stored as counts by class, so that they add up over hours and days; a percentile is then right to within
 * its class.
 */
const CLASSES = 24;

/** Makes bounds that grow by `factor`: class 0 is below the first, the last class has no upper bound. */
function growingBounds(first: number, factor: number): readonly number[] {
  return Array.from({ length: CLASSES - 1 }, (_, index) => Math.round(first * factor ** index));
}

/** Upper bounds of the classes of the time to the first token, ms: 10 ms to 75 s. */
export const FIRST_TOKEN_BOUNDS_MS: readonly number[] = growingBounds(10, 1.5);
/** Upper bounds of the classes of tokens per second from the first token on: 2 to 1,500 and more. */
export const THROUGHPUT_BOUNDS: readonly number[] = growingBounds(2, 1.35);

/** Names that sums of generations can be grouped by. All of them are text; unset is `''`. */
export const USAGE_DIMENSIONS = [
  'workspace_id',
  'key_hash',
  'member_id',
  'model',
  'provider',
  'upstream_model',
  'app_url',
] as const;
export type UsageDimension = (typeof USAGE_DIMENSIONS)[number];

/**
 * Sums of generations: whole numbers, money as nano-USD. `failures` were answered with a status of 400 or more, except
 * where the caller disconnected; `unpriced` have an unknown price, and count nothing in the money; `cost_nano_usd` was
 * charged to the account, `byok_nano_usd` is what calls with a caller's own credential cost at list price;
 * `cache_discount_nano_usd` is negative where writing to caches cost more than reading saved; `web_nano_usd` and
 * `file_nano_usd` are parts of the charge; `tool_calls` of server tools ran, `tool_failures` of them failed; `audio_ms`
 * were heard or made, `images` and `video_ms` made.
 */
export const USAGE_SUMS = [
  'requests',
  'failures',
  'cancelled',
  'unpriced',
  'tokens_prompt',
  'tokens_completion',
  'tokens_reasoning',
  'tokens_cache_read',
  'tokens_cache_write',
  'web_searches',
  'cost_nano_usd',
  'byok_nano_usd',
  'cache_discount_nano_usd',
  'web_nano_usd',
  'file_nano_usd',
  'tool_calls',
  'tool_failures',
  'characters',
  'audio_ms',
  'images',
  'search_units',
  'video_ms',
] as const;
export type UsageSum = (typeof USAGE_SUMS)[number];

export type ClassColumn = `first_token_${number}` | `throughput_${number}`;
export type UsageMeasure = UsageSum | ClassColumn;

/** Sums that only the records themselves give: what routers saved, and responses that mid-stream failover continued. */
export const RECORD_MEASURES = ['saved_nano_usd', 'rescues'] as const;
export type ReportMeasure = UsageMeasure | (typeof RECORD_MEASURES)[number];

const classNumbers = Array.from({ length: CLASSES }, (_, index) => index);
export const FIRST_TOKEN_CLASSES = classNumbers.map((index): ClassColumn => `first_token_${index}`);
export const THROUGHPUT_CLASSES = classNumbers.map((index): ClassColumn => `throughput_${index}`);

export const USAGE_MEASURES: readonly UsageMeasure[] = [...USAGE_SUMS, ...FIRST_TOKEN_CLASSES, ...THROUGHPUT_CLASSES];
