import { classifyErrorEvent, transportFailure } from '../canonical/classify-failure.ts';
import type { EventBatch, EventSource } from '../canonical/events.ts';
import type { UpstreamFailure } from '../canonical/failure.ts';
import type { GenerationRequest } from '../canonical/request.ts';
import type { Endpoint } from '../catalog/model.ts';
import type { Provider } from '../providers/contract.ts';
import type { Candidate } from '../routing/plan.ts';
import { askToGoOn, goesOn, isStructured } from './ask-to-go-on.ts';
import type { Succession } from './attempts.ts';
import type { DeliveredAnswer } from './delivered-answer.ts';
import { AnswerThatGoesOn } from './go-on.ts';
import { spliceContinuation, spliceRestart } from './splice.ts';

/** How a candidate is asked to go on: with the answer so far as its own last turn, or with the request as it was. */
export type RescueMethod = 'prefill' | 'restart';

const SERVER_ERROR = 500;
const UNSPLICEABLE: UpstreamFailure = {
  kind: 'unspliceable',
  errorType: 'provider_unavailable',
  status: 502,
  upstreamStatus: 200,
  message: 'Another answer of the provider does not go on with what was said already.',
  mayTry: 'next-endpoint',
};

/** How a break looks, where the stream says nothing. */
export const EARLY_END = transportFailure('early-end');

/** Where an answer breaks off in a batch, and why; `undefined`: it does not. */
export function breakIn(batch: EventBatch): { readonly at: number; readonly failure: UpstreamFailure } | undefined {
  for (const [at, event] of batch.entries()) {
    if (event.type === 'failed') return { at, failure: event.failure };
    if (event.type === 'end' && event.finish === 'error') return { at, failure: classifyErrorEvent(SERVER_ERROR, {}) };
  }
  return undefined;
}

export interface Successors extends Succession {
  methodOf(candidate: Candidate): RescueMethod;
  /** Of the answer that goes on: text and reasoning that the caller has already, or has no use for. Bytes. */
  readonly leftOutBytes: number;
}

/**
 * Those who may go on with what was delivered. An answer that was begun anew and says something else is tried once: another
 * one would hardly repeat what that one did not.
 */
export function createSuccessors(
  providers: ReadonlyMap<string, Provider>,
  request: GenerationRequest,
  delivered: DeliveredAnswer,
): Successors {
  const refusing = new Set<Endpoint>();
  let mayRestart = true;
  let answer: AnswerThatGoesOn | undefined;

  function methodOf(candidate: Candidate): RescueMethod {
    const { endpoint, format } = candidate;
    const dialect = providers.get(endpoint.provider)?.adapter.dialect({ format, model: endpoint.upstreamModel });
    if (dialect === undefined || refusing.has(endpoint)) return 'restart';
    return goesOn(candidate, dialect, request, delivered.text) ? 'prefill' : 'restart';
  }

  return {
    methodOf,
    get leftOutBytes() {
      return answer?.leftOutBytes ?? 0;
    },
    ask: (candidate, asked) => (methodOf(candidate) === 'prefill' ? askToGoOn(asked, delivered.text) : asked),
    async admit(candidate, source) {
      const { text } = delivered;
      const splice =
        methodOf(candidate) === 'prefill'
          ? spliceContinuation(text)
          : spliceRestart(text, { exact: isStructured(request.settings) });
      answer = new AnswerThatGoesOn(delivered, splice);
      const admitted = await join(answer, source);
      if ('kind' in admitted && admitted.kind === 'unspliceable') mayRestart = false;
      return admitted;
    },
    asksAgain(candidate, failure) {
      if (!mayRestart || methodOf(candidate) !== 'prefill' || !refusesBeginning(failure)) return false;
      refusing.add(candidate.endpoint);
      return true;
    },
    mayFollow: (candidate) => methodOf(candidate) === 'prefill',
  };
}

const INVALID_STATUSES: ReadonlySet<number> = new Set([400, 422]);

/** The request was taken before; what was put under it is what is at fault. */
function refusesBeginning({ kind, upstreamStatus }: UpstreamFailure): boolean {
  return kind === 'unsayable' || (kind === 'status' && INVALID_STATUSES.has(upstreamStatus ?? 0));
}

/** Reads until it is known whether the answer goes on with the one before. */
async function join(answer: AnswerThatGoesOn, source: EventSource): Promise<EventSource | UpstreamFailure> {
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

function followed(answer: AnswerThatGoesOn, source: EventSource, joined: EventBatch): EventSource {
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
