import { randomUUID } from 'node:crypto';
import type { Principal } from '../accounts/principal.ts';
import { parseJsonObject, type Json } from '../lib/json.ts';
import { randomText } from '../lib/ids.ts';
import { DECISIONS, type Decision } from '../resources/interns.ts';
import type { InternInputRow, InternRow, InternRunRow } from '../store/interns/columns.ts';
import type { Page, PageWindow } from '../store/engine/page.ts';
import { createFollow, type Follow } from './follow.ts';
import { callOf, type KeyedCall } from './idempotency.ts';
import {
  addJob,
  cancelRun,
  createLifecycle,
  mayChange,
  selfDriveIsOff,
  type Lifecycle,
  type LifecycleDeps,
} from './lifecycle.ts';
import { conflict, noSuch, notYours, otherBody } from './refusals.ts';
import type { RunSignals } from './run-signals.ts';

const MS_PER_MINUTE = 60_000;
const TITLE_CHARS_MAX = 80;
const SESSION_ID_CHARS = 24;
const APPROVAL_MODES = ['manual', 'self-drive'] as const;
type ApprovalMode = (typeof APPROVAL_MODES)[number];

/** A message to an agent. */
export interface ChatInput {
  readonly text: string;
  /** Absent: a new session. */
  readonly sessionId?: string | undefined;
  readonly approvalMode?: ApprovalMode | undefined;
  /** Absent: the caller sent no idempotency key. */
  readonly keyed?: KeyedCall | undefined;
}

/** What a caller says to a question of a run. */
export interface AnswerInput {
  readonly inputId: string;
  readonly sessionId?: string | undefined;
  readonly decision: Decision;
  readonly text: string;
}

export interface ShownInput {
  readonly row: InternInputRow;
  readonly summary: string;
  readonly input: string;
}

/** Where a follower begins: after this step of this run. */
export interface Followed {
  readonly run: InternRunRow;
  readonly after: number;
}

export interface Interns extends Lifecycle, Follow {
  /** Begins a run, or goes on with the one that waits in the session. @throws GatewayError 409 */
  chat(caller: Principal, internId: string, input: ChatInput): Promise<Followed>;
  /** @throws GatewayError 403, 404, 409 for what was answered before */
  answer(caller: Principal, internId: string, input: AnswerInput): Promise<Followed>;
  findRun(caller: Principal, internId: string, runId: string): Promise<InternRunRow>;
  cancel(caller: Principal, internId: string, runId: string): Promise<InternRunRow>;
  runs: LifecycleDeps['runs'];
  inputs(intern: InternRow, pendingOnly: boolean, window: PageWindow): Promise<Page<ShownInput>>;
}

export interface InternsDeps extends LifecycleDeps {
  readonly signals: RunSignals;
}

export function createInterns(deps: InternsDeps): Interns {
  const lifecycle = createLifecycle(deps);
  const { runs } = deps;
  const findRun: Interns['findRun'] = async (caller, internId, runId) => {
    const { id } = await lifecycle.get(caller, internId);
    const run = await runs.find(runId);
    if (run?.internId !== id) throw noSuch('run');
    return run;
  };
  return {
    ...lifecycle,
    ...createFollow(deps),
    runs,
    findRun,
    chat: async (caller, internId, input) => chat(deps, caller, await lifecycle.get(caller, internId), input),
    answer: async (caller, internId, input) => answer(deps, caller, await lifecycle.get(caller, internId), input),
    async cancel(caller, internId, runId) {
      const run = await findRun(caller, internId, runId);
      const intern = await lifecycle.get(caller, internId);
      const session = await runs.findSession(intern.id, run.sessionId);
      if (session?.keyHash !== caller.keyHash && !(await mayChange(deps, caller, intern))) throw notYours();
      const cancelled = await cancelRun(deps, run);
      deps.signals.changed(run.id);
      return cancelled;
    },
    async inputs(intern, pendingOnly, window) {
      const page = await runs.listInputs([intern.id], pendingOnly, window);
      const rows = await Promise.all(page.rows.map((row) => showInput(deps, row)));
      return { ...page, rows };
    },
  };
}

export async function showInput({ runs }: Pick<InternsDeps, 'runs'>, row: InternInputRow): Promise<ShownInput> {
  const texts = await runs.ofRun({ internId: row.internId, runId: row.runId });
  const request = parseJsonObject(texts.get(`${row.step} ${row.kind}`) ?? '') ?? {};
  const { summary, input } = request;
  return { row, summary: asText(summary), input: asText(input) };
}

function asText(value: Json | undefined): string {
  return typeof value === 'string' ? value : '';
}

