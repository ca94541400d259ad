import { timeoutFailure, transportFailure } from '../canonical/classify-failure.ts';
import type { Block, ToolResultBlock } from '../canonical/blocks.ts';
import type { EndEvent, EventBatch, EventSource, GenerationEvent } from '../canonical/events.ts';
import type { UpstreamFailure } from '../canonical/failure.ts';
import type { GenerationRequest, Turn } from '../canonical/request.ts';
import type { ServerCall } from '../canonical/server-call.ts';
import type { Candidate } from '../routing/plan.ts';
import type { GenerationRecord, ServerToolUse } from '../telemetry/record.ts';
import { failedOutcome, type ToolOutcome } from '../tools/contract.ts';
import { answerAsTurn } from '../wire/answer-turn.ts';
import type { ServerCallWords } from '../wire/format.ts';
import { spentSoFar, type SpentSoFar } from './account-for.ts';
import type { Committed } from './attempts.ts';
import { nativeTypes } from './native-tools.ts';
import type { OfferedTools } from './offer-server-tools.ts';
import { charsOf, runTool, withoutResult, type ReadyTool } from './run-tools.ts';
import { createStopRules, type StopRules } from './stop-rules.ts';
import { ShownAnswer, ToolTurn, type PendingCall } from './tool-turn.ts';

export interface LoopQuestion {
  /** What the first turn was asked. */
  readonly request: GenerationRequest;
  readonly offered: OfferedTools;
  /** By the name of the function. */
  readonly tools: ReadonlyMap<string, ReadyTool>;
  readonly words: ServerCallWords;
  readonly record: GenerationRecord;
  readonly signal: AbortSignal;
  /** What filters make of the request for a later turn. @throws GatewayError 403 when one blocks it */
  readonly inspect: (request: GenerationRequest) => Promise<GenerationRequest>;
  /** Asks for one more turn, first of whoever gave the last one. @throws GatewayError when nobody gives it */
  readonly nextTurn: (request: GenerationRequest, after: Candidate) => Promise<Committed>;
  /** Sets money aside for what comes next, beside what was spent. `false`: too little is left. */
  readonly fund: (spent: SpentSoFar, next: NextCost) => Promise<boolean>;
  /** For the operator's eyes: a tool broke. */
  readonly onBug: (error: unknown) => void;
}

/** What comes next and may cost something: calls of tools, or a turn of the model. */
export type NextCost = { readonly feeNanoUsd: number } | { readonly request: GenerationRequest };

/**
 * One answer over as many turns of the model as its calls of server tools take: each turn that calls some is followed by
 * their results and another turn, until one calls none or a stop rule says so. Calls of the caller's own functions end it.
 * @source generation.md 5.2
 */
export function loopTools(first: Committed, question: LoopQuestion): Committed {
  return new ToolLoop(first, question);
}

