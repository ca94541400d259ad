import type { ErrorType } from './gateway-error.ts';

const LENGTH_ERRORS: ReadonlySet<ErrorType> = new Set([
  'context_length_exceeded',
  'max_tokens_exceeded',
  'token_limit_exceeded',
  'string_too_long',
]);

/** Whether an error says that there is no room for more: after output that is an end, not a failure. @spec translate-29 */
export function isLengthError(errorType: ErrorType): boolean {
  return LENGTH_ERRORS.has(errorType);
}
