import { abortFailure } from '../attempt/watched-call.ts';
import type { EventBatch, EventSource } from '../../canonical/events.ts';
import type { UpstreamFailure } from '../../canonical/failure/failure.ts';
import type { GenerationRequest } from '../../canonical/request.ts';
import type { Provider } from '../../providers/contract.ts';
import type { Candidate } from '../../routing/route-plan.ts';
import type { Fallback } from '../attempt/fallback.ts';
import { DeliveredResponse } from './delivered-response.ts';
import type { RouteOutcome } from '../route/route-outcome.ts';
import { breakIn, createContinuationCandidates, EARLY_END, type RescueMethod } from './continuation-candidates.ts';
import type { RequestFacts, UpstreamResponse } from '../request.ts';
import type { Cancellation } from '../../lib/async/cancellation.ts';

export interface FailoverInput {
  readonly providers: ReadonlyMap<string, Provider>;
  readonly request: GenerationRequest;
  readonly fallback: Pick<Fallback, 'continueAfter'>;
  readonly facts: RequestFacts;
  readonly outcome: Pick<RouteOutcome, 'committed' | 'brokeOff'>;
  readonly cancellation: Pick<Cancellation, 'aborted' | 'reason'>;
  /** Whether it is the caller's doing where an upstream that stood still meanwhile hangs up. */
  readonly wasCallerSlow: () => boolean;
  /** Reserves money for one more endpoint, which continues from that text. `false`: too little is left. */
  readonly reserve: (delivered: string) => Promise<boolean>;
}

/**
 * Continues a response whose stream breaks off: it calls the remaining candidates. One that is known to continue a text
 * gets the text; any other responds anew, and its text is delivered from where it goes beyond what the caller has. Nothing
 * is delivered twice, and nothing that no model wrote.
 */
export function continuing(first: UpstreamResponse, input: FailoverInput): UpstreamResponse {
  return new ContinuedResponse(first, input);
}

/** A class, because it lives as long as its response, and represents the endpoint that serves it now. */
class ContinuedResponse implements UpstreamResponse, EventSource {
  readonly startedMs: number;
  readonly firstTokenMs: number;
  readonly echoes: UpstreamResponse['echoes'];
  readonly #input: FailoverInput;
  readonly #delivered = new DeliveredResponse();
  #current: UpstreamResponse;
  /** The first break, which the caller gets where no endpoint continues. @spec fallback-27 */
  #first: { readonly committed: UpstreamResponse; readonly ending: EventBatch } | undefined;
  #broken: UpstreamFailure | undefined;
  #isOver = false;

  constructor(first: UpstreamResponse, input: FailoverInput) {
    this.startedMs = first.startedMs;
    this.firstTokenMs = first.firstTokenMs;
    this.echoes = first.echoes;
    this.#input = input;
    this.#current = first;
  }

  get candidate(): Candidate {
    return this.#current.candidate;
  }

  get source(): EventSource {
    return this;
  }

  async read(): Promise<EventBatch | undefined> {
    while (!this.#isOver) {
      const broken = this.#broken;
      this.#broken = undefined;
      if (broken !== undefined && !(await this.#goOn(broken))) return this.#giveUp();
      const batch = this.#take(await this.#current.source.read());
      if (batch === undefined || batch.length > 0) return batch;
    }
    return undefined;
  }

  cancel(): void {
    this.#isOver = true;
    this.#current.source.cancel();
  }

  /** Returns the caller's part of the batch: all of it, unless the response breaks off there and may be continued. */
  #take(batch: EventBatch | undefined): EventBatch | undefined {
    if (batch === undefined) {
      if (!this.#mayGoOn) return undefined;
      this.#breakOff(EARLY_END, [{ type: 'failed', failure: EARLY_END }]);
      return [];
    }
    const broken = breakIn(batch);
    const before = broken === undefined ? batch : batch.slice(0, broken.at);
    this.#delivered.push(before);
    if (broken === undefined || !this.#mayGoOn) return batch;
    this.#breakOff(broken.failure, batch.slice(broken.at));
    return before;
  }

  /** Returns false after the caller has disconnected, or when the time of the request is over. */
  get #mayGoOn(): boolean {
    return !this.#input.cancellation.aborted && this.#delivered.canGoOn;
  }

  #breakOff(failure: UpstreamFailure, ending: EventBatch): void {
    this.#broken = failure;
    this.#first ??= { committed: this.#current, ending };
    this.#current.source.cancel();
    const { outcome, wasCallerSlow } = this.#input;
    outcome.brokeOff(failure.kind === 'reset' && wasCallerSlow() ? undefined : failure);
  }

  async #goOn(failure: UpstreamFailure): Promise<boolean> {
    const { providers, request, fallback, outcome, facts } = this.#input;
    const from = this.#current.candidate;
    if (!(await this.#input.reserve(this.#delivered.text))) {
      noteUnfunded(facts, from, this.#delivered.text.length);
      return false;
    }
    const candidates = createContinuationCandidates(providers, request, this.#delivered);
    const response = await fallback.continueAfter(failure, candidates);
    if (response === undefined) return false;
    const method = candidates.methodOf(response.candidate);
    const { text } = this.#delivered;
    facts.meter.bytes += candidates.leftOutBytes;
    if (method === 'prefill') facts.meter.givenBytes = Buffer.byteLength(text);
    recordFailover(facts, from, response.candidate, method, text.length);
    this.#current = outcome.committed(response);
    return true;
  }

  /** Ends with the error of the first break. A caller that disconnected meanwhile is charged for what it has. */
  #giveUp(): EventBatch | undefined {
    const { facts, cancellation } = this.#input;
    this.#isOver = true;
    if (cancellation.aborted && cancellation.reason !== 'total')
      return [{ type: 'failed', failure: abortFailure(cancellation) }];
    facts.log.rescues.push('failed');
    facts.meter.failure = undefined;
    if (this.#first === undefined) return undefined;
    this.#current = this.#first.committed;
    return this.#first.ending;
  }
}

/** Reports which endpoint continued, how, and after how much text. */
function recordFailover(
  { log, report }: RequestFacts,
  from: Candidate,
  to: Candidate,
  method: RescueMethod,
  characters: number,
): void {
  const how = method === 'prefill' ? 'went on from its last word' : 'answered anew, and was joined to it';
  const summary = `The response of ${from.endpoint.providerName} broke off after ${characters} characters; ${to.endpoint.providerName} ${how}`;
  log.rescues.push(method);
  log.warn([{ code: 'answer-rescued', path: 'stream', message: summary }]);
  report.pipeline.push({
    type: 'rescue',
    name: 'mid-stream-rescue',
    summary,
    data: { method, characters, from: nameOf(from), to: nameOf(to) },
  });
}

function noteUnfunded({ report }: RequestFacts, from: Candidate, characters: number): void {
  const summary = `The response of ${from.endpoint.providerName} broke off after ${characters} characters; the caller's limits leave too little for another endpoint to go on`;
  report.pipeline.push({
    type: 'rescue',
    name: 'mid-stream-rescue',
    summary,
    data: { characters, from: nameOf(from) },
  });
}

function nameOf({ endpoint }: Candidate): { readonly provider: string; readonly model: string } {
  return { provider: endpoint.providerName, model: endpoint.model };
}
