import { describeFailure } from '../../canonical/failure/failure.ts';
import { GatewayError } from '../../canonical/gateway-error.ts';
import type { NestedResponse } from '../../canonical/tools/nested-generation.ts';
import type { ClientFormat } from '../../wire/format.ts';
import type { Generate, IncomingRequest, ResponseWriter } from '../request.ts';

/** The response of a generation whose caller is a step of another request. */
export interface CollectedResponse extends NestedResponse {
  /** Display name of the provider that served it. */
  readonly provider: string;
  /** The price is unknown, which is not zero. */
  readonly isUnpriced: boolean;
}

/**
 * Runs a generation and gives its folded response. Settles when its charge is durable, too.
 * @throws GatewayError as the generation's own caller would get it
 */
export async function collectResponse(
  generate: Generate,
  incoming: IncomingRequest,
  format: ClientFormat,
  signals: readonly AbortSignal[],
): Promise<CollectedResponse> {
  let answered: CollectedResponse | undefined;
  let refusal: GatewayError | undefined;
  const collecting: ClientFormat = {
    ...format,
    supports: () => true,
    encodeWhole(response, { id, model, provider }, { usage, charge }) {
      const costNanoUsd = charge?.totalNanoUsd ?? 0;
      answered = {
        generationId: id,
        model,
        provider: provider ?? '',
        response,
        usage,
        costNanoUsd,
        isUnpriced: charge === undefined,
      };
      return '';
    },
  };
  // Not `AbortSignal.any`: Node keeps its signal, with all that listens to it, for as long as it has not aborted.
  const gone: (() => void)[] = [];
  const writer: ResponseWriter = {
    onGone(listener) {
      if (signals.some(({ aborted }) => aborted)) return listener();
      gone.push(listener);
      for (const signal of signals) signal.addEventListener('abort', listener, { once: true });
    },
    started: false,
    announce: () => undefined,
    startStream: () => undefined,
    write: () => true,
    drained: () => Promise.resolve(),
    end: () => undefined,
    answer: () => undefined,
    refuse: (error) => void (refusal = error),
  };
  try {
    await generate(incoming, collecting, writer);
  } finally {
    for (const signal of signals) for (const listener of gone) signal.removeEventListener('abort', listener);
  }
  if (refusal !== undefined) throw refusal;
  if (answered === undefined) throw new GatewayError('server', 'The nested generation gave no response.');
  const { failure } = answered.response;
  // Half a response is none: the step that waits would take it for the whole.
  if (failure !== undefined)
    throw new GatewayError(failure.errorType, describeFailure(failure), { status: failure.status });
  return answered;
}