/** A class because it lives as long as its answer, and stands for whichever turn runs now. */
class ToolLoop implements Committed, EventSource {
  readonly startedMs: number;
  readonly firstTokenMs: number;
  readonly echoes: Committed['echoes'];
  readonly #question: LoopQuestion;
  readonly #rules: StopRules;
  readonly #shown = new ShownAnswer();
  #citations = 0;
  /** Of results: words that the model reads, and all that is kept. */
  readonly #resultChars = { read: 0, shown: 0 };
  readonly #called = new Set<string>();
  readonly #use: ServerToolUse = {
    turns: 1,
    requested: 0,
    executed: 0,
    failed: 0,
    searches: 0,
    fetches: 0,
    feeNanoUsd: 0,
    webFeeNanoUsd: 0,
  };
  readonly #cancelled = new AbortController();
  readonly #signal: AbortSignal;
  #current: Committed;
  #request: GenerationRequest;
  #turn: ToolTurn;
  #turns = 0;
  #steps = 0;
  /** The turn that is to begin. */
  #next: GenerationRequest | undefined;
  #isLast = false;
  #isOver = false;

  constructor(first: Committed, question: LoopQuestion) {
    const { record, offered, request, signal } = question;
    this.startedMs = first.startedMs;
    this.firstTokenMs = first.firstTokenMs;
    this.echoes = first.echoes;
    this.#question = question;
    this.#rules = createStopRules(offered.asked.directives);
    this.#signal = AbortSignal.any([signal, this.#cancelled.signal]);
    this.#current = first;
    this.#request = request;
    this.#turn = this.#openTurn();
    record.serverTools = this.#use;
  }

  get candidate(): Candidate {
    return this.#current.candidate;
  }

  get source(): EventSource {
    return this;
  }

  async read(): Promise<EventBatch | undefined> {
    while (!this.#isOver) {
      const next = this.#next;
      this.#next = undefined;
      if (next !== undefined && !(await this.#begin(next))) return this.#breakOff(UNFUNDED);
      const batch = await this.#current.source.read();
      const events = batch === undefined ? await this.#endTurn() : this.#take(batch);
      if (events.length > 0) return events;
    }
    return undefined;
  }

  /** Of the turn all is kept until it is over: another one may follow that is to be told of it. */
  #take(batch: EventBatch): EventBatch {
    const turn = this.#turn;
    const events = turn.push(batch);
    // Nobody reads on after that.
    if (turn.failed) return [...events, ...this.#finish(undefined)];
    if (turn.chars <= TURN_CHARS_MAX) return events;
    this.#current.source.cancel();
    return [...events, ...this.#breakOff(transportFailure('too-large'))];
  }

  cancel(): void {
    this.#isOver = true;
    this.#cancelled.abort();
    this.#current.source.cancel();
  }

  #openTurn(): ToolTurn {
    const { tools, words } = this.#question;
    return new ToolTurn({
      turn: this.#turns,
      shown: this.#shown,
      isServerTool: (name) => tools.has(name),
      showCall: (id, name, ordinal) => ({
        id: words.shownId(id, ordinal),
        name: words.shownName(tools.get(name)?.tool.type ?? name, name),
      }),
      isLast: this.#isLast,
    });
  }

  /** `false`: the caller's limits leave too little for it. */
  async #begin(request: GenerationRequest): Promise<boolean> {
    const { record, fund, inspect, nextTurn } = this.#question;
    if (!(await fund(spentSoFar(record), { request }))) return false;
    this.#request = await inspect(request);
    this.#turns++;
    this.#use.turns++;
    this.#turn = this.#openTurn();
    this.#current = await nextTurn(this.#request, this.#current.candidate);
    if (this.#isOver) this.#current.source.cancel();
    return true;
  }

  /** The model has said what it has to say with this turn. */
  async #endTurn(): Promise<EventBatch> {
    const turn = this.#turn;
    const { calls, end } = turn;
    // Whoever reads on finds out why there is no end.
    if (end === undefined || end.finish === 'error' || calls.length === 0) return this.#finish(end);
    const { record, fund } = this.#question;
    record.endTurn();
    this.#use.requested += calls.length;
    const running = calls.slice(0, Math.max(0, this.#rules.stepsMax - this.#steps));
    this.#steps += running.length;
    for (const { name } of calls) this.#called.add(name).add(this.#question.tools.get(name)?.tool.type ?? name);
    const spent = spentSoFar(record);
    const feeNanoUsd = running.reduce((sum, call) => sum + this.#feeMaxOf(call), 0);
    if (!(await fund(spent, { feeNanoUsd }))) return this.#breakOff(UNFUNDED);
    const outcomes = (await this.#run(calls, new Set(running))).map((outcome) => this.#bounded(outcome));
    for (const outcome of outcomes) this.#count(outcome);
    this.#use.executed += running.length;
    this.#use.failed += outcomes.slice(0, running.length).filter(({ failed }) => failed === true).length;
    if (this.#signal.aborted) return this.#breakOff(abortFailure(this.#signal));
    const { inputModalities } = this.candidate.endpoint;
    const results = calls.map((call, at) => resultOf(call, outcomes[at] ?? LIMIT_REACHED, inputModalities));
    const events = calls.flatMap((call, at) => this.#show(call, outcomes[at] ?? LIMIT_REACHED));
    if (turn.callsCaller) return [...events, ...this.#finish(end)];
    const { costNanoUsd, totalTokens } = spentSoFar(record);
    this.#isLast = this.#rules.isReached({ steps: this.#steps, called: this.#called, totalTokens, costNanoUsd, end });
    this.#next = this.#requestAfter(results, outcomes);
    return events;
  }

  #feeMaxOf({ name }: PendingCall): number {
    return this.#question.tools.get(name)?.feeNanoUsdMax ?? 0;
  }

  /** All at once; those beyond the limit are told so. */
  #run(calls: readonly PendingCall[], running: ReadonlySet<PendingCall>): Promise<readonly ToolOutcome[]> {
    const { tools, onBug } = this.#question;
    const { turns } = this.#request;
    const question = { turn: this.#turns, turns, signal: this.#signal, onBug };
    return Promise.all(
      calls.map((call) => {
        const tool = tools.get(call.name);
        return tool === undefined || !running.has(call)
          ? Promise.resolve(LIMIT_REACHED)
          : runTool(tool, call, question);
      }),
    );
  }

  /** The results of one request fill no more memory than this, however many there are. */
  #bounded(outcome: ToolOutcome): ToolOutcome {
    const { read, shown } = charsOf(outcome);
    const chars = this.#resultChars;
    chars.read += read;
    chars.shown += shown;
    return chars.read <= RESULTS_CHARS_MAX && chars.shown <= SHOWN_RESULTS_CHARS_MAX
      ? outcome
      : withoutResult(outcome, 'The results of this request are too long together. Answer with what you have.');
  }

  #count({ feeNanoUsd = 0, searches = 0, fetches = 0, citations = [] }: ToolOutcome): void {
    this.#use.feeNanoUsd += feeNanoUsd;
    if (searches + fetches > 0) this.#use.webFeeNanoUsd += feeNanoUsd;
    this.#use.searches += searches;
    this.#use.fetches += fetches;
    const told = citations.slice(0, CITATIONS_MAX - this.#citations);
    this.#citations += told.length;
    this.#shown.sources.push(...told);
  }

  #show({ id, shownId, name, input }: PendingCall, { result, failed, errorCode, media = [] }: ToolOutcome): EventBatch {
    const { words, tools } = this.#question;
    const call: ServerCall = {
      id,
      shownId,
      type: tools.get(name)?.tool.type ?? name,
      name,
      input,
      result,
      ...(failed === true && { errorCode: errorCode ?? 'unavailable' }),
      turn: this.#turns,
      besideCalls: this.#turn.callsCaller,
    };
    return [words.draw(call), ...media].flatMap((block) => this.#whole(block));
  }

  #whole(block: Block): readonly GenerationEvent[] {
    const index = this.#shown.nextIndex++;
    return [
      { type: 'block-start', index, block },
      { type: 'block-end', index },
    ];
  }

  #requestAfter(results: readonly ToolResultBlock[], outcomes: readonly ToolOutcome[]): GenerationRequest {
    const { offered } = this.#question;
    const { turns, tools, settings, ...request } = this.#request;
    const revealed = outcomes
      .flatMap(({ reveals = [] }) => reveals)
      .flatMap((name) => offered.hidden.get(name) ?? [])
      .filter((tool, at, all) => all.indexOf(tool) === at && !tools.includes(tool));
    const { toolChoice, ...others } = settings;
    const goesOn = toolChoice?.type === 'function' || toolChoice?.type === 'required' ? undefined : toolChoice;
    const choice = this.#isLast ? ({ type: 'none' } as const) : goesOn;
    const said: readonly Turn[] = [answerAsTurn(this.#turn.blocks()), { role: 'tool', blocks: results }];
    return {
      ...request,
      turns: [...turns, ...said],
      tools: [...tools, ...revealed],
      settings: { ...others, ...(choice !== undefined && { toolChoice: choice }) },
    };
  }

  /** The end of the answer is that of its last turn. */
  #finish(end: EndEvent | undefined): EventBatch {
    this.#isOver = true;
    this.#note();
    if (end === undefined) return [];
    // No text came to rest on them.
    const citations = this.#shown.sources.map((citation) => ({ type: 'citation', index: -1, citation }) as const);
    return [...citations, this.#turn.callsCaller || !this.#isLast ? end : withoutCalls(end)];
  }

  #breakOff(failure: UpstreamFailure): EventBatch {
    this.#isOver = true;
    this.#note();
    return [{ type: 'failed', failure }];
  }

  /** @source generation.md 5.3 "Metadata stage" */
  #note(): void {
    const { tools, record } = this.#question;
    if (this.#use.executed === 0) {
      const natives = this.#turn.ranUpstream ? nativeTypes(this.candidate, this.#question.offered) : [];
      if (natives.length === 0) return;
      const data = { mode: 'native', tools: natives };
      record.report.pipeline.push({ type: 'server_tools', name: 'server-tools', data });
      return;
    }
    const types = [...this.#called].map((name) => tools.get(name)?.tool.type ?? name);
    record.report.pipeline.push({
      type: 'server_tools',
      name: 'server-tools',
      summary: `${this.#use.executed} calls of server tools in ${this.#use.turns} turns`,
      data: { mode: 'sdk', tools: [...new Set(types)], calls: this.#use.executed, turns: this.#use.turns },
    });
  }
}

/** UTF-16 units of one turn: ten times what models of today write at once. */
const TURN_CHARS_MAX = 16_777_216;
/** UTF-16 units of all results of one request, as far as a model reads them as words. */
const RESULTS_CHARS_MAX = 8_000_000;
/** The same of all that is kept of them: they may hold pictures. */
const SHOWN_RESULTS_CHARS_MAX = 64_000_000;
/** Sources of one answer; further ones are not told. */
const CITATIONS_MAX = 1_000;

const LIMIT_REACHED = failedOutcome(
  'The limit of tool calls is reached. Answer with what you have.',
  'max_uses_exceeded',
);

const UNFUNDED: UpstreamFailure = {
  kind: 'unfunded',
  errorType: 'payment_required',
  status: 402,
  message: "What is left of the caller's credit or limits is too little to go on with server tools.",
  mayTry: 'nobody',
};

function abortFailure(signal: AbortSignal): UpstreamFailure {
  return signal.reason === 'total' ? timeoutFailure('total') : transportFailure('aborted');
}

/** @param modalities that the model reads; absent: nobody knows */
function resultOf(
  call: PendingCall,
  { result, modelReads, failed }: ToolOutcome,
  modalities: readonly string[] | undefined,
): ToolResultBlock {
  const base = { type: 'tool-result', callId: call.id, ...(failed === true && { failed }) } as const;
  if (modelReads !== undefined)
    return {
      ...base,
      content: modelReads.filter(({ type }) => type !== 'media' || modalities?.includes('image') !== false),
    };
  return { ...base, content: [{ type: 'text', text: JSON.stringify(result) }], plain: true };
}

/** A model that calls although it was told not to has come to its end all the same. */
function withoutCalls(end: EndEvent): EndEvent {
  if (end.finish !== 'tool_calls') return end;
  const { nativeFinish: _native, ...rest } = end;
  return { ...rest, finish: 'stop' };
}
