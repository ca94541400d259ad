import { failureOfMeaning, MEANINGS, type MeaningOfFailure } from '../../canonical/failure/failure-meaning.ts';
import type { CallContext, FailedAnswer, ProviderAdapter } from '../contract.ts';
import { dialectOf } from './dialect.ts';

/** The only version that the vendor has published since 2023. */
const API_VERSION = '2023-06-01';

// A spent balance and a spend limit are 400 `invalid_request_error` here, distinguished only by their messages:
// platform.claude.com "Errors", read 2026-11.
const OUT_OF_CREDIT_WORDS = /credit balance is too low|reached your specified (?:workspace )?API usage limits/i;
const TOO_LONG_WORDS = /prompt is too long|exceeds? context limit/i;

/** Anthropic itself. Hosts that merely speak its format are `messages-compatible`. */
export const anthropicAdapter: ProviderAdapter = {
  id: 'anthropic',
  name: 'Anthropic',
  baseUrl: 'https://api.anthropic.com/v1',
  apiKeyVariable: 'ANTHROPIC_API_KEY',
  formats: [{ format: 'messages' }],
  countTokensPath: '/messages/count_tokens',
  // @spec money-18: hanging up stops the meter.
  cancellable: true,
  dialect: ({ model }) => dialectOf(model),
  authorize,
  classify,
};

function authorize({ settings }: CallContext): Readonly<Record<string, string>> {
  return {
    'anthropic-version': API_VERSION,
    ...(settings.apiKey !== undefined && { 'x-api-key': settings.apiKey }),
  };
}

/** What the vendor's errors mean where the status misleads. @spec error-13 */
function classify({ status, error }: FailedAnswer): MeaningOfFailure | undefined {
  const message = error.message ?? '';
  if (error.type === 'overloaded_error') return failureOfMeaning(MEANINGS.overloaded);
  // A monthly cap looks like a rate limit, without `retry-after`, until the month is over.
  if (error.code === 'enforced_spend_limit_reached' || error.code === 'credit_balance_too_low')
    return failureOfMeaning(MEANINGS.outOfQuota);
  if (status === 400 && OUT_OF_CREDIT_WORDS.test(message)) return failureOfMeaning(MEANINGS.outOfQuota);
  if (status === 400 && TOO_LONG_WORDS.test(message)) return failureOfMeaning(MEANINGS.tooLong);
  return undefined;
}
