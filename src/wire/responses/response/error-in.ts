import { classifyErrorEvent } from '../../../canonical/failure/classify-failure.ts';
import type { UpstreamFailure } from '../../../canonical/failure/failure.ts';
import type { Json } from '../../../lib/json.ts';
import { parseError, statusOfError } from '../../upstream-error.ts';

/**
 * Codes of `response.error` whose names do not show the status that they would have outside of a stream; the first that
 * matches counts. Vendor's SDK, openai 7.55 (2026-11), `ResponseError.code`.
 */
const STATUS_OF_CODE: readonly (readonly [code: RegExp, status: number])[] = [
  [/_timeout$/, 504],
  [/_is_overloaded$|^slow_down$/, 529],
  // About a picture of the request: also `image_file_not_found` is no missing model.
  [/image|_media_type$/, 400],
  [/_policy(?:_violation)?$|_mismatch$/, 400],
];
/** What an error inside a response of status 200 means: an `error` event, `response.error`. @spec error-13 */
export function failureOfError(error: Json | undefined): UpstreamFailure {
  const body = parseError(error);
  const known = STATUS_OF_CODE.find(([words]) => words.test(body.code ?? ''));
  return classifyErrorEvent(known?.[1] ?? statusOfError(error), body);
}
