import { abortFailure } from '../attempt/watched-call.ts';
import { transportFailure } from '../../canonical/failure/classify-failure.ts';
import type { Block, ToolResultBlock } from '../../canonical/blocks.ts';
import type { EndEvent, EventBatch, EventSource, GenerationEvent } from '../../canonical/events.ts';
import type { UpstreamFailure } from '../../canonical/failure/failure.ts';
import type { GenerationRequest, Turn } from '../../canonical/request.ts';
import type { GenerateNested } from '../../canonical/tools/nested-generation.ts';
import type { ServerCall, ToolProgress } from '../../canonical/tools/server-call.ts';
import type { Candidate } from '../../routing/route-plan.ts';
import { outgoingTraceHeaders, stepSpanId } from '../../telemetry/destinations/trace-context.ts';
import type { ServerToolUse } from '../../telemetry/request-log.ts';
import { failedOutcome, type ToolOutcome } from '../../tools/contract.ts';
import { responseAsTurn } from '../../wire/response-turn.ts';
import type { ServerCallCodec } from '../../wire/format.ts';
import { spentSoFar, type SpentSoFar } from '../billing/final-cost.ts';
import { nativeTypes } from './native-tools.ts';
import { listServers } from './list-servers.ts';
import type { OfferedTools } from './offer-server-tools.ts';
import { charsOf, runTool, stepKey, withoutResult, type ReadyTool } from './run-tools.ts';
import { ProgressQueue } from './tool-progress.ts';
import { createStopRules, type StopRules } from './stop-rules.ts';
import { ShownResponse, ToolTurn, type PendingCall } from './tool-turn.ts';
import type { RequestFacts, UpstreamResponse } from '../request.ts';

export interface LoopInput {
  /** The request of the first turn. */
  readonly request: GenerationRequest;
  readonly offered: OfferedTools;
  /** By the name of the function. */
  readonly tools: ReadonlyMap<string, ReadyTool>;
  readonly codec: ServerCallCodec;
  readonly facts: RequestFacts;
  readonly signal: AbortSignal;
  /** What filters make of the request for a later turn. @throws GatewayError 403 when one blocks it */
  readonly inspect: (request: GenerationRequest) => Promise<GenerationRequest>;
  /** Calls for one more turn, the endpoint of the last one first. @throws GatewayError when no candidate gives it */
  readonly nextTurn: (request: GenerationRequest, after: Candidate) => Promise<UpstreamResponse>;
  /** Reserves money for what comes next, beside what was spent. `false`: too little is left. */
  readonly fund: (spent: SpentSoFar, next: NextCost) => Promise<boolean>;
  readonly generate: GenerateNested;
  readonly monotonicMs: () => number;
  /** For the operator's eyes: a tool broke. */
  readonly onBug: (error: unknown) => void;
}

/** What comes next and may cost something: calls of tools, or a turn of the model. */
export type NextCost = { readonly feeNanoUsd: number } | { readonly request: GenerationRequest };

/**
 * One answer over as many turns of the model as its calls of server tools take: each turn that calls some is followed by
 * their results and another turn, until one calls none or a stop rule says so. Calls of the caller's own functions end it.
 * @spec tool-6
 */
export function loopTools(first: UpstreamResponse, input: LoopInput): UpstreamResponse {
  return new ToolLoop(first, input);
}

/** A class because it lives as long as its answer, and stands for whichever turn runs now. */
class ToolLoop implements UpstreamResponse, EventSource {
  readonly startedMs: number;
  readonly firstTokenMs: number;
  readonly echoes: UpstreamResponse['echoes'];
  readonly #input: LoopInput;
  readonly #rules: StopRules;
  readonly #shown = new ShownResponse();
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
  #current: UpstreamResponse;
  #request: GenerationRequest;
  #turn: ToolTurn;
  #turns = 0;
  #steps = 0;
  /** What shows the tools of MCP servers, until the response begins. */
  readonly #servers: Block[];
  /** The turn that is to begin. */
  #next: GenerationRequest | undefined;
  #isLast = false;
  #isOver = false;
  readonly #progress = new ProgressQueue();
  /** The end of a turn whose tools run. */
  #ending: Promise<EventBatch> | undefined;

