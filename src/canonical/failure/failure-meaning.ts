import type { UpstreamFailure } from './failure.ts';
import { STATUS_OF_ERROR_TYPE, type ErrorType } from '../gateway-error.ts';

/** The meaning of an upstream's failure for the caller and for the next candidates. @spec error-13 */
export interface FailureMeaning {
  readonly errorType: ErrorType;
  readonly mayTry: UpstreamFailure['mayTry'];
  /** A sentence of ours, safe to show. */
  readonly message: string;
  /** Where it is not the status of the type. */
  readonly status?: number;
}

/** The part of a failure that a meaning decides. */
export type MeaningOfFailure = Pick<UpstreamFailure, 'errorType' | 'status' | 'message' | 'mayTry'>;

export function failureOfMeaning({ errorType, mayTry, message, status }: FailureMeaning): MeaningOfFailure {
  return { errorType, status: status ?? STATUS_OF_ERROR_TYPE[errorType], message, mayTry };
}

/**
 * Meanings that statuses, messages and vendors' codes have in common: statuses and messages are classified in
 * classify-failure.ts, a vendor's own codes in its adapter.
 */
export const MEANINGS = {
  unavailable: {
    errorType: 'provider_unavailable',
    mayTry: 'next-endpoint',
    message: 'The provider failed to answer.',
  },
  rejectedCredentials: {
    errorType: 'provider_unavailable',
    mayTry: 'next-endpoint',
    message: "The provider refused the gateway's credentials.",
  },
  /** The account is out of money, which waiting does not cure: the endpoint is as good as down. */
  outOfQuota: {
    errorType: 'provider_unavailable',
    mayTry: 'next-endpoint',
    message: "The gateway's quota at the provider is used up.",
  },
  gone: {
    errorType: 'not_found',
    mayTry: 'next-endpoint',
    message: 'The provider does not serve this model.',
  },
  timedOut: {
    errorType: 'timeout',
    mayTry: 'next-endpoint',
    message: 'The provider took too long to answer.',
  },
  overloaded: {
    errorType: 'provider_overloaded',
    mayTry: 'next-endpoint',
    message: 'The provider is overloaded.',
    // @spec error-16: 503 means that nothing could be tried.
    status: 529,
  },
  rateLimited: {
    errorType: 'rate_limit_exceeded',
    mayTry: 'next-endpoint',
    message: 'The provider limits the rate of requests.',
  },
  wrongRegion: {
    errorType: 'permission_denied',
    mayTry: 'next-endpoint',
    message: 'The provider does not serve this region.',
  },
  tooLarge: {
    errorType: 'payload_too_large',
    mayTry: 'next-endpoint',
    message: 'The request is larger than the provider accepts.',
  },
  tooLong: {
    errorType: 'context_length_exceeded',
    mayTry: 'next-endpoint',
    message: "The request is longer than the model's context: shorten it, or enable the plugin context-compression.",
  },
  tokenLimit: {
    errorType: 'token_limit_exceeded',
    mayTry: 'next-endpoint',
    message: 'The limit of tokens was reached.',
  },
  textTooLong: {
    errorType: 'string_too_long',
    mayTry: 'next-model',
    message: 'A text of the request is longer than the provider accepts.',
  },
  unprocessable: {
    errorType: 'unprocessable',
    mayTry: 'next-model',
    message: 'The provider could not process the request.',
  },
  refused: {
    errorType: 'content_policy_violation',
    mayTry: 'next-model',
    message: "The provider's content policy refused the request.",
  },
  unsupportedParameter: {
    errorType: 'invalid_request',
    mayTry: 'next-endpoint',
    message: 'The provider does not accept one of the parameters.',
  },
  badRequest: {
    errorType: 'invalid_request',
    mayTry: 'next-model',
    message: 'The provider refused the request as invalid.',
  },
  downloadFailed: {
    errorType: 'image_download_failed',
    mayTry: 'next-model',
    message: 'The provider could not download a file of the request.',
  },
  badImage: {
    errorType: 'invalid_image',
    mayTry: 'next-model',
    message: 'The provider cannot read an image.',
  },
  imageNotFound: {
    errorType: 'image_not_found',
    mayTry: 'next-model',
    message: 'The provider could not find an image of the request.',
  },
  imageTooLarge: {
    errorType: 'image_too_large',
    mayTry: 'next-model',
    message: 'An image of the request is too large.',
  },
  imageTooSmall: {
    errorType: 'image_too_small',
    mayTry: 'next-model',
    message: 'An image of the request is too small.',
  },
  imageFormat: {
    errorType: 'unsupported_image_format',
    mayTry: 'next-model',
    message: 'The provider does not read this kind of image.',
  },
} as const satisfies Readonly<Record<string, FailureMeaning>>;
