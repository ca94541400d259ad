import { failureOfMeaning, MEANINGS, type MeaningOfFailure } from '../../canonical/failure-meaning.ts';
import type { FailedAnswer } from '../contract.ts';

// ai.google.dev "Troubleshooting", "Rate limits", read 2026-11. A key that is wrong is a 400 here, as is a caller in a
// country that is not served; only the words tell them from a bad request.
const BAD_KEY = /API key (?:not valid|expired|not found)|API_KEY_INVALID/i;
const WRONG_REGION = /location is not supported/i;
const TOO_LONG = /exceeds the maximum number of tokens|input token count/i;
const OVERLOADED = /overloaded|high demand/i;

/** What Google's errors mean where the status misleads. @source generation.md 8.4 */
export function classify({ status, error }: FailedAnswer): MeaningOfFailure | undefined {
  const words = `${error.code ?? ''} ${error.type ?? ''} ${error.message ?? ''}`;
  if (status === 400 && BAD_KEY.test(words)) return failureOfMeaning(MEANINGS.rejectedCredentials);
  if (status === 400 && WRONG_REGION.test(words)) return failureOfMeaning(MEANINGS.wrongRegion);
  if (status === 400 && TOO_LONG.test(words)) return failureOfMeaning(MEANINGS.tooLong);
  if (status === 503 && OVERLOADED.test(words)) return failureOfMeaning(MEANINGS.overloaded);
  return undefined;
}