  constructor(first: UpstreamResponse, input: LoopInput) {
    const { facts, offered, request, signal } = input;
    this.startedMs = first.startedMs;
    this.firstTokenMs = first.firstTokenMs;
    this.echoes = first.echoes;
    this.#input = input;
    this.#rules = createStopRules(offered.originalRequest.directives);
    this.#signal = AbortSignal.any([signal, this.#cancelled.signal]);
    this.#current = first;
    this.#request = request;
    this.#turn = this.#openTurn();
    this.#servers = [...(input.codec.showServers?.(listServers(offered)) ?? [])];
    facts.log.serverTools = this.#use;
  }

  get candidate(): Candidate {
    return this.#current.candidate;
  }

  get source(): EventSource {
    return this;
  }

  async read(): Promise<EventBatch | undefined> {
    while (this.#ending !== undefined || !this.#isOver) {
      if (this.#ending !== undefined) {
        const events = await this.#progressOrEnd(this.#ending);
        if (events.length > 0) return events;
        continue;
      }
      const next = this.#next;
      this.#next = undefined;
      if (next !== undefined && !(await this.#begin(next))) return this.#breakOff(UNFUNDED);
      const batch = await this.#current.source.read();
      if (batch === undefined) {
        this.#ending = this.#endTurn();
        // Where it breaks before it is waited for.
        this.#ending.catch(() => undefined);
        continue;
      }
      const events = this.#take(batch);
      if (events.length > 0) return events;
    }
    return undefined;
  }

  /** What running tools report comes before the end of their turn. */
  async #progressOrEnd(ending: Promise<EventBatch>): Promise<EventBatch> {
    try {
      const reported = await this.#progress.takeUntil(ending);
      if (reported !== undefined) return reported;
      const events = await ending;
      this.#ending = undefined;
      return events;
    } catch (error) {
      this.#ending = undefined;
      throw error;
    }
  }

  /** All of the turn is kept until it is over: the next turn may need it. */
  #take(batch: EventBatch): EventBatch {
    const turn = this.#turn;
    const servers = this.#servers.splice(0).flatMap((block) => this.#whole(block));
    const pushed = turn.push(batch);
    const events = servers.length === 0 ? pushed : behindStart(pushed, servers);
    // Nothing is read after that.
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
    const { tools, codec } = this.#input;
    return new ToolTurn({
      turn: this.#turns,
      shown: this.#shown,
      isServerTool: (name) => tools.has(name),
      showCall: (id, name, ordinal) => {
        const { type = name, mcp } = tools.get(name)?.tool ?? {};
        return { id: codec.shownId(id, ordinal), name: codec.shownName(type, name), ...(mcp !== undefined && { mcp }) };
      },
      isLast: this.#isLast,
    });
  }

  /** `false`: the caller's limits leave too little for it. */
  async #begin(request: GenerationRequest): Promise<boolean> {
    const { facts, fund, inspect, nextTurn } = this.#input;
    if (!(await fund(spentSoFar(facts), { request }))) return false;
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
    // The next read shows why there is no end; calls of a response that was cut are cut themselves.
    if (end === undefined || end.finish === 'error' || end.isCut === true || calls.length === 0)
      return this.#finish(end);
    const { facts, fund } = this.#input;
    facts.meter.endTurn(this.#input.monotonicMs());
    this.#use.requested += calls.length;
    const running = calls.slice(0, Math.max(0, this.#rules.stepsMax - this.#steps));
    this.#steps += running.length;
    for (const { name } of calls) this.#called.add(name).add(this.#input.tools.get(name)?.tool.type ?? name);
    const spent = spentSoFar(facts);
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
    const { costNanoUsd, totalTokens } = spentSoFar(facts);
    this.#isLast = this.#rules.isReached({ steps: this.#steps, called: this.#called, totalTokens, costNanoUsd, end });
    this.#next = this.#requestAfter(results, outcomes);
    return events;
  }

  #feeMaxOf({ name }: PendingCall): number {
    return this.#input.tools.get(name)?.feeNanoUsdMax ?? 0;
  }

  /** All at once; the result of those beyond the limit says so. */
  #run(calls: readonly PendingCall[], running: ReadonlySet<PendingCall>): Promise<readonly ToolOutcome[]> {
    const { tools } = this.#input;
    return Promise.all(
      calls.map((call) => {
        const tool = tools.get(call.name);
        return tool === undefined || !running.has(call) ? Promise.resolve(LIMIT_REACHED) : this.#runOne(tool, call);
      }),
    );
  }

