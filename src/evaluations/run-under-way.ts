import { hash } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import type { Principal } from '../accounts/principal.ts';
import { GatewayError } from '../canonical/gateway-error.ts';
import { assert } from '../lib/assert.ts';
import type { GenerationRequest } from '../canonical/request.ts';
import type { EvaluatedModel, RunSettings } from '../resources/evaluations.ts';
import type { EvaluationCall, EvaluationOutcome } from '../pipeline/evaluation/evaluation-calls.ts';
import type { ResultRow, RunReason, RunRow } from '../store/evaluations/columns.ts';
import type { Unit } from '../store/evaluations/runs.ts';
import { answerOf, type Answer } from './checks/answer.ts';
import { checkAnswer, type Scored } from './checks/check-answer.ts';
import { createRunCommand } from './checks/command-check.ts';
import { CostCap } from './cost-cap.ts';
import type { DatasetLines } from './dataset/dataset-lines.ts';
import type { DatasetItem } from './dataset/item.ts';
import type { EvaluationDeps } from './deps.ts';
import { failureOf } from './outcome.ts';
import { planUnits } from './plan.ts';
import { ReferenceAnswers, type ReferenceAnswer } from './reference-answers.ts';
import { judgedState, judgeQuestion, pairQuestion, pairState, requestOf } from './unit-requests.ts';

/** Attempts at an answer that fails upstream; all but the first are made when its run is resumed. */
const ATTEMPTS_MAX = 3;
const FAILURES_IN_ROW_MAX = 20;
/** Of the key or of the upstream: a request waits, and is sent again. */
const LIMITED_TRIES_MAX = 5;
const LIMITED_WAIT_MS = 5_000;
const LIMITED_WAIT_MS_MAX = 60_000;
const SAVE_EVERY_MS = 5_000;
const PPM = 1_000_000;
/** Of an answer in the estimate of what a judge reads. */
const CHARS_OF_TOKEN = 4;
const JUDGED_CHARS_MAX = 1_000_000;

/** Why a run does not go on; `undefined`: every answer is there. `changed`: it was paused, cancelled or given to another job. */
export type RunStop = { readonly reason: RunReason; readonly error?: string } | 'changed' | undefined;

export interface RunUnderWayInput {
  readonly run: RunRow;
  readonly lines: DatasetLines;
  readonly spentNanoUsd: number;
  readonly signal: AbortSignal;
  /** @throws JobLost */
  readonly save: () => Promise<void>;
}

/** What an answer came to. */
interface UnitOutcome extends Scored {
  readonly answer: Answer | undefined;
  readonly error: string | null;
  readonly generationId: string;
  readonly costNanoUsd: number;
  readonly judgeGenerationId: string | null;
  readonly judgeCostNanoUsd: number;
  readonly latencyMs: number;
  readonly outputTokens: number;
}

/** One question to one model, with the place of the item. */
interface Task {
  readonly at: number;
  readonly item: DatasetItem;
  readonly model: EvaluatedModel;
}

/** What the verdict on an answer may cost, held before the call for the answer. */
interface JudgeBudget {
  readonly judge: number;
  /** Of the answer of the model of reference; 0 where it is there. */
  readonly reference: number;
  /** That answer, where it is there. */
  readonly text?: string | undefined;
}

interface Asked extends Pick<Task, 'at' | 'item'> {
  readonly request: GenerationRequest;
  readonly budget: JudgeBudget;
}

/** Without facts: there is no judge. */
interface Judged {
  readonly score: number | null;
  readonly facts: Pick<UnitOutcome, 'judgeGenerationId' | 'judgeCostNanoUsd' | 'error'> | undefined;
}

/** Gets the answers that a run lacks, some side by side. A class because they share what is spent and when to stop. */
export class RunUnderWay {
  readonly #deps: EvaluationDeps;
  readonly #input: RunUnderWayInput;
  readonly #settings: RunSettings;
  readonly #cap: CostCap;
  /** Absent: answers are judged by themselves. */
  readonly #references: ReferenceAnswers | undefined;
  #attempts = new Map<string, number>();
  #stop: RunStop;
  #isStopped = false;
  #failuresInRow = 0;
  /** With the first answer, so that a process that ends soon after has made progress. */
  #savedMs = -Infinity;

