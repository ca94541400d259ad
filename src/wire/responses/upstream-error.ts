import { classifyErrorEvent } from '../../canonical/classify-failure.ts';
import { failureOfMeaning, MEANINGS, type FailureMeaning } from '../../canonical/failure-meaning.ts';
import type { UpstreamFailure } from '../../canonical/failure.ts';
import type { Json } from '../../lib/json.ts';
import { readError, statusOfError } from '../read-error.ts';

/**
 * Codes of `response.error` whose words do not show the status that they would have outside of a stream; the first that
 * matches counts. Vendor's SDK, openai 7.55 (2026-11), `ResponseError.code`.
 */
const STATUS_OF_CODE: readonly (readonly [code: RegExp, status: number])[] = [
  [/_timeout$/, 504],
  [/_is_overloaded$|^slow_down$/, 529],
  // About a picture of the request: also `image_file_not_found` is no missing model.
  [/image|_media_type$/, 400],
  [/_policy(?:_violation)?$|_mismatch$/, 400],
];
/** Codes that mean something else than their status says; the first that matches counts. */
const MEANING_OF_CODE: readonly (readonly [code: RegExp, meaning: FailureMeaning])[] = [
  // Despite its name `invalid_prompt` means that the prompt was flagged by a usage policy.
  [/_policy(?:_violation)?$|^invalid_prompt$/, MEANINGS.refused],
  [/^insufficient_quota$/, MEANINGS.outOfQuota],
  [/^image_.*too_large$/, MEANINGS.imageTooLarge],
  [/^image_too_small$/, MEANINGS.imageTooSmall],
  [/^image_file_not_found$/, MEANINGS.imageNotFound],
  [/^failed_to_download_image$|^invalid_image_url$/, MEANINGS.downloadFailed],
  [/^invalid_image_format$|^unsupported_image_media_type$/, MEANINGS.imageFormat],
  [/image/, MEANINGS.badImage],
];

/** What an error inside an answer of status 200 means: an `error` event, `response.error`. @source generation.md 8.4 */
export function readFailure(error: Json | undefined): UpstreamFailure {
  const body = readError(error);
  const code = body.code ?? '';
  const failure = classifyErrorEvent(find(STATUS_OF_CODE, code) ?? statusOfError(error), body);
  const meaning = find(MEANING_OF_CODE, code);
  return meaning === undefined ? failure : { ...failure, ...failureOfMeaning(meaning) };
}

function find<Value>(table: readonly (readonly [RegExp, Value])[], code: string): Value | undefined {
  return table.find(([pattern]) => pattern.test(code))?.[1];
}
