import type { ToolCallBlock } from '../canonical/blocks.ts';
import type { Turn } from '../canonical/request.ts';
import { randomText } from '../lib/ids.ts';
import { parseJsonObject } from '../lib/json.ts';
import { nanoFromUsd } from '../lib/money.ts';
import type { OpenAgent } from '../pipeline/agent/agent-steps.ts';
import type {
  InternInputRow,
  InternRow,
  InternRunRow,
  InternStepRow,
  InternVersionRow,
} from '../store/interns/columns.ts';
import type { NewText } from '../store/interns/texts.ts';
import { decide, inputHashOf } from './approval-rules.ts';
import {
  HISTORY_CHARS_MAX,
  keptBlocks,
  nextStepOf,
  NOT_KNOWN,
  turnsOf,
  type NextStep,
  type RunHistory,
} from './history.ts';
import { notesTurn } from './memory.ts';
import { PAYER_GONE, payerOf } from './payer.ts';
import type { RunnerDeps, StepBorder } from './runner-deps.ts';

/** Runs of a session that models read of. */
const HISTORY_RUNS_MAX = 50;
const SUMMARY_CHARS_MAX = 500;
const CALL_ID_CHARS = 24;

export interface RunInput {
  readonly intern: InternRow;
  readonly version: InternVersionRow;
  /** With those of its preset, where it has none of its own. */
  readonly instructions: string;
  readonly run: InternRunRow;
  readonly agent: OpenAgent;
  /** The run is to stop, for whatever reason. */
  readonly signal: AbortSignal;
  /** @throws JobLost when another process has the run */
  readonly save: () => Promise<void>;
}

type Ending = Pick<InternRunRow, 'state' | 'ending'> & Partial<Pick<InternRunRow, 'error'>>;
type WorkEnd = Ending | 'waiting' | 'paused';
type ToolStep = Extract<NextStep, { kind: 'tool' }>;
type ModelStep = Extract<NextStep, { kind: 'model' }>;

/**
 * A run that this process works on, step by step: each is stored as planned, as started, and as done with its result, so that
 * another process goes on at the same place. A class because it lives as long as the run is worked on.
 */
export class RunUnderWay {
  readonly #deps: RunnerDeps;
  readonly #input: RunInput;
  readonly #sinceMs: number;
  #steps: InternStepRow[] = [];
  #texts = new Map<string, string>();
  #spentNanoUsd: number;

  constructor(deps: RunnerDeps, input: RunInput) {
    this.#deps = deps;
    this.#input = input;
    this.#sinceMs = deps.clock.monotonicMs();
    this.#spentNanoUsd = input.run.spentNanoUsd;
  }

