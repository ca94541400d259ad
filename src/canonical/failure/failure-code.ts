import type { UpstreamErrorBody } from './failure.ts';
import { MEANINGS, type FailureMeaning } from './failure-meaning.ts';

/**
 * `error.code` to meaning: codes that one vendor coined and that hosts of its formats repeat. Sources:
 * developers.openai.com "Error codes" (quota, overload; read 2026-11), and `ResponseError.code` in the vendor's SDK,
 * openai 7.55 (2026-11).
 */
const MEANING_OF_CODE: Readonly<Record<string, FailureMeaning>> = {
  insufficient_quota: MEANINGS.outOfQuota,
  credit_balance_exhausted: MEANINGS.outOfQuota,
  organization_spend_limit_exceeded: MEANINGS.outOfQuota,
  project_spend_limit_exceeded: MEANINGS.outOfQuota,
  organization_usage_limit_exceeded: MEANINGS.outOfQuota,
  billing_hard_limit_reached: MEANINGS.outOfQuota,
  billing_not_active: MEANINGS.outOfQuota,
  context_length_exceeded: MEANINGS.tooLong,
  string_above_max_length: MEANINGS.textTooLong,
  content_policy_violation: MEANINGS.refused,
  content_filter: MEANINGS.refused,
  // Despite its name this code means that the prompt was flagged by a usage policy.
  invalid_prompt: MEANINGS.refused,
  image_content_policy_violation: MEANINGS.refused,
  model_not_found: MEANINGS.gone,
  unsupported_parameter: MEANINGS.unsupportedParameter,
  unsupported_value: MEANINGS.unsupportedParameter,
  unknown_parameter: MEANINGS.unsupportedParameter,
  unsupported_country_region_territory: MEANINGS.wrongRegion,
  server_is_overloaded: MEANINGS.overloaded,
  slow_down: MEANINGS.overloaded,
  invalid_image: MEANINGS.badImage,
  invalid_base64_image: MEANINGS.badImage,
  image_parse_error: MEANINGS.badImage,
  empty_image_file: MEANINGS.badImage,
  image_too_large: MEANINGS.imageTooLarge,
  image_file_too_large: MEANINGS.imageTooLarge,
  image_too_small: MEANINGS.imageTooSmall,
  invalid_image_format: MEANINGS.imageFormat,
  unsupported_image_media_type: MEANINGS.imageFormat,
  invalid_image_url: MEANINGS.downloadFailed,
  failed_to_download_image: MEANINGS.downloadFailed,
  image_file_not_found: MEANINGS.imageNotFound,
};

/** What an error's own code means, where that is more specific than a status; a vendor's other codes are its adapter's. */
export function meaningOfCode({ code = '', type = '' }: UpstreamErrorBody): FailureMeaning | undefined {
  if (Object.hasOwn(MEANING_OF_CODE, code)) return MEANING_OF_CODE[code];
  // The type stays `insufficient_quota` under codes that did not exist when this was written.
  if (type === 'insufficient_quota') return MEANINGS.outOfQuota;
  return /_policy(?:_violation)?$/.test(code) ? MEANINGS.refused : undefined;
}
