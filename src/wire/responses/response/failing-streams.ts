import { isLengthError, type ErrorType, type GatewayError } from '../../../canonical/gateway-error.ts';
import type { GenerationRequest } from '../../../canonical/request.ts';

/** How a request that cannot be served is refused. */
export interface RefusalSettings {
  readonly lengthErrors: 'failed' | 'incomplete';
  /** Of statuses 402, 429 and 5xx, where the caller does not say. */
  readonly streamErrors: 'status' | 'in-band';
}

/** Codex shortens the history for a stream that fails so, and takes a status of 400 for the end. */
const TOO_LONG: ReadonlySet<ErrorType> = new Set([
  'context_length_exceeded',
  'token_limit_exceeded',
  'max_tokens_exceeded',
]);

/** Whether a stream is opened only to say that it fails. */
export function failsInStream(
  error: GatewayError,
  { response }: GenerationRequest,
  settings: RefusalSettings,
): boolean {
  const isTooLong = settings.lengthErrors === 'incomplete' ? isLengthError(error.type) : TOO_LONG.has(error.type);
  if (isTooLong) return true;
  const isInBand = response?.failsInStream ?? settings.streamErrors === 'in-band';
  return isInBand && (error.status === 402 || error.status === 429 || error.status >= 500);
}
