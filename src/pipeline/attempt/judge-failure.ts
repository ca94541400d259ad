import { failureOfMeaning, MEANINGS, type FailureMeaning } from '../../canonical/failure/failure-meaning.ts';
import type { UpstreamFailure } from '../../canonical/failure/failure.ts';
import type { Provider } from '../../providers/contract.ts';
import { redactSecrets } from './redact-secrets.ts';

/**
 * What an upstream's failure means at this very provider, and without its secrets. The same for an error that is a
 * status and for one inside an answer of status 200.
 */
export function judgeFailure({ errorBody, ...failure }: UpstreamFailure, provider: Provider): UpstreamFailure {
  const { adapter, settings } = provider;
  const status = failure.upstreamStatus;
  const known =
    errorBody === undefined || status === undefined ? undefined : adapter.classify?.({ status, error: errorBody });
  const judged = { ...failure, ...known };
  return redactSecrets(provider.isByok === true ? asOwn(judged) : judged, settings);
}

/** What is wrong with a credential of the caller's own is the caller's to mend. @spec byok-12 */
const MEANING_OF_OWN: Readonly<Record<number, FailureMeaning>> = {
  401: {
    errorType: 'authentication',
    mayTry: 'next-endpoint',
    message: "The provider refused the account's own credential.",
  },
  403: {
    errorType: 'permission_denied',
    mayTry: 'next-endpoint',
    message: "The provider does not let the account's own credential do this.",
  },
};

function asOwn(failure: UpstreamFailure): UpstreamFailure {
  const meaning = MEANING_OF_OWN[failure.upstreamStatus ?? 0];
  // A prompt that was flagged, or a region that is closed, has the same status.
  if (meaning === undefined || failure.message !== MEANINGS.rejectedCredentials.message) return failure;
  return { ...failure, ...failureOfMeaning(meaning) };
}
