import {
  failureOfMeaning,
  MEANINGS,
  type FailureMeaning,
  type MeaningOfFailure,
} from '../../canonical/failure/failure-meaning.ts';
import type { FailedAnswer } from '../contract.ts';

// ai.google.dev "Troubleshooting", "Rate limits", read 2026-11. A wrong key is a 400 here, as is a caller in an
// unsupported country; only the messages distinguish them from a bad request.
const BAD_KEY = /API key (?:not valid|expired|not found)|API_KEY_INVALID/i;
const WRONG_REGION = /location is not supported/i;
const TOO_LONG = /exceeds the maximum number of tokens|input token count/i;
const OVERLOADED = /overloaded|high demand/i;
/** Other models may take it: "Function calling is not enabled for models/..." BerriAI/litellm#10313 (2025-04) */
const NOT_ENABLED = /\bnot (?:enabled|supported) (?:for|by) (?:this model|models\/)/i;
/** charmbracelet/crush#995 (2025-09); google-gemini/gemini-cli#5064 (2025-07); AmberSahdev/Open-Interface#64 (2025-08) */
const WRONG_TYPE = /unsupported mime type/i;
const BAD_IMAGE = /unable to process input image|provided image is not valid/i;
/** google-gemini/deprecated-generative-ai-android#26 (2023-12) */
const TOO_LARGE = /request payload size exceeds/i;

const MEANINGS_OF_400: readonly (readonly [words: RegExp, meaning: FailureMeaning])[] = [
  [BAD_KEY, MEANINGS.rejectedCredentials],
  [WRONG_REGION, MEANINGS.wrongRegion],
  [TOO_LONG, MEANINGS.tooLong],
  [NOT_ENABLED, MEANINGS.unsupportedParameter],
  [WRONG_TYPE, MEANINGS.imageFormat],
  [BAD_IMAGE, MEANINGS.badImage],
  [TOO_LARGE, MEANINGS.tooLarge],
];

/** What Google's errors mean where the status misleads. @spec error-13 */
export function classify({ status, error }: FailedAnswer): MeaningOfFailure | undefined {
  const words = `${error.code ?? ''} ${error.type ?? ''} ${error.message ?? ''}`;
  const meaning = status === 400 ? MEANINGS_OF_400.find(([known]) => known.test(words))?.[1] : undefined;
  if (meaning !== undefined) return failureOfMeaning(meaning);
  if (status === 503 && OVERLOADED.test(words)) return failureOfMeaning(MEANINGS.overloaded);
  return undefined;
}