  constructor(deps: EvaluationDeps, input: RunUnderWayInput) {
    this.#deps = deps;
    this.#input = input;
    this.#settings = input.run.settings;
    const reference = this.#settings.judge?.reference_model;
    this.#references = reference === undefined ? undefined : new ReferenceAnswers(reference);
    this.#cap = new CostCap(input.run.maxCostNanoUsd, input.spentNanoUsd);
  }

  /** @throws what the store, the engine or a bug throws: the job is run again */
  async work(): Promise<RunStop> {
    const { runs } = this.#deps;
    const { run, lines } = this.#input;
    const settled = new Set((await runs.settled(run.id, ATTEMPTS_MAX)).map(keyOf));
    this.#attempts = new Map((await runs.failed(run.id)).map((unit) => [keyOf(unit), unit.attempts]));
    const units = planUnits(lines.count, this.#settings).filter((unit) => !settled.has(keyOf(unit)));
    const work = async (): Promise<void> => {
      try {
        for (const unit of units) {
          if (this.#isStopped) return;
          await this.#take(unit);
        }
      } catch (error) {
        this.#isStopped = true;
        throw error;
      }
    };
    const ended = await Promise.allSettled(Array.from({ length: this.#settings.concurrency }, work));
    const failed = ended.find((each) => each.status === 'rejected');
    if (failed !== undefined) throw failed.reason;
    return this.#stop;
  }

  #end(stop: NonNullable<RunStop>): void {
    this.#stop ??= stop;
    this.#isStopped = true;
  }

  async #take(unit: Unit): Promise<void> {
    const { lines, run, save, signal } = this.#input;
    const { runs, clock } = this.#deps;
    const principal = await this.#payer();
    if (principal === undefined) return this.#end({ reason: 'payer_gone' });
    const model = this.#settings.models[unit.model];
    if (model === undefined) return undefined;
    const item = await lines.read(unit.item);
    const outcome = await this.#callFor({ at: unit.item, item, model }, principal);
    if (outcome === undefined) return undefined;
    // The next job repeats what was broken off.
    signal.throwIfAborted();
    const after = await runs.put(this.#rowOf(unit, item, outcome));
    this.#failuresInRow = outcome.verdict === 'upstream_error' ? this.#failuresInRow + 1 : 0;
    if (this.#failuresInRow >= FAILURES_IN_ROW_MAX) this.#end({ reason: 'failures', error: outcome.error ?? '' });
    if (after === undefined || after.state !== 'running' || after.turn !== run.turn) return this.#end('changed');
    this.#cap.set(after.maxCostNanoUsd);
    if (clock.monotonicMs() - this.#savedMs < SAVE_EVERY_MS) return undefined;
    this.#savedMs = clock.monotonicMs();
    return save();
  }

  /** `undefined`: the run stops here, without a call for the item. */
  async #callFor({ at, item, model }: Task, principal: Principal): Promise<UnitOutcome | undefined> {
    const { calls } = this.#deps;
    let request: GenerationRequest;
    let worst = 0;
    let budget: JudgeBudget;
    try {
      request = await requestOf(this.#deps, { item, model, settings: this.#settings }, principal);
      worst = calls.worstCase(request);
      budget = await this.#judgeBudget({ at, item }, principal);
    } catch (error) {
      if (!(error instanceof GatewayError)) throw error;
      return withoutCall(error);
    }
    const held = worst + budget.judge + budget.reference;
    if (!(await this.#cap.take(held))) {
      this.#end({ reason: 'cost_cap' });
      return undefined;
    }
    let cost = 0;
    try {
      const { run, signal } = this.#input;
      const call: EvaluationCall = { runId: run.id, principal, budgetNanoUsd: worst, signal };
      const outcome = await this.#answer({ at, item, request, budget }, call);
      if (outcome !== undefined) cost = outcome.costNanoUsd + outcome.judgeCostNanoUsd;
      return outcome;
    } finally {
      this.#cap.settle(held, cost);
    }
  }

  async #answer({ at, item, request, budget }: Asked, call: EvaluationCall): Promise<UnitOutcome | undefined> {
    const { calls, clock } = this.#deps;
    const startedMs = clock.monotonicMs();
    const { generationId, costNanoUsd, result } = await this.#unlimited(call, (one) => calls.generate(request, one));
    const latencyMs = Math.round(clock.monotonicMs() - startedMs);
    const facts = { generationId, costNanoUsd, latencyMs, judgeGenerationId: null, judgeCostNanoUsd: 0 };
    if ('error' in result) {
      const verdict = failureOf(result.error);
      if (verdict === 'payer') {
        this.#end({ reason: 'payer_limit', error: result.error.message });
        return undefined;
      }
      const score = verdict === 'upstream_error' ? null : 0;
      return { ...facts, verdict, score, answer: undefined, error: result.error.message, outputTokens: 0 };
    }
    const { response, usage } = result.value;
    const answer = answerOf(response);
    let judged: Pick<UnitOutcome, 'judgeGenerationId' | 'judgeCostNanoUsd' | 'error'> | undefined;
    const { principal: owner, signal } = call;
    const { containers } = this.#deps;
    const scored = await checkAnswer(item, answer, {
      judge: async () => {
        const verdict = await this.#judge({ at, item, budget }, answer.text, call);
        judged = verdict.facts;
        return verdict.score;
      },
      runCommand: createRunCommand({ containers, owner, key: generationId, item, answer: answer.text, signal }),
    });
    return { ...facts, error: null, ...judged, ...scored, answer, outputTokens: usage.completionTokens };
  }

  async #judge(
    { at, item, budget }: Pick<Asked, 'at' | 'item' | 'budget'>,
    text: string,
    paid: EvaluationCall,
  ): Promise<Judged> {
    const { judge } = this.#settings;
    if (judge === null) return { score: null, facts: undefined };
    const { calls } = this.#deps;
    const reference = await this.#referenceFor({ at, item, budget }, paid);
    const referenceNanoUsd = reference?.isOwn === true ? reference.costNanoUsd : 0;
    const other = reference?.text;
    if (reference !== undefined && other === undefined) {
      const error = `The model of reference gave no response: ${reference.error ?? 'it was empty'}`;
      return { score: null, facts: { judgeGenerationId: null, judgeCostNanoUsd: referenceNanoUsd, error } };
    }
    const { model } = judge;
    const { generationId, costNanoUsd, result } = await this.#unlimited(
      { ...paid, budgetNanoUsd: budget.judge },
      (call) => {
        if (other === undefined)
          return calls.judge({ model, state: judgedState(item, text), question: judgeQuestion(judge) }, call);
        const states = [pairState(item, [text, other]), pairState(item, [other, text])] as const;
        return calls.compare({ model, states, question: pairQuestion(judge) }, call);
      },
    );
    const facts = { judgeGenerationId: generationId, judgeCostNanoUsd: costNanoUsd + referenceNanoUsd };
    return 'error' in result
      ? { score: null, facts: { ...facts, error: result.error.message } }
      : { score: result.value, facts: { ...facts, error: null } };
  }

  /** `undefined`: answers are judged by themselves. */
  async #referenceFor(
    { at, item, budget }: Pick<Asked, 'at' | 'item' | 'budget'>,
    paid: EvaluationCall,
  ): Promise<(ReferenceAnswer & { readonly isOwn: boolean }) | undefined> {
    if (budget.text !== undefined) return { text: budget.text, costNanoUsd: 0, isOwn: false };
    return this.#references?.get(at, () => this.#askReference(item, { ...paid, budgetNanoUsd: budget.reference }));
  }

  async #askReference(item: DatasetItem, call: EvaluationCall): Promise<ReferenceAnswer> {
    const request = await this.#requestOfReference(item, call.principal);
    const { costNanoUsd, result } = await this.#unlimited(call, (one) => this.#deps.calls.generate(request, one));
    if ('error' in result) return { costNanoUsd, error: result.error.message };
    const { text, refused } = answerOf(result.value.response);
    return refused ? { costNanoUsd, error: 'it refused' } : { costNanoUsd, text };
  }

  async #requestOfReference(item: DatasetItem, principal: Principal): Promise<GenerationRequest> {
    assert(this.#references !== undefined, 'answers are compared where there is a model of reference');
    return requestOf(this.#deps, { item, model: this.#references.model, settings: this.#settings }, principal);
  }

  /**
   * Waits where a rate limit says so. A call that has paid a part of its generations before the limit is made again for what is
   * left of its budget, and its cost is that of all its attempts.
   */
  async #unlimited<Value>(
    call: EvaluationCall,
    run: (call: EvaluationCall) => Promise<EvaluationOutcome<Value>>,
  ): Promise<EvaluationOutcome<Value>> {
    let paidNanoUsd = 0;
    for (let tries = 1; ; tries++) {
      const outcome = await run({ ...call, budgetNanoUsd: Math.max(0, call.budgetNanoUsd - paidNanoUsd) });
      paidNanoUsd += outcome.costNanoUsd;
      const { result } = outcome;
      if (!('error' in result) || result.error.status !== 429 || tries === LIMITED_TRIES_MAX || this.#isStopped)
        return { ...outcome, costNanoUsd: paidNanoUsd };
      const waitMs = Math.min(result.error.retryAfterMs ?? LIMITED_WAIT_MS, LIMITED_WAIT_MS_MAX);
      await delay(waitMs, undefined, { signal: this.#input.signal });
    }
  }

  async #judgeBudget({ at, item }: Pick<Task, 'at' | 'item'>, principal: Principal): Promise<JudgeBudget> {
    const { judge, max_tokens: tokens } = this.#settings;
    if (judge === null || !item.checks.some(({ type }) => type === 'judge')) return { judge: 0, reference: 0 };
    const { calls } = this.#deps;
    const chars = Math.min((item.max_tokens ?? tokens) * CHARS_OF_TOKEN, JUDGED_CHARS_MAX);
    const text = ' '.repeat(chars);
    if (this.#references === undefined)
      return { judge: calls.worstCaseOfJudge(judge.model, judgedState(item, text)), reference: 0 };
    const known = this.#references.textOf(at);
    return {
      judge: calls.worstCaseOfJudge(judge.model, pairState(item, [text, text])),
      reference: known === undefined ? calls.worstCase(await this.#requestOfReference(item, principal)) : 0,
      text: known,
    };
  }

  async #payer(): Promise<Principal | undefined> {
    try {
      return await this.#deps.admitKey(this.#input.run.payerKeyHash);
    } catch (error) {
      if (error instanceof GatewayError && error.status === 401) return undefined;
      throw error;
    }
  }

  #rowOf(unit: Unit, item: DatasetItem, outcome: UnitOutcome): ResultRow {
    const { answer, score, ...rest } = outcome;
    return {
      ...unit,
      ...rest,
      runId: this.#input.run.id,
      itemId: item.id,
      groupName: item.group,
      weightPpm: Math.round(item.weight * PPM),
      scorePpm: score === null ? null : Math.round(score * PPM),
      attempts: (this.#attempts.get(keyOf(unit)) ?? 0) + 1,
      answerHash: answer === undefined ? null : hash('sha256', answer.text),
      createdAtMs: this.#deps.clock.nowMs(),
    };
  }
}

function keyOf({ item, model, repeatNo }: Unit): string {
  return `${item} ${model} ${repeatNo}`;
}

/** Its request could not even be made. */
function withoutCall(error: GatewayError): UnitOutcome {
  const failure = failureOf(error);
  const verdict = failure === 'payer' ? 'upstream_error' : failure;
  return {
    verdict,
    score: verdict === 'upstream_error' ? null : 0,
    answer: undefined,
    error: error.message,
    generationId: '',
    costNanoUsd: 0,
    judgeGenerationId: null,
    judgeCostNanoUsd: 0,
    latencyMs: 0,
    outputTokens: 0,
  };
}
