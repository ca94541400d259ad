import {
  failureOfMeaning,
  MEANINGS,
  type FailureMeaning,
  type MeaningOfFailure,
} from '../../canonical/failure/failure-meaning.ts';
import type { FailedAnswer } from '../contract.ts';

/** "a request or response contains a deny-listed token": the vendor's OpenAPI document, `InvalidToken` (2026-08). */
const DENIED_TOKEN = 498;

const ANSWER_TOO_LONG: FailureMeaning = {
  errorType: 'max_tokens_exceeded',
  mayTry: 'next-endpoint',
  message: 'The response may not be as long as requested.',
};

// Words of the vendor's list of errors, docs.cohere.com "Errors", read 2026-11; the first that match count.
const MEANING_OF_WORDS: readonly (readonly [words: RegExp, meaning: FailureMeaning])[] = [
  [/max tokens must be less than/i, ANSWER_TOO_LONG],
  [/too many tokens/i, MEANINGS.tooLong],
  [
    /(?:is|are) not supported (?:for|by|with)\b|cannot specify both|can be specified for this model/i,
    MEANINGS.unsupportedParameter,
  ],
];
const OUT_OF_MONEY = /billing|payment method/i;

/** What Cohere's errors mean where the status misleads. @spec error-13 */
export function classify({ status, error }: FailedAnswer): MeaningOfFailure | undefined {
  const message = error.message ?? '';
  if (status === DENIED_TOKEN) return failureOfMeaning(MEANINGS.refused);
  if (error.type === 'TOO_MANY_TOKENS' && status === 400 && !/max tokens must/i.test(message))
    return failureOfMeaning(MEANINGS.tooLong);
  if (status === 402 || (status === 429 && OUT_OF_MONEY.test(message))) return failureOfMeaning(MEANINGS.outOfQuota);
  const meaning = status === 400 ? MEANING_OF_WORDS.find(([words]) => words.test(message))?.[1] : undefined;
  return meaning && failureOfMeaning(meaning);
}
