import { transportFailure } from '../canonical/classify-failure.ts';
import type { EventBatch, EventSource } from '../canonical/events.ts';
import type { UpstreamFailure } from '../canonical/failure.ts';
import type { GenerationRequest } from '../canonical/request.ts';
import type { Provider } from '../providers/contract.ts';
import type { Candidate } from '../routing/plan.ts';
import type { GenerationRecord } from '../telemetry/record.ts';
import type { Attempts, Committed } from './attempts.ts';
import { DeliveredAnswer } from './delivered-answer.ts';
import type { OutcomeWatch } from './note-outcome.ts';
import { breakIn, createSuccessors, EARLY_END, type RescueMethod } from './successors.ts';

export interface RescueQuestion {
  readonly providers: ReadonlyMap<string, Provider>;
  readonly request: GenerationRequest;
  readonly attempts: Pick<Attempts, 'goOn'>;
  readonly record: GenerationRecord;
  readonly outcome: Pick<OutcomeWatch, 'committed' | 'brokeOff'>;
  readonly signal: AbortSignal;
  /** Whether it is the caller's doing where an upstream that stood still meanwhile hangs up. */
  readonly keptUsWaiting: () => boolean;
  /** Sets money aside for one more who goes on from that text. `false`: too little is left. */
  readonly fund: (delivered: string) => Promise<boolean>;
}

/**
 * The same answer, which does not end where its stream breaks off: the candidates that are left are asked to go on with
 * it. One that is known to continues the text that it is given; any other answers anew, and what it says counts from where
 * it says what the caller has. Nothing is said twice, and nothing that no model said.
 */
export function rescuing(first: Committed, question: RescueQuestion): Committed {
  return new RescuedAnswer(first, question);
}

/** A class because it lives as long as its answer, and stands for whoever gives it now. */
class RescuedAnswer implements Committed, EventSource {
  readonly startedMs: number;
  readonly firstTokenMs: number;
  readonly echoes: Committed['echoes'];
  readonly #question: RescueQuestion;
  readonly #delivered = new DeliveredAnswer();
  #current: Committed;
  /** What stands where nobody goes on: the first break. @source pains.md 4 */
  #first: { readonly committed: Committed; readonly ending: EventBatch } | undefined;
  #broken: UpstreamFailure | undefined;
  #isOver = false;

  constructor(first: Committed, question: RescueQuestion) {
    this.startedMs = first.startedMs;
    this.firstTokenMs = first.firstTokenMs;
    this.echoes = first.echoes;
    this.#question = question;
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

  /** What of the batch is for the caller: all of it, unless the answer breaks off there and somebody may go on. */
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

  /** Not for a caller who hung up, nor when the time of the request is over. */
  get #mayGoOn(): boolean {
    return !this.#question.signal.aborted && this.#delivered.canGoOn;
  }

  #breakOff(failure: UpstreamFailure, ending: EventBatch): void {
    this.#broken = failure;
    this.#first ??= { committed: this.#current, ending };
    this.#current.source.cancel();
    const { outcome, keptUsWaiting } = this.#question;
    outcome.brokeOff(failure.kind === 'reset' && keptUsWaiting() ? undefined : failure);
  }

  async #goOn(failure: UpstreamFailure): Promise<boolean> {
    const { providers, request, attempts, outcome, record } = this.#question;
    const from = this.#current.candidate;
    if (!(await this.#question.fund(this.#delivered.text))) {
      noteUnfunded(record, from, this.#delivered.text.length);
      return false;
    }
    const successors = createSuccessors(providers, request, this.#delivered);
    const committed = await attempts.goOn(failure, successors);
    if (committed === undefined) return false;
    const method = successors.methodOf(committed.candidate);
    const { text } = this.#delivered;
    record.answerBytes += successors.leftOutBytes;
    if (method === 'prefill') record.givenBytes = Buffer.byteLength(text);
    noteRescue(record, from, committed.candidate, method, text.length);
    this.#current = outcome.committed(committed);
    return true;
  }

  /** The clean error of the first break stands. A caller that hung up meanwhile is charged for what it has. */
  #giveUp(): EventBatch | undefined {
    const { record, signal } = this.#question;
    this.#isOver = true;
    if (signal.aborted && signal.reason !== 'total') return [{ type: 'failed', failure: transportFailure('aborted') }];
    record.rescues.push('failed');
    record.failure = undefined;
    if (this.#first === undefined) return undefined;
    this.#current = this.#first.committed;
    return this.#first.ending;
  }
}

/** Told wherever the answer is told of: who went on, how, and after how much text. */
function noteRescue(
  record: GenerationRecord,
  from: Candidate,
  to: Candidate,
  method: RescueMethod,
  characters: number,
): void {
  const how = method === 'prefill' ? 'went on from its last word' : 'answered anew, and was joined to it';
  const summary = `The answer of ${from.endpoint.providerName} broke off after ${characters} characters; ${to.endpoint.providerName} ${how}`;
  record.rescues.push(method);
  record.warn([{ code: 'answer-rescued', path: 'stream', message: summary }]);
  record.report.pipeline.push({
    type: 'rescue',
    name: 'mid-stream-rescue',
    summary,
    data: { method, characters, from: nameOf(from), to: nameOf(to) },
  });
}

function noteUnfunded(record: GenerationRecord, from: Candidate, characters: number): void {
  const summary = `The answer of ${from.endpoint.providerName} broke off after ${characters} characters; the caller's limits leave too little for another endpoint to go on`;
  record.report.pipeline.push({
    type: 'rescue',
    name: 'mid-stream-rescue',
    summary,
    data: { characters, from: nameOf(from) },
  });
}

function nameOf({ endpoint }: Candidate): { readonly provider: string; readonly model: string } {
  return { provider: endpoint.providerName, model: endpoint.model };
}