async function chat(deps: InternsDeps, caller: Principal, intern: InternRow, input: ChatInput): Promise<Followed> {
  const { runs, clock, selfDrive, jobs } = deps;
  const { text, sessionId = randomText(SESSION_ID_CHARS), approvalMode, keyed } = input;
  const { approval, limits } = intern.settings;
  const mode = approvalMode ?? approval.mode;
  if (mode === 'self-drive' && !selfDrive) throw selfDriveIsOff();
  // A key that may not change the agent cannot lift its approvals either.
  if (mode === 'self-drive' && approval.mode === 'manual' && !(await mayChange(deps, caller, intern))) throw notYours();
  const waiting = (await runs.ofSession(intern.id, sessionId, 1)).find(({ state }) => state === 'waiting_input');
  if (waiting !== undefined) return supersede(deps, caller, waiting, text);
  const nowMs = clock.nowMs();
  const run: InternRunRow = {
    id: randomUUID(),
    internId: intern.id,
    sessionId,
    version: intern.version,
    runTrigger: 'chat',
    state: 'queued',
    turn: 1,
    step: 0,
    spentNanoUsd: 0,
    promptTokens: 0,
    completionTokens: 0,
    leftMs: limits.max_minutes * MS_PER_MINUTE,
    approvalMode: mode,
    ending: null,
    error: null,
    createdAtMs: nowMs,
    updatedAtMs: nowMs,
    finishedAtMs: null,
  };
  const session = {
    internId: intern.id,
    id: sessionId,
    title: text.slice(0, TITLE_CHARS_MAX),
    keyHash: caller.keyHash,
    createdAtMs: nowMs,
    lastAtMs: nowMs,
  };
  const call = keyed && callOf(keyed, run.id, nowMs);
  const begun = await runs.begin(
    { run, session, prompt: text, call, concurrentMax: limits.max_concurrent_runs },
    nowMs,
  );
  switch (begun.outcome) {
    case 'begun':
      await addJob(jobs, begun.run);
      return { run: begun.run, after: 0 };
    case 'replayed':
      return { run: begun.run, after: 0 };
    case 'body':
      throw otherBody();
    case 'busy':
      throw conflict('run_in_progress', 'A run of this session is under way: wait for its end, or cancel it.');
    case 'full':
      throw conflict('run_in_progress', 'As many runs of this intern are under way as its limits allow: wait for one.');
    case 'stopped':
    default:
      throw conflict('not_running', `The intern is ${intern.status}: provision it first.`);
  }
}

/** What the user writes in place of an answer is a denial, and the next message of the run. */
async function supersede(deps: InternsDeps, caller: Principal, run: InternRunRow, message: string): Promise<Followed> {
  const pending = (await deps.runs.inputsOf(run.id)).find(({ state }) => state === 'pending');
  if (pending === undefined) throw conflict('run_in_progress', 'A run of this session is under way: wait for its end.');
  return settle(deps, pending, {
    decision: 'deny',
    text: 'denied: the user wrote something else',
    by: caller.keyHash,
    state: 'superseded',
    message,
  });
}

async function answer(
  deps: InternsDeps,
  caller: Principal,
  intern: InternRow,
  { inputId, sessionId, decision, text }: AnswerInput,
): Promise<Followed> {
  const { runs } = deps;
  const input = await runs.findInput(intern.id, inputId);
  // Whatever a tool or a model made up is no call of ours.
  if (input === undefined || (sessionId !== undefined && input.sessionId !== sessionId))
    throw conflict('not_pending', 'Nothing waits for a decision on this call.');
  const session = await runs.findSession(intern.id, input.sessionId);
  if (session?.keyHash !== caller.keyHash && !(await mayChange(deps, caller, intern))) throw notYours();
  const denied = text === '' ? 'denied by the user' : `denied by the user: ${text}`;
  const said = input.kind === 'question' ? text : decision === 'deny' ? denied : decision;
  return settle(deps, input, { decision, text: said, by: caller.keyHash, state: 'answered' });
}

async function settle(
  { runs, jobs, clock, signals }: InternsDeps,
  input: InternInputRow,
  given: Parameters<InternsDeps['runs']['answer']>[1],
): Promise<Followed> {
  const run = await runs.answer(input, given, clock.nowMs());
  if (run === undefined) throw conflict('not_pending', 'This call was answered before, or its time is over.');
  await addJob(jobs, run);
  signals.changed(run.id);
  return { run, after: input.step - 1 };
}

/** The content of a `tool` message: `{"decision": "allow_once"}`, or plain text, of which all but the exact words deny. */
export function parseAnswer(content: string): Pick<AnswerInput, 'decision' | 'text'> {
  const object = parseJsonObject(content);
  const said = object === undefined ? content.trim() : object['decision'];
  const decision = DECISIONS.find((one) => one === said) ?? 'deny';
  const text = object === undefined ? content : object['text'];
  return { decision, text: typeof text === 'string' && text !== decision ? text : '' };
}