  async work(): Promise<WorkEnd> {
    const { runs, interns } = this.#deps;
    const { run, intern, version, instructions } = this.#input;
    const { limits, budget } = version.settings;
    this.#steps = [...(await runs.steps(run.id))];
    this.#texts = new Map(await runs.ofRun({ internId: run.internId, runId: run.id }));
    const earlier = await this.#earlierRuns();
    // As they were at the beginning: what the run itself notes, it has in its conversation.
    const notes = await this.#notes();
    for (;;) {
      this.#input.signal.throwIfAborted();
      const now = await interns.find(intern.id);
      if (now === undefined || !isActive(now)) return 'paused';
      if ((await payerOf(this.#deps, intern)) === undefined) return PAYER_GONE;
      const next = nextStepOf({ steps: this.#steps, texts: this.#texts });
      if (next.kind === 'end') return { state: 'done', ending: next.ending };
      if (next.n > limits.max_steps) return { state: 'done', ending: 'steps' };
      if (this.#spentNanoUsd >= nanoFromUsd(budget.per_run_usd)) return { state: 'done', ending: 'budget' };
      const history: RunHistory = { run, steps: this.#steps, texts: this.#texts };
      const turns = turnsOf(instructions, [...earlier, history], notes);
      const ended = next.kind === 'model' ? await this.#callModel(next, turns) : await this.#callTool(next, turns);
      if (ended !== undefined) return ended;
    }
  }

  async #notes(): Promise<Turn | undefined> {
    const { intern, version } = this.#input;
    if (!version.settings.memory.enabled) return undefined;
    return notesTurn((await this.#deps.memory.last(intern.id, 1))[0]?.text ?? '');
  }

  async #earlierRuns(): Promise<readonly RunHistory[]> {
    const { runs } = this.#deps;
    const { run } = this.#input;
    const all = await runs.ofSession(run.internId, run.sessionId, HISTORY_RUNS_MAX);
    const earlier: RunHistory[] = [];
    let chars = 0;
    // One by one, the newest first: no more is held in memory than models are given.
    for (const each of all.filter(({ id }) => id !== run.id)) {
      const texts = await runs.ofRun({ internId: each.internId, runId: each.id });
      for (const text of texts.values()) chars += text.length;
      if (chars > HISTORY_CHARS_MAX) break;
      earlier.unshift({ run: each, steps: await runs.steps(each.id), texts });
    }
    return earlier;
  }

  async #callModel({ n, step }: ModelStep, turns: readonly Turn[]): Promise<WorkEnd | undefined> {
    const { agent, version } = this.#input;
    const row = await this.#begin(n, step, { kind: 'model', name: version.model ?? '', callId: '' });
    let costNanoUsd = 0;
    const asked = agent.ask(turns, this.#leftNanoUsd(version), (cost) => (costNanoUsd = cost));
    const answered = await asked.catch(async (error: unknown) => {
      // What broke off may have cost something all the same.
      const cost = { ...NO_COST, costNanoUsd };
      if (costNanoUsd > 0) await this.#put({ ...row, costNanoUsd: row.costNanoUsd + costNanoUsd }, [], cost);
      throw error;
    });
    await this.#border(n, 'model', 'acted');
    const { usage, generationId, response, model } = answered;
    const isCut = response.end?.finish === 'length';
    const output = JSON.stringify(keptBlocks(response.blocks, isCut));
    const { promptTokens, completionTokens } = usage;
    await this.#finish(
      { ...row, name: model, generationId, costNanoUsd: row.costNanoUsd + costNanoUsd },
      [{ name: `${n} output`, text: output }, ...(isCut ? [{ name: `${n} finish`, text: 'length' }] : [])],
      { costNanoUsd, promptTokens, completionTokens },
    );
    return undefined;
  }

  #leftNanoUsd({ settings }: InternVersionRow): number {
    return nanoFromUsd(settings.budget.per_run_usd) - this.#spentNanoUsd;
  }

  async #callTool({ n, call, step }: ToolStep, turns: readonly Turn[]): Promise<WorkEnd | undefined> {
    const { agent, version, signal } = this.#input;
    const tool = agent.find(call.name);
    const onlyReads = tool?.onlyReads?.(parseJsonObject(call.input) ?? {}) === true;
    if (step?.state === 'started' && !onlyReads) return this.#leaveUnknown(step, call);
    const { name, input } = call;
    // A function that there is not is an error for the model, and runs nothing.
    const verdict =
      tool === undefined ? 'allow' : await this.#verdictOn(n, call, { name, type: tool.type, input, onlyReads });
    if (verdict === 'waiting') return 'waiting';
    const facts = { kind: 'tool', name: call.name, callId: call.id } as const;
    if (verdict !== 'allow') {
      const row = this.#rowOf(n, step, facts);
      await this.#finish(row, [...inputOf(n, call), { name: `${n} output`, text: verdict.denied }], NO_COST);
      return undefined;
    }
    // Another process may have it by now: two must not act.
    await this.#input.save();
    const row = await this.#begin(n, step, facts, inputOf(n, call));
    const limits = { step: n, budgetNanoUsd: this.#leftNanoUsd(version) };
    const { outcome, costNanoUsd } = await agent.run(call, turns, limits);
    // What was cut short may have acted. What has succeeded is stored, although the run is to stop.
    if (outcome.failed === true) signal.throwIfAborted();
    await this.#border(n, 'tool', 'acted');
    const text = outcome.modelReads?.flatMap((block) => (block.type === 'text' ? [block.text] : [])).join('\n');
    const output = text === undefined || text === '' ? JSON.stringify(outcome.result) : text;
    await this.#finish({ ...row, costNanoUsd }, [{ name: `${n} output`, text: output }], { ...NO_COST, costNanoUsd });
    return undefined;
  }

  /** What was begun before a crash, and is not to run twice. With approvals, a question waits for a person first. */
  async #leaveUnknown(step: InternStepRow, call: ToolCallBlock): Promise<WorkEnd | undefined> {
    const { run } = this.#input;
    const { n } = step;
    if (run.approvalMode === 'manual' && !this.#texts.has(`${n} question answer`))
      return this.#ask(n, call, 'question', `It is not known whether ${call.name} ran. What should the agent know?`);
    const row = { ...step, state: 'unknown', updatedAtMs: this.#deps.clock.nowMs() } as const;
    await this.#put(row, [{ name: `${n} output`, text: NOT_KNOWN }]);
    return undefined;
  }

  async #verdictOn(
    n: number,
    call: ToolCallBlock,
    ruled: Parameters<typeof decide>[1],
  ): Promise<'allow' | 'waiting' | { readonly denied: string }> {
    const { runs, selfDrive } = this.#deps;
    const { run, version } = this.#input;
    const decision = decide(version.settings.approval.rules, ruled);
    if (decision === 'allow') return 'allow';
    if (decision === 'deny') return { denied: 'denied: a rule of this agent forbids it' };
    if (run.approvalMode === 'self-drive' && selfDrive) return 'allow';
    const inputHash = inputHashOf(call.name, call.input);
    const inputs = await runs.inputsOf(run.id);
    const given = inputs.find(({ step, kind }) => step === n && kind === 'permission');
    if (given !== undefined && given.state !== 'pending') {
      const isAllowed = given.inputHash === inputHash && given.decision !== null && given.decision !== 'deny';
      return isAllowed ? 'allow' : { denied: this.#texts.get(`${n} permission answer`) ?? 'denied' };
    }
    if (await runs.isAllowedIn(run.internId, run.sessionId, inputHash)) return 'allow';
    const ended = await this.#ask(n, call, 'permission', `${call.name} is to run with this input.`);
    return ended === 'waiting' ? ended : { denied: 'denied' };
  }

  /** The run waits for a person from now on, and this process has done its part. */
  async #ask(n: number, call: ToolCallBlock, kind: 'permission' | 'question', summary: string): Promise<'waiting'> {
    const { runs, clock, approvalMs, notices } = this.#deps;
    const { run, intern } = this.#input;
    const nowMs = clock.nowMs();
    const input: InternInputRow = {
      id: `call_${randomText(CALL_ID_CHARS)}`,
      internId: run.internId,
      sessionId: run.sessionId,
      runId: run.id,
      step: n,
      kind,
      tool: call.name,
      inputHash: inputHashOf(call.name, call.input),
      state: 'pending',
      decision: null,
      answeredBy: null,
      expiresAtMs: nowMs + approvalMs,
      createdAtMs: nowMs,
      answeredAtMs: null,
    };
    const request = JSON.stringify({ summary: summary.slice(0, SUMMARY_CHARS_MAX), input: call.input });
    if (await runs.ask(run, input, { request, leftMs: this.#leftMs() })) notices.needsInput(intern, input);
    return 'waiting';
  }

  #rowOf(
    n: number,
    step: InternStepRow | undefined,
    facts: Pick<InternStepRow, 'kind' | 'name' | 'callId'>,
  ): InternStepRow {
    const nowMs = this.#deps.clock.nowMs();
    const { run } = this.#input;
    const times = { createdAtMs: step?.createdAtMs ?? nowMs, updatedAtMs: nowMs };
    const rest = { attempts: step?.attempts ?? 0, costNanoUsd: step?.costNanoUsd ?? 0, generationId: null };
    return { runId: run.id, n, ...facts, state: 'planned', ...rest, ...times };
  }

  async #begin(
    n: number,
    step: InternStepRow | undefined,
    facts: Pick<InternStepRow, 'kind' | 'name' | 'callId'>,
    texts: readonly NewText[] = [],
  ): Promise<InternStepRow> {
    const planned = this.#rowOf(n, step, facts);
    if (step === undefined) await this.#put(planned, texts);
    await this.#border(n, facts.kind, 'planned');
    const started = { ...planned, state: 'started', attempts: planned.attempts + 1 } as const;
    await this.#put(started, []);
    await this.#border(n, facts.kind, 'started');
    return started;
  }

  async #finish(row: InternStepRow, texts: readonly NewText[], cost: typeof NO_COST): Promise<void> {
    const { clock } = this.#deps;
    this.#spentNanoUsd += cost.costNanoUsd;
    await this.#put({ ...row, state: 'done', updatedAtMs: clock.nowMs() }, texts, cost);
    await this.#input.save();
    await this.#border(row.n, row.kind, 'done');
  }

  async #put(row: InternStepRow, texts: readonly NewText[], cost?: typeof NO_COST): Promise<void> {
    const { runs, changed } = this.#deps;
    const { run } = this.#input;
    const isStored = await runs.putStep(run, row, texts, cost && { ...cost, leftMs: this.#leftMs() });
    if (!isStored) throw new RunEnded();
    this.#steps = [...this.#steps.filter(({ n }) => n !== row.n), row].toSorted((one, other) => one.n - other.n);
    for (const { name, text } of texts) this.#texts.set(name, text);
    changed(run.id);
  }

  async #border(n: number, kind: StepBorder['kind'], at: StepBorder['at']): Promise<void> {
    await this.#deps.onBorder?.({ runId: this.#input.run.id, n, kind, at });
  }

  #leftMs(): number {
    const { run } = this.#input;
    return Math.max(1, Math.round(run.leftMs - (this.#deps.clock.monotonicMs() - this.#sinceMs)));
  }
}

/** Runs go on while their agent is provisioned once more. */
export function isActive({ status }: Pick<InternRow, 'status'>): boolean {
  return status === 'running' || status === 'provisioning';
}

/** It was cancelled, or another worker has it: whatever goes on here has no effect any more. */
export class RunEnded extends Error {
  constructor() {
    super('The run is over.');
    this.name = 'RunEnded';
  }
}

const NO_COST = { costNanoUsd: 0, promptTokens: 0, completionTokens: 0 };

function inputOf(n: number, call: ToolCallBlock): readonly NewText[] {
  return [{ name: `${n} input`, text: call.input }];
}
