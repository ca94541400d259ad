import type { EventBatch } from '../canonical/events.ts';
import type { UpstreamFailure } from '../canonical/failure.ts';
import type { ProviderSettings } from '../providers/contract.ts';
import type { AttemptOutcome } from './attempt.ts';

/** Shorter than any credential; a header like `x-mode: fast` is none. */
const SECRET_CHARS_MIN = 8;
const CENSOR = '[redacted]';

/**
 * An outcome whose failure, now or later in the stream, cannot say back what the gateway sent to identify itself. Hosts
 * echo it ("Incorrect API key provided: ..."), and only the value itself tells a key without a well-known beginning.
 */
export function withoutSecrets(outcome: AttemptOutcome, settings: ProviderSettings): AttemptOutcome {
  if (!outcome.committed) return { committed: false, failure: redactFailure(outcome.failure, settings) };
  const { source } = outcome;
  return {
    committed: true,
    source: {
      read: async () => redactBatch(await source.read(), settings),
      cancel: () => source.cancel(),
    },
  };
}

/** A failure is the last event of its stream. */
function redactBatch(batch: EventBatch | undefined, settings: ProviderSettings): EventBatch | undefined {
  const last = batch?.at(-1);
  if (batch === undefined || last?.type !== 'failed') return batch;
  return batch.with(-1, { type: 'failed', failure: redactFailure(last.failure, settings) });
}

function redactFailure(failure: UpstreamFailure, settings: ProviderSettings): UpstreamFailure {
  const { upstreamMessage, providerCode } = failure;
  return {
    ...failure,
    ...(upstreamMessage !== undefined && { upstreamMessage: redact(upstreamMessage, settings) }),
    ...(providerCode !== undefined && { providerCode: redact(providerCode, settings) }),
  };
}

function redact(text: string, { apiKey, headers }: ProviderSettings): string {
  let clean = text;
  for (const secret of [apiKey ?? '', ...Object.values(headers)]) {
    if (secret.length < SECRET_CHARS_MIN) continue;
    clean = clean.replaceAll(secret, CENSOR);
    // The text was cut to its bound before: its end may be the beginning of the secret.
    for (let chars = secret.length - 1; chars >= SECRET_CHARS_MIN; chars--)
      if (clean.endsWith(secret.slice(0, chars))) clean = clean.slice(0, -chars) + CENSOR;
  }
  return clean;
}
