import type { UpstreamFailure } from '../../canonical/failure.ts';
import { STATUS_OF_ERROR_TYPE, type ErrorType } from '../../canonical/gateway-error.ts';
import type { FailedAnswer } from '../contract.ts';

interface Meaning {
  readonly errorType: ErrorType;
  readonly mayTry: UpstreamFailure['mayTry'];
  readonly message: string;
  readonly status?: number;
}

// A 429 that waiting does not cure: the account is out of money, so the endpoint is as good as down.
const OUT_OF_QUOTA: Meaning = {
  errorType: 'provider_unavailable',
  mayTry: 'next-endpoint',
  message: "The gateway's quota at the provider is used up.",
};
const REFUSED: Meaning = {
  errorType: 'content_policy_violation',
  mayTry: 'next-model',
  message: "The provider's content policy refused the request.",
};
const GONE: Meaning = {
  errorType: 'not_found',
  mayTry: 'next-endpoint',
  message: 'The provider does not serve this model.',
};
const UNSUPPORTED: Meaning = {
  errorType: 'invalid_request',
  mayTry: 'next-endpoint',
  message: 'The provider does not accept one of the parameters.',
};
const OVERLOADED: Meaning = {
  errorType: 'provider_overloaded',
  mayTry: 'next-endpoint',
  message: 'The provider is overloaded.',
  status: 529,
};
const BAD_IMAGE: Meaning = {
  errorType: 'invalid_image',
  mayTry: 'next-model',
  message: 'The provider cannot read an image.',
};

/**
 * `error.code` to meaning. Sources: developers.openai.com "Error codes" (quota, overload; read 2026-11), and the image
 * and policy codes of `ResponseError.code` in the vendor's SDK, openai 7.55 (2026-11).
 */
const MEANING_OF_CODE: Readonly<Record<string, Meaning>> = {
  insufficient_quota: OUT_OF_QUOTA,
  credit_balance_exhausted: OUT_OF_QUOTA,
  organization_spend_limit_exceeded: OUT_OF_QUOTA,
  project_spend_limit_exceeded: OUT_OF_QUOTA,
  organization_usage_limit_exceeded: OUT_OF_QUOTA,
  billing_hard_limit_reached: OUT_OF_QUOTA,
  billing_not_active: OUT_OF_QUOTA,
  context_length_exceeded: {
    errorType: 'context_length_exceeded',
    mayTry: 'next-endpoint',
    message: "The request is longer than the model's context.",
  },
  string_above_max_length: {
    errorType: 'string_too_long',
    mayTry: 'next-model',
    message: 'A text of the request is longer than the provider accepts.',
  },
  content_policy_violation: REFUSED,
  content_filter: REFUSED,
  // Despite its name this code means that the prompt was flagged by a usage policy.
  invalid_prompt: REFUSED,
  image_content_policy_violation: REFUSED,
  model_not_found: GONE,
  unsupported_parameter: UNSUPPORTED,
  unsupported_value: UNSUPPORTED,
  unknown_parameter: UNSUPPORTED,
  unsupported_country_region_territory: {
    errorType: 'permission_denied',
    mayTry: 'next-endpoint',
    message: 'The provider does not serve this region.',
  },
  server_is_overloaded: OVERLOADED,
  slow_down: OVERLOADED,
  invalid_image: BAD_IMAGE,
  invalid_base64_image: BAD_IMAGE,
  image_parse_error: BAD_IMAGE,
  empty_image_file: BAD_IMAGE,
  image_too_large: { errorType: 'image_too_large', mayTry: 'next-model', message: 'An image is too large.' },
  image_file_too_large: { errorType: 'image_too_large', mayTry: 'next-model', message: 'An image is too large.' },
  image_too_small: { errorType: 'image_too_small', mayTry: 'next-model', message: 'An image is too small.' },
  invalid_image_format: {
    errorType: 'unsupported_image_format',
    mayTry: 'next-model',
    message: 'The provider does not read this kind of image.',
  },
  unsupported_image_media_type: {
    errorType: 'unsupported_image_format',
    mayTry: 'next-model',
    message: 'The provider does not read this kind of image.',
  },
  invalid_image_url: {
    errorType: 'image_download_failed',
    mayTry: 'next-model',
    message: 'The provider could not download a file of the request.',
  },
  failed_to_download_image: {
    errorType: 'image_download_failed',
    mayTry: 'next-model',
    message: 'The provider could not download a file of the request.',
  },
  image_file_not_found: {
    errorType: 'image_not_found',
    mayTry: 'next-model',
    message: 'The provider could not find an image of the request.',
  },
};

/** What OpenAI's own codes mean where the status misleads. @source generation.md 8.4, pains.md 9 */
export function classify({ status, error }: FailedAnswer): Partial<UpstreamFailure> | undefined {
  const meaning = meaningOf(status, error.code ?? '', error.type ?? '', error.message ?? '');
  if (meaning === undefined) return undefined;
  const { errorType, mayTry, message } = meaning;
  return { errorType, mayTry, message, status: meaning.status ?? STATUS_OF_ERROR_TYPE[errorType] };
}

function meaningOf(status: number, code: string, type: string, message: string): Meaning | undefined {
  if (Object.hasOwn(MEANING_OF_CODE, code)) return MEANING_OF_CODE[code];
  // The type stays `insufficient_quota` under codes that did not exist when this was written.
  if (type === 'insufficient_quota') return OUT_OF_QUOTA;
  if (status === 503 && /overloaded|slow down/i.test(message)) return OVERLOADED;
  return undefined;
}
