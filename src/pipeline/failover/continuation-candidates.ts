import { classifyErrorEvent, transportFailure } from '../../canonical/failure/classify-failure.ts';
import type { EventBatch, EventSource } from '../../canonical/events.ts';
import type { UpstreamFailure } from '../../canonical/failure/failure.ts';
import type { GenerationRequest } from '../../canonical/request.ts';
import type { Endpoint } from '../../catalog/model.ts';
import type { Provider } from '../../providers/contract.ts';
import type { Candidate } from '../../routing/route-plan.ts';
import { toContinuationRequest, canPrefill, isStructured } from './request-continuation.ts';
import type { Continuation } from '../attempt/fallback.ts';
import type { DeliveredResponse } from './delivered-response.ts';
import { ContinuedResponse } from './continuation.ts';
import { spliceContinuation, spliceRestart } from './splice.ts';

/** How a candidate continues a response: with the response so far as its own last turn, or with the request as it was. */
export type RescueMethod = 'prefill' | 'restart';

const SERVER_ERROR = 500;
const UNSPLICEABLE: UpstreamFailure = {
  kind: 'unspliceable',
  errorType: 'provider_unavailable',
  status: 502,
  upstreamStatus: 200,
  message: 'Another response of the provider does not continue what the caller already has.',
  mayTry: 'next-endpoint',
};
/** The candidate may have repeated the text, or have continued with the same words: a new response shows which. */
const UNCLEAR: UpstreamFailure = {
  ...UNSPLICEABLE,
  message: 'The response of the provider may continue what the caller already has, or may repeat it.',
};

/** The failure of a stream that ends without one. */
export const EARLY_END = transportFailure('early-end');

/** Finds where a response breaks off in a batch, and why; `undefined`: it does not. */
export function breakIn(batch: EventBatch): { readonly at: number; readonly failure: UpstreamFailure } | undefined {
  for (const [at, event] of batch.entries()) {
    if (event.type === 'failed') return { at, failure: event.failure };
    if (event.type === 'end' && event.finish === 'error') return { at, failure: classifyErrorEvent(SERVER_ERROR, {}) };
  }
  return undefined;
}

/** The candidates that may continue a response, and how each is called. */
export interface ContinuationCandidates extends Continuation {
  methodOf(candidate: Candidate): RescueMethod;
  /** Text and reasoning of the continuation that the caller has already, or cannot use. Bytes. */
  readonly leftOutBytes: number;
}

/**
 * The candidates that may continue what was delivered. A response that begins anew and differs is tried once: another
 * one would hardly repeat what that one did not.
 */
export function createContinuationCandidates(
  providers: ReadonlyMap<string, Provider>,
  request: GenerationRequest,
  delivered: DeliveredResponse,
): ContinuationCandidates {
  const refusing = new Set<Endpoint>();
  let mayRestart = true;
  let answer: ContinuedResponse | undefined;

  function methodOf(candidate: Candidate): RescueMethod {
    const { endpoint, format } = candidate;
    const dialect = providers.get(endpoint.provider)?.adapter.dialect({ format, model: endpoint.upstreamModel });
    if (dialect === undefined || refusing.has(endpoint)) return 'restart';
    return canPrefill(candidate, dialect, request, delivered.text) ? 'prefill' : 'restart';
  }

  return {
    methodOf,
    get leftOutBytes() {
      return answer?.leftOutBytes ?? 0;
    },
    requestFor: (candidate, originalRequest) =>
      methodOf(candidate) === 'prefill' ? toContinuationRequest(originalRequest, delivered.text) : originalRequest,
    async admit(candidate, source) {
      const { text } = delivered;
      const isStructuredResponse = isStructured(request.settings);
      // White space alone cannot be recognized: any response may follow it.
      const follows = methodOf(candidate) === 'prefill' || (text.trim() === '' && !isStructuredResponse);
      const splice = follows ? spliceContinuation(text) : spliceRestart(text, { exact: isStructuredResponse });
      answer = new ContinuedResponse(delivered, splice);
      const admitted = await join(answer, source);
      if (!('kind' in admitted) || admitted.kind !== 'unspliceable') return admitted;
      if (answer.isUnclear) return UNCLEAR;
      mayRestart = false;
      return admitted;
    },
    triesAgain(candidate, failure) {
      if (!mayRestart || methodOf(candidate) !== 'prefill') return false;
      if (failure !== UNCLEAR && !refusesBeginning(failure)) return false;
      refusing.add(candidate.endpoint);
      return true;
    },
    mayFollow: (candidate) => methodOf(candidate) === 'prefill',
  };
}

const INVALID_STATUSES: ReadonlySet<number> = new Set([400, 422]);

/** Returns whether the prefill is at fault: the endpoint accepted the request before without it. */
function refusesBeginning({ kind, upstreamStatus }: UpstreamFailure): boolean {
  return kind === 'unsayable' || (kind === 'status' && INVALID_STATUSES.has(upstreamStatus ?? 0));
}

/** Reads until it is known whether the response continues the one before. */
async function join(answer: ContinuedResponse, source: EventSource): Promise<EventSource | UpstreamFailure> {
  for (;;) {
    const batch = await source.read();
    if (batch === undefined) return EARLY_END;
    const broken = breakIn(batch);
    const outcome = answer.push(broken === undefined ? batch : batch.slice(0, broken.at));
    if (outcome.type === 'apart') return UNSPLICEABLE;
    if (outcome.type === 'joined')
      return followed(
        answer,
        source,
        broken === undefined ? outcome.events : [...outcome.events, ...batch.slice(broken.at)],
      );
    if (broken !== undefined) return broken.failure;
  }
}

function followed(answer: ContinuedResponse, source: EventSource, joined: EventBatch): EventSource {
  let first: EventBatch | undefined = joined;
  return {
    async read() {
      const batch = first ?? (await source.read());
      if (batch === undefined || batch === first) {
        first = undefined;
        return batch;
      }
      const outcome = answer.push(batch);
      return outcome.type === 'joined' ? outcome.events : [];
    },
    cancel: () => source.cancel(),
  };
}
