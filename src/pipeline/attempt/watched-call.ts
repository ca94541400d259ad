import { timeoutFailure, transportFailure } from '../../canonical/failure/classify-failure.ts';
import type { UpstreamFailure } from '../../canonical/failure/failure.ts';
import { UnknownEncodingError } from '../../lib/net/inflate-response.ts';
import { TransportError, type Call, type InboundAnswer } from '../../lib/net/http-client.ts';
import type { StreamDecoder } from '../../wire/format.ts';
import { NO_ANSWER_ROOM } from '../response/whole-response-budget.ts';
import { Watch } from './watchdog.ts';
import type { Cancellation } from '../../lib/async/cancellation.ts';

/** After the last event an upstream may take this long to close; then its connection is dropped. */
const LINGER_MS = 5_000;

/** After the reason to stop and the counts the terminal frame, or the close, may take this long; then the answer is over without. */
const FAREWELL_MS = 2_000;

/** The name of an encoding in an error; cut. */
const ENCODING_CHARS_MAX = 40;

const NO_MEMORY: UpstreamFailure = {
  ...NO_ANSWER_ROOM,
  message: 'The gateway has no memory left for the response of the provider. Try again later.',
};

/** The response is larger than the gateway holds in memory. */
export class ResponseTooLarge extends Error {}

/** One call under way, its running time limit, and the cancellation that ends it. A class because it lives as long as its answer. */
export class WatchedCall {
  readonly answer: Promise<InboundAnswer>;
  readonly watch: Watch;
  readonly #call: Call;
  readonly #cancellation: Cancellation;
  readonly #cancel: () => void;
  #farewell: NodeJS.Timeout | undefined;
  #isFarewellOverdue = false;

  /** @param cancellation aborted when the caller is gone or the request's time is up */
  constructor(call: Call, cancellation: Cancellation) {
    this.answer = call.answer;
    this.#call = call;
    this.#cancellation = cancellation;
    // Not assigned to the member at once: see tests/architecture/closures-of-requests.test.ts.
    const cancel = (): void => call.cancel();
    this.#cancel = cancel;
    this.watch = new Watch(this.#cancel);
    cancellation.onAbort(this.#cancel);
  }

  /** Nothing that is still to come is waited for. */
  finish(): void {
    this.watch.disarm();
    clearTimeout(this.#farewell);
    this.#cancellation.offAbort(this.#cancel);
  }

  /**
   * The next bytes of the answer. One that is complete but for its terminal frame ends a little later without it, and by a
   * reset as by a close (@spec stream-10).
   */
  readOn(answer: InboundAnswer, decoder: StreamDecoder): Promise<Uint8Array | undefined> {
    if (decoder.isComplete?.() !== true) return answer.read();
    this.#farewell ??= setTimeout(() => {
      this.#isFarewellOverdue = true;
      this.#cancel();
    }, FAREWELL_MS);
    return answer.read().catch((error: unknown) => {
      const isReset = error instanceof TransportError && error.kind === 'reset' && !this.#cancellation.aborted;
      if (this.#isFarewellOverdue || isReset) return undefined;
      throw error;
    });
  }

  /** Drops the connection. */
  cancel(): void {
    this.#call.cancel();
  }

  /** After the last event: what the upstream still sends is dropped. */
  release(): void {
    this.#call.release(LINGER_MS);
  }

  /** What an error of this call means. @throws what is none of its errors: a bug */
  explain(error: unknown): UpstreamFailure {
    if (this.watch.expired !== undefined) return timeoutFailure(this.watch.expired, this.watch.cutAfterMs);
    if (this.#cancellation.aborted) return abortFailure(this.#cancellation);
    if (error instanceof ResponseTooLarge || error instanceof RangeError) return transportFailure('too-large');
    if (!(error instanceof TransportError)) throw error;
    if (error.kind === 'connect-timeout') return timeoutFailure('connect');
    if (error.kind === 'protocol') return transportFailure('garbage');
    if (error.kind === 'no-memory') return NO_MEMORY;
    if (error.kind === 'encoding') return encodingFailure(error.cause);
    return { ...transportFailure(error.kind), ...explainCause(error) };
  }
}

/** @source node `tls` and OpenSSL: X509 certificate error codes, `ERR_TLS_*`, `ERR_SSL_*`; EPROTO for what is no TLS */
const TLS_CODE =
  /^(?:ERR_(?:SSL|TLS)_|EPROTO$|CERT_|CRL_|DEPTH_ZERO_|SELF_SIGNED_|UNABLE_TO_|INVALID_(?:CA|PURPOSE)|HOSTNAME_MISMATCH)/;
const CAUSE_CHARS_MAX = 80;

/** A handshake that fails is said to be one: a certificate is not mended where an address is looked for. */
function explainCause({ kind, cause }: TransportError): { readonly cause?: string; readonly message?: string } {
  if (!(cause instanceof Error && 'code' in cause) || typeof cause.code !== 'string') return {};
  const code = cause.code.slice(0, CAUSE_CHARS_MAX);
  if (kind !== 'connect' || !TLS_CODE.test(code)) return { cause: code };
  return { cause: code, message: `The TLS handshake with the provider failed: ${code}.` };
}

/** @param cause an UnknownEncodingError */
function encodingFailure(cause: unknown): UpstreamFailure {
  const encoding = cause instanceof UnknownEncodingError ? cause.encoding : '';
  const name = encoding.replaceAll(/[^\x20-\x7e]/g, '?').slice(0, ENCODING_CHARS_MAX);
  const message = `The provider's response could not be read: its content encoding "${name}" is none of gzip, br, deflate and zstd.`;
  return { ...transportFailure('garbage'), message };
}

/** A client that sends it again is stopped again, so the status is none that clients retry. @spec generation-18 */
const STOPPED: UpstreamFailure = {
  ...transportFailure('aborted'),
  errorType: 'permission_denied',
  status: 403,
  message: 'The request was stopped by its key or an operator of the gateway.',
};

/** The total limit aborts with its clock's name as the reason; a caller that hangs up with `gone`. */
export function abortFailure(cancellation: Pick<Cancellation, 'reason'>): UpstreamFailure {
  if (cancellation.reason === 'stopped') return STOPPED;
  return cancellation.reason === 'total' ? timeoutFailure('total') : transportFailure('aborted');
}