  async #runOne(tool: ReadyTool, call: PendingCall): Promise<ToolOutcome> {
    const { onBug, generate, monotonicMs, facts } = this.#input;
    const { turns } = this.#request;
    const startedMs = monotonicMs();
    const { id, requestId, request } = facts.log;
    const outcome = await runTool(tool, call, {
      turn: this.#turns,
      turns,
      signal: this.#signal,
      generate,
      traceHeaders: (step) => outgoingTraceHeaders({ requestId, directives: request.directives }, stepSpanId(id, step)),
      onBug,
      report: this.#watches ? (progress) => this.#report(call, progress) : undefined,
    });
    facts.log.noteStep({
      kind: 'tool',
      key: stepKey(this.#turns, call),
      name: call.name,
      type: tool.tool.type,
      callId: call.id,
      startMs: startedMs - facts.report.arrivedMs,
      durationMs: monotonicMs() - startedMs,
      hasFailed: outcome.failed === true,
    });
    return outcome;
  }

  /** Strict clients fail on events that they do not know. */
  get #watches(): boolean {
    const { response, delivery } = this.#input.offered.originalRequest;
    return response?.extendedEvents === true && delivery === 'stream';
  }

  #report({ shownId }: PendingCall, progress: ToolProgress): void {
    if (!this.#isOver) this.#progress.push({ type: 'tool-progress', callId: shownId, ...progress });
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
    const reported = citations.slice(0, CITATIONS_MAX - this.#citations);
    this.#citations += reported.length;
    this.#shown.sources.push(...reported);
  }

  #show({ id, shownId, name, input }: PendingCall, { result, failed, errorCode, media = [] }: ToolOutcome): EventBatch {
    const { codec, tools } = this.#input;
    const { type = name, mcp } = tools.get(name)?.tool ?? {};
    const call: ServerCall = {
      id,
      shownId,
      type,
      name,
      ...(mcp !== undefined && { mcp }),
      input,
      result,
      ...(failed === true && { errorCode: errorCode ?? 'unavailable' }),
      turn: this.#turns,
      besideCalls: this.#turn.callsCaller,
    };
    return [codec.encode(call), ...media].flatMap((block) => this.#whole(block));
  }

  #whole(block: Block): readonly GenerationEvent[] {
    const index = this.#shown.nextIndex++;
    return [
      { type: 'block-start', index, block },
      { type: 'block-end', index },
    ];
  }

  #requestAfter(results: readonly ToolResultBlock[], outcomes: readonly ToolOutcome[]): GenerationRequest {
    const { offered } = this.#input;
    const { turns, tools, settings, ...request } = this.#request;
    const revealed = outcomes
      .flatMap(({ reveals = [] }) => reveals)
      .flatMap((name) => offered.hidden.get(name) ?? [])
      .filter((tool, at, all) => all.indexOf(tool) === at && !tools.includes(tool));
    const { toolChoice, ...others } = settings;
    const goesOn = toolChoice?.type === 'function' || toolChoice?.type === 'required' ? undefined : toolChoice;
    const choice = this.#isLast ? ({ type: 'none' } as const) : goesOn;
    const stated: readonly Turn[] = [responseAsTurn(this.#turn.blocks()), { role: 'tool', blocks: results }];
    return {
      ...request,
      turns: [...turns, ...stated],
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

  /** @spec tool-24 */
  #note(): void {
    const { tools, facts } = this.#input;
    if (this.#use.executed === 0) {
      const natives = this.#turn.ranUpstream ? nativeTypes(this.candidate, this.#input.offered) : [];
      if (natives.length === 0) return;
      const data = { mode: 'native', tools: natives };
      facts.report.pipeline.push({ type: 'server_tools', name: 'server-tools', data });
      return;
    }
    const types = [...this.#called].map((name) => tools.get(name)?.tool.type ?? name);
    facts.report.pipeline.push({
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
/** Sources of one response; further ones are left out. */
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
  mayTry: 'nothing',
};

/** @param modalities that the model reads; absent: unknown */
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

function behindStart(events: EventBatch, more: EventBatch): EventBatch {
  const at = events[0]?.type === 'start' ? 1 : 0;
  return [...events.slice(0, at), ...more, ...events.slice(at)];
}

/** A model that calls tools although `tool_choice` is none has come to its end all the same. */
function withoutCalls(end: EndEvent): EndEvent {
  if (end.finish !== 'tool_calls') return end;
  const { nativeFinish: _native, ...rest } = end;
  return { ...rest, finish: 'stop' };
}
